import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AipServer, rpcError, startAipServer } from '../../kit/servers/aip-151.ts';
import { connect, METHODS, send, started, submission } from './helpers.ts';

let server: AipServer;
beforeAll(async () => {
  server = await startAipServer();
});
beforeEach(() => server.reset());
afterAll(() => server.stop());

describe('cancel (B9): an acknowledgement is no evidence', () => {
  it('heard; a later read says what became of it', async () => {
    const session = await connect(server.address());
    const task = await started(session);
    expect(await session.cancel(task)).toEqual({ kind: 'acknowledged' });
    expect(server.requests.at(-1)).toMatchObject({ method: 'POST', body: {}, url: expect.stringMatching(/:cancel$/) });
    expect(await session.status(task)).toMatchObject({ task: { status: 'cancelled' } });
    server.options = { cancel: 'heard' };
    const other = await started(session);
    expect(await session.cancel(other)).toEqual({ kind: 'acknowledged' });
    expect(await session.status(other)).toMatchObject({ task: { status: 'working' } });
  });

  it('unsupported: UNIMPLEMENTED, as HTTP 501 or in the body', async () => {
    const session = await connect(server.address());
    const task = await started(session);
    server.options = { cancel: 'unimplemented' };
    expect(await session.cancel(task)).toMatchObject({ kind: 'unsupported' });
    server.fault({ on: 'cancel', kind: 'answer', status: 404, json: { code: 12, message: 'no' } });
    expect(await session.cancel(task)).toMatchObject({ kind: 'unsupported' });
  });

  it('refused: 404, a status read decides', async () => {
    const session = await connect(server.address());
    const task = await started(session);
    server.forget();
    expect(await session.cancel(task)).toMatchObject({ kind: 'refused' });
  });

  it.each([
    [
      '503',
      { kind: 'answer', ...rpcError(503, 'UNAVAILABLE'), headers: { 'retry-after': '2' } },
      { retryAfterMs: 2_000 },
    ],
    ['400', { kind: 'answer', ...rpcError(400, 'FAILED_PRECONDITION') }, {}],
    ['202', { kind: 'answer', status: 202, json: {} }, {}],
    ['a page', { kind: 'answer', status: 200, text: '<html>', headers: { 'content-type': 'text/html' } }, {}],
    ['F5: the answer is lost', { kind: 'resetAfter' }, {}],
  ] as const)('unknown: %s', async (_, fault, more) => {
    const session = await connect(server.address());
    const task = await started(session);
    server.fault({ on: 'cancel', ...fault });
    expect(await session.cancel(task)).toMatchObject({ kind: 'unknown', ...more });
  });
});

describe('look-up by repetition (B4, B13, AIP-155)', () => {
  const ask = (what: ReturnType<typeof submission>) => {
    const { arguments: args, ttlMs, ...named } = what;
    return { ...named, call: { arguments: args, ttlMs } };
  };

  it('F1 G2: the reply was lost: the same call under the same request id finds the one operation, also in another process', async () => {
    server.options = { requestIdMs: 60_000 };
    const address = server.address();
    const what = submission('keyed');
    server.fault({ on: 'start', kind: 'resetAfter' });
    expect((await send(await connect(address), what)).outcome.kind).toBe('connectionLost');
    const found = await (await connect(address)).lookup(ask(what));
    expect(found).toMatchObject({ kind: 'found', task: { taskId: server.last, status: 'working' } });
    expect([server.count('start'), server.executions]).toEqual([2, 1]);
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
    server.complete();
    expect(await (await connect(address)).lookup(ask(what))).toMatchObject({ task: { status: 'completed' } });
  });

  it('the call never arrived: found as well, made by the repetition: one operation', async () => {
    server.options = { requestIdMs: 60_000 };
    const session = await connect(server.address());
    const what = submission('keyed');
    server.fault({ on: 'start', kind: 'resetBefore' });
    expect((await send(session, what)).outcome.kind).toBe('connectionLost');
    expect(await session.lookup(ask(what))).toMatchObject({ kind: 'found' });
    expect(server.executions).toBe(1);
  });

  it('mayWrite says no: nothing is sent, nothing is known', async () => {
    const session = await connect(server.address());
    const asked = await session.lookup(ask(submission('keyed')), { mayWrite: () => false });
    expect(asked).toMatchObject({ kind: 'unknown' });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['no request id is declared', 'report', {}],
    ['what was sent is not known', 'keyed', { call: undefined }],
  ])('unavailable, and nothing is sent: %s', async (_, tool, more) => {
    const { call, ...named } = ask(submission(tool));
    const request = 'call' in more ? named : { ...named, call };
    expect(await (await connect(server.address())).lookup(request)).toMatchObject({ kind: 'unavailable' });
    expect(server.requests).toEqual([]);
  });

  it('unavailable, and nothing is sent: the method was declared otherwise when the call was sent', async () => {
    const resume = (version: string) => ({
      sessionId: null,
      protocolVersion: 'google.longrunning.Operation',
      tool: { name: 'keyed', version },
    });
    const now = await (await connect(server.address())).negotiate('keyed', { parent: 'projects/x' });
    const version = now.kind === 'supported' ? now.tool.version : '';
    const changed = await connect(server.address(), {}, resume('0'.repeat(64)));
    expect(await changed.lookup(ask(submission('keyed')))).toMatchObject({ kind: 'unavailable' });
    expect(server.requests).toEqual([]);
    const same = await connect(server.address(), { methods: METHODS }, resume(version));
    expect(await same.lookup(ask(submission('keyed')))).toMatchObject({ kind: 'found' });
  });

  it.each([
    ['unavailable', rpcError(400, 'INVALID_ARGUMENT')],
    ['unavailable', rpcError(404, 'NOT_FOUND')],
    ['unavailable', rpcError(501, 'UNIMPLEMENTED')],
    ['unknown', rpcError(401, 'UNAUTHENTICATED')],
    ['unknown', rpcError(409, 'ALREADY_EXISTS')],
    ['unknown', rpcError(429, 'RESOURCE_EXHAUSTED')],
    ['unknown', rpcError(503, 'UNAVAILABLE')],
    ['unknown', { status: 202, json: { name: 'operations/1' } }],
    ['unknown', { status: 200, json: {} }],
  ])('B13: never "never created": %s for %j', async (kind, answer) => {
    server.fault({ on: 'start', kind: 'answer', ...answer });
    expect(await (await connect(server.address())).lookup(ask(submission('keyed')))).toMatchObject({ kind });
  });
});
