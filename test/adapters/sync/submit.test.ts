import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProtocolSession } from '../../../machines/operation-protocol.ts';
import { eventually, send, submission, timed } from '../mcp-2025-11-25/helpers.ts';
import { connect, startTarget, type Target, TRANSPORTS } from './helpers.ts';

const TASK = { taskId: 'none', taskCreatedAt: null, tool: 'sync' };

describe.each(TRANSPORTS)('a synchronous submission over %s (B4)', (transport) => {
  let target: Target;
  let session: ProtocolSession;
  beforeEach(async () => {
    target = await startTarget(transport, { limits: { sync: 500, work: 60_000 } });
    session = await connect(target.endpoint);
    await session.negotiate('sync', {});
  });
  afterEach(async () => {
    await session.close();
    await target.stop();
  });

  it('sends no `task`, asks mayWrite once, carries key, attempt, digest and principal, and gives the outcome', async () => {
    const what = submission('work', {}, { attempt: 3, ttlMs: 60_000 });
    const { outcome, asked } = await send(session, what);
    expect(outcome).toEqual({
      kind: 'outcome',
      payload: { kind: 'result', isError: false, value: { content: [{ type: 'text', text: 'done' }] } },
    });
    expect(asked).toBe(1);
    const { requests, created } = await target.log();
    // A `task` would have made one: `work` supports them.
    expect(created).toEqual([]);
    expect(requests.filter(({ method }) => method === 'tools/call').map(({ meta }) => meta)).toEqual([
      {
        'dev.toolop/submission-key': what.submissionKey,
        'dev.toolop/attempt': 3,
        'dev.toolop/request-digest': 'digest',
        'dev.toolop/principal': 'somebody',
      },
    ]);
  });

  it('R1: a shadow says so in _meta', async () => {
    await send(session, submission('work', {}, { shadow: true }));
    const seen = (await target.log()).requests.filter(({ method }) => method === 'tools/call').at(-1);
    expect(seen?.meta).toMatchObject({ 'dev.toolop/shadow': true, 'dev.toolop/attempt': 1 });
  });

  it('an error result is an outcome; a JSON-RPC error and an empty result prove nothing', async () => {
    const failed = await send(session, submission('sync', { outcome: 'isError' }));
    expect(failed.outcome).toMatchObject({ kind: 'outcome', payload: { isError: true } });
    const refused = await send(session, submission('sync', { outcome: 'rpcError' }));
    expect(refused.outcome).toEqual({ kind: 'connectionLost', reason: 'JSON-RPC error -32050' });
    const empty = await send(session, submission('sync', { variant: 'empty' }));
    expect(empty.outcome).toMatchObject({ kind: 'connectionLost', reason: expect.stringContaining('empty') });
  });

  it('B1: the patience is the published limit, however short the one for other requests is', async () => {
    const { value, ms } = await timed(send(session, submission('work', { ms: 600 }), { timeoutMs: 50 }));
    expect(value.outcome).toMatchObject({ kind: 'outcome' });
    expect(ms).toBeGreaterThanOrEqual(590);
  });

  it('B14: after the limit it is unknown, no cancel is sent, and the late answer is handed on', async () => {
    await target.control({ op: 'fault', method: 'tools/call', kind: 'hold' });
    const { value, ms } = await timed(send(session, submission('sync', {}), { timeoutMs: 60_000 }));
    expect(value.outcome).toEqual({ kind: 'connectionLost', reason: 'no answer within 700 ms' });
    expect(ms).toBeGreaterThanOrEqual(690);
    expect(value.late).toEqual([]);
    await target.control({ op: 'release' });
    await eventually(() => value.late.length === 1);
    expect(value.late[0]).toMatchObject({ kind: 'outcome' });
    const { counts } = await target.log();
    expect(counts['notifications/cancelled']).toBeUndefined();
    expect(counts['tools/call']).toBe(1);
  });

  it('sends nothing when mayWrite says no', async () => {
    const { outcome } = await send(session, submission('sync', {}), { mayWrite: () => false });
    expect(outcome).toMatchObject({ kind: 'notSent' });
    expect((await target.log()).counts['tools/call']).toBeUndefined();
  });

  it('a question of the server during the call is answered with "method not found"', async () => {
    const { outcome } = await send(session, submission('sync', { elicits: true }));
    expect(outcome).toEqual({ kind: 'connectionLost', reason: 'JSON-RPC error -32601' });
  });

  it('a server that dies in the middle of the call: unknown', async () => {
    await target.control({ op: 'fault', method: 'tools/call', kind: 'hold' });
    const pending = send(session, submission('work', {}));
    await eventually(async () => (await target.log()).counts['tools/call'] === 1);
    await target.die();
    expect((await pending).outcome).toMatchObject({ kind: 'connectionLost' });
  });

  it('there is no task to ask about: said, not thrown, and nothing is sent', async () => {
    const before = await target.log();
    expect(await session.status(TASK)).toMatchObject({ kind: 'notFound' });
    expect(await session.result(TASK, 'completed')).toMatchObject({ kind: 'notFound' });
    expect(await session.cancel(TASK)).toMatchObject({ kind: 'unsupported', reason: expect.stringContaining('wait') });
    const events = { request: () => undefined, closed: () => undefined };
    expect(() => session.openInput(TASK, events)).toThrow(/nobody is asked/);
    expect((await target.log()).counts).toEqual(before.counts);
  });
});

