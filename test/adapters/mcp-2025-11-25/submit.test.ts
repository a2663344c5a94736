import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProtocolSession } from '../../../machines/operation-protocol.ts';
import { freePort } from '../../kit/free-port.ts';
import {
  controls,
  type Fault,
  type ScriptedServer,
  startScriptedServer,
  stdioCommand,
} from '../../kit/servers/mcp-2025-11-25.ts';
import { startProxy, type TcpProxy } from '../../kit/tcp-proxy.ts';
import { connect, eventually, send, submission, timed } from './helpers.ts';

describe('submission over HTTP (B4)', () => {
  let server: ScriptedServer;
  let proxy: TcpProxy;
  let session: ProtocolSession;
  beforeAll(async () => {
    server = await startScriptedServer();
    proxy = await startProxy(server.port);
  });
  beforeEach(async () => {
    session = await connect({ kind: 'http', url: proxy.url });
  });
  afterEach(async () => {
    await session.close();
    await proxy.setMode({ kind: 'pass' });
    await server.control({ op: 'clearFaults' });
    await server.control({ op: 'set', options: { json: false, resumable: false } });
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
  });

  it('acknowledges a task, asks mayWrite once, and carries key, attempt, digest and principal', async () => {
    const what = submission('work', { outcome: 'hold' }, { ttlMs: 60_000, attempt: 3 });
    const { outcome, asked } = await send(session, what);
    expect(outcome).toMatchObject({
      kind: 'acknowledged',
      sessionId: expect.any(String),
      task: {
        status: 'working',
        ttlMs: 60_000,
        remainingTtlMs: 60_000,
        pollIntervalMs: 50,
        taskCreatedAt: expect.any(String),
      },
    });
    expect(asked).toBe(1);
    const seen = (await server.log()).requests.filter((request) => request.method === 'tools/call').at(-1);
    expect(seen?.meta).toEqual({
      'dev.toolop/submission-key': what.submissionKey,
      'dev.toolop/attempt': 3,
      'dev.toolop/request-digest': 'digest',
      'dev.toolop/principal': 'somebody',
    });
  });

  it('takes the plain result of a server that ignores `task` as the outcome', async () => {
    const { outcome } = await send(session, submission('work', { ignoreTask: true }));
    expect(outcome).toEqual({
      kind: 'outcome',
      payload: { kind: 'result', isError: false, value: { content: [{ type: 'text', text: 'done' }] } },
    });
    const failed = await send(session, submission('work', { ignoreTask: true, outcome: 'isError' }));
    expect(failed.outcome).toMatchObject({ kind: 'outcome', payload: { isError: true } });
  });

  it('does not take an immediate result that is empty or breaks the output schema', async () => {
    expect((await send(session, submission('work', { ignoreTask: true, variant: 'empty' }))).outcome).toMatchObject({
      kind: 'connectionLost',
    });
    await session.negotiate('typed', {});
    expect(
      (await send(session, submission('typed', { ignoreTask: true, variant: 'badSchema' }))).outcome,
    ).toMatchObject({ kind: 'connectionLost' });
    expect((await send(session, submission('typed', { ignoreTask: true }))).outcome).toMatchObject({ kind: 'outcome' });
  });

  it('sends nothing when mayWrite says no', async () => {
    const before = (await server.log()).executions;
    const { outcome, asked } = await send(session, submission('work', {}), { mayWrite: () => false });
    expect(outcome).toMatchObject({ kind: 'notSent' });
    expect(asked).toBe(1);
    expect((await server.log()).executions).toBe(before);
  });

  const faults: [string, Omit<Fault, 'method'>, string, RegExp, boolean][] = [
    ['-32601', { kind: 'rpc', code: -32601 } as Fault, 'connectionLost', /-32601/, false],
    ['-32602', { kind: 'rpc', code: -32602 } as Fault, 'connectionLost', /-32602/, false],
    ['-32603', { kind: 'rpc', code: -32603 } as Fault, 'connectionLost', /-32603/, false],
    ['HTTP 401', { kind: 'http', status: 401 } as Fault, 'rejected', /401/, false],
    ['HTTP 403', { kind: 'http', status: 403 } as Fault, 'rejected', /403/, false],
    ['HTTP 404 of the session', { kind: 'http', status: 404 } as Fault, 'notSent', /session is gone/, false],
    ['HTTP 429', { kind: 'http', status: 429, retryAfter: '1' } as Fault, 'connectionLost', /429/, false],
    ['HTTP 503', { kind: 'http', status: 503 } as Fault, 'connectionLost', /503/, false],
    ['HTTP 202', { kind: 'http', status: 202 } as Fault, 'connectionLost', /202/, false],
    ['a reset before anything was done', { kind: 'resetBefore' } as Fault, 'connectionLost', /broke/, false],
    ['a reset after the work began', { kind: 'reset' } as Fault, 'connectionLost', /./, true],
    ['an answer that is cut off', { kind: 'truncate' } as Fault, 'connectionLost', /cut off/, true],
    ['an answer that is no JSON', { kind: 'malformed' } as Fault, 'connectionLost', /JSON-RPC/, false],
    [
      'an event that is no JSON',
      { kind: 'malformed', eventStream: true } as Fault,
      'connectionLost',
      /JSON-RPC/,
      false,
    ],
    [
      'a stream that ends without the answer',
      { kind: 'emptyStream' } as Fault,
      'connectionLost',
      /ended without/,
      false,
    ],
    [
      'a task that cannot be read',
      { kind: 'answer', result: { task: { status: 'working' } } } as unknown as Fault,
      'connectionLost',
      /cannot be read/,
      false,
    ],
    ['an answer of no known shape', { kind: 'answer', result: {} } as Fault, 'connectionLost', /empty/, false],
  ];
  it.each(faults)('%s', async (_name, fault, kind, reason, ran) => {
    await server.control({ op: 'fault', method: 'tools/call', ...fault } as never);
    const before = await server.log();
    const { value, ms } = await timed(send(session, submission('work', { outcome: 'hold' })));
    expect(value.outcome).toMatchObject({ kind, reason: expect.stringMatching(reason) });
    expect(ms).toBeLessThan(1_000);
    const after = await server.log();
    expect(after.executions - before.executions).toBe(ran ? 1 : 0);
    expect(value.late).toEqual([]);
  });

  it.each([['reset'], ['truncate']] as const)('the same with JSON bodies: %s', async (kind) => {
    await server.control({ op: 'set', options: { json: true } });
    const own = await connect(server.endpoint);
    await server.control({ op: 'fault', method: 'tools/call', kind });
    const { value, ms } = await timed(send(own, submission('work', { outcome: 'hold' })));
    expect(value.outcome).toMatchObject({ kind: 'connectionLost' });
    expect(ms).toBeLessThan(1_000);
    await own.close();
  });

  it('F1: the request arrived, the connection was cut before the answer: cannot know, and one execution', async () => {
    const before = (await server.log()).executions;
    await proxy.setMode({ kind: 'cutAfterRequest', matches: '"tools/call"' });
    const { value, ms } = await timed(send(session, submission('work', {})));
    expect(value.outcome).toMatchObject({ kind: 'connectionLost' });
    expect(ms).toBeLessThan(1_000);
    expect(proxy.log.at(-1)).toBe('cut');
    expect((await server.log()).executions).toBe(before + 1);
  });

  it('a refused connection is provably not sent', async () => {
    await proxy.setMode({ kind: 'refuse' });
    expect((await send(session, submission('work', {}))).outcome).toMatchObject({
      kind: 'notSent',
      reason: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  it('a server that does not answer costs the time limit, sends no cancel, and its late answer is handed on (B14)', async () => {
    await server.control({ op: 'fault', method: 'tools/call', kind: 'delay', ms: 400 });
    const { value, ms } = await timed(send(session, submission('work', { outcome: 'hold' }), { timeoutMs: 150 }));
    expect(value.outcome).toMatchObject({ kind: 'connectionLost', reason: 'no answer within 150 ms' });
    expect(ms).toBeLessThan(300);
    await eventually(() => value.late.length === 1);
    expect(value.late[0]).toMatchObject({
      kind: 'acknowledged',
      task: { taskId: (await server.log()).created.at(-1) },
    });
    expect((await server.log()).counts['notifications/cancelled']).toBeUndefined();
  });

  it('an abort only stops waiting', async () => {
    await server.control({ op: 'fault', method: 'tools/call', kind: 'delay', ms: 200 });
    const value = await send(session, submission('work', { outcome: 'hold' }), { signal: AbortSignal.timeout(50) });
    expect(value.outcome).toMatchObject({ kind: 'connectionLost' });
    await eventually(() => value.late.length === 1);
    expect((await server.log()).counts['notifications/cancelled']).toBeUndefined();
    const early = await send(session, submission('work', {}), { signal: AbortSignal.abort() });
    expect(early.outcome).toMatchObject({ kind: 'notSent' });
    expect(early.asked).toBe(0);
  });

  it('a black hole is cannot-know, and nothing comes late after the session was closed', async () => {
    await proxy.setMode({ kind: 'blackhole' });
    const value = await send(session, submission('work', {}), { timeoutMs: 150 });
    expect(value.outcome).toMatchObject({ kind: 'connectionLost' });
    await session.close();
    expect(value.late).toEqual([]);
  });

  it('lets the SDK resume a stream that has event ids: the answer still comes', async () => {
    await server.control({ op: 'set', options: { resumable: true } });
    const own = await connect(server.endpoint);
    // The delay lets the first event (with the id) arrive: a reset throws away what was not read.
    await server.control({ op: 'fault', method: 'tools/call', kind: 'delay', ms: 100 });
    await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
    const { value, ms } = await timed(send(own, submission('work', { outcome: 'hold' })));
    expect(value.outcome).toMatchObject({ kind: 'acknowledged' });
    expect(ms).toBeGreaterThan(250);
    await own.close();
  });

  it('does not wait for ever for a stream to be resumed', async () => {
    await server.control({ op: 'set', options: { resumable: true } });
    const own = await connect(server.endpoint, { resumeGraceMs: 600 });
    const before = (await server.log()).counts['tools/call'];
    await server.control({ op: 'fault', method: 'tools/call', kind: 'delay', ms: 150 });
    await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
    const pending = timed(send(own, submission('work', {})));
    await eventually(async () => (await server.log()).counts['tools/call'] !== before);
    await server.control({ op: 'dropSessions' });
    const { value, ms } = await pending;
    expect(value.outcome).toMatchObject({ kind: 'connectionLost' });
    expect(ms).toBeLessThan(2_000);
    await own.close();
  });
});

describe('submission over stdio (B4)', () => {
  it('acknowledges, holds back, hands on what comes late, and ends with its server', async () => {
    const port = await freePort();
    const session = await connect(stdioCommand({}, port));
    const { control, log } = controls(port);
    let gone = '';
    session.onGone((reason) => {
      gone = reason;
    });
    expect((await send(session, submission('work', {}))).outcome).toMatchObject({
      kind: 'acknowledged',
      sessionId: null,
    });
    expect((await send(session, submission('work', {}), { mayWrite: () => false })).outcome).toMatchObject({
      kind: 'notSent',
    });
    expect((await log()).executions).toBe(1);

    await control({ op: 'fault', method: 'tools/call', kind: 'delay', ms: 300 });
    const late = await send(session, submission('work', {}), { timeoutMs: 100 });
    expect(late.outcome).toMatchObject({ kind: 'connectionLost' });
    await eventually(() => late.late.length === 1);
    expect(late.late[0]).toMatchObject({ kind: 'acknowledged' });
    expect((await log()).counts['notifications/cancelled']).toBeUndefined();

    await control({ op: 'fault', method: 'tools/call', kind: 'rpc', code: -32601 });
    expect((await send(session, submission('work', {}))).outcome).toMatchObject({ kind: 'connectionLost' });

    await control({ op: 'fault', method: 'tools/call', kind: 'silence' });
    const pending = send(session, submission('work', {}));
    await control({ op: 'exit' });
    expect((await pending).outcome).toMatchObject({ kind: 'connectionLost' });
    expect(gone).not.toBe('');
    const again = await new Promise((resolve) => session.onGone(resolve));
    expect(again).toBe(gone);
    expect((await send(session, submission('work', {}))).outcome).toMatchObject({ kind: 'notSent' });
    await session.close();
  });
});