describe('a synchronous submission on a session that did not negotiate', () => {
  let target: Target;
  let first: ProtocolSession;
  beforeEach(async () => {
    target = await startTarget('http', { limits: { sync: 300 } });
    first = await connect(target.endpoint);
  });
  afterEach(async () => {
    await first.close();
    await target.stop();
  });

  const resumed = async () => {
    const negotiation = await first.negotiate('sync', {});
    if (negotiation.kind === 'refused') throw new Error(negotiation.reason);
    return connect(target.endpoint, { ...negotiation.session, tool: negotiation.tool });
  };

  it('B1: the limit is read from the descriptor again', async () => {
    const session = await resumed();
    await target.control({ op: 'fault', method: 'tools/call', kind: 'hold' });
    const { outcome } = await send(session, submission('sync', {}), { timeoutMs: 60_000 });
    expect(outcome).toEqual({ kind: 'connectionLost', reason: 'no answer within 500 ms' });
    await session.close();
  });

  it.each([
    ['another limit', { limits: { sync: 400 } }, /descriptor changed/],
    ['no limit any more', { limits: {} }, /descriptor changed/],
  ])('B3: %s is another descriptor: nothing is sent', async (_name, options, reason) => {
    const session = await resumed();
    await target.control({ op: 'set', options });
    const { outcome } = await send(session, submission('sync', {}));
    expect(outcome).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(reason) });
    expect((await target.log()).counts['tools/call']).toBeUndefined();
    await session.close();
  });

  it('a new session that knows no version takes the limit that is published, and none is none', async () => {
    expect((await send(first, submission('work', {}))).outcome).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('no synchronous limit'),
    });
    expect((await send(first, submission('nowhere', {}))).outcome).toMatchObject({ kind: 'rejected' });
    expect((await send(first, submission('sync', {}))).outcome).toMatchObject({ kind: 'outcome' });
    expect((await target.log()).counts['tools/call']).toBe(1);
  });

  it.each([
    ['HTTP 503', { kind: 'http', status: 503, retryAfter: '7' }, { retryAfterMs: 7_000 }],
    ['HTTP 404 of the session', { kind: 'http', status: 404 }, { sessionLost: true }],
  ] as const)('a descriptor that cannot be read (%s): provably not sent', async (_name, fault, more) => {
    await target.control({ op: 'fault', method: 'tools/list', ...fault });
    expect((await send(first, submission('sync', {}))).outcome).toMatchObject({ kind: 'notSent', ...more });
    expect((await target.log()).counts['tools/call']).toBeUndefined();
  });
});
