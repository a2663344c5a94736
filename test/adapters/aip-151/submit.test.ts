import net from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AipServer, rpcError, startAipServer } from '../../kit/servers/aip-151.ts';
import { startProxy } from '../../kit/tcp-proxy.ts';
import { eventually } from '../../support/rig.ts';
import { ARGS, connect, send, started, submission } from './helpers.ts';

let server: AipServer;
beforeAll(async () => {
  server = await startAipServer();
});
beforeEach(() => server.reset());
afterAll(() => server.stop());

const session = () => connect(server.address());
const answered = async (json: unknown, status = 200) => {
  server.fault({ on: 'start', kind: 'answer', status, json });
  return (await send(await session())).outcome;
};

describe('definitely done: an operation with a name (B4)', () => {
  it.each([
    ['working', {}],
    ['working', { done: false, metadata: null, error: null, response: null }],
    ['completed', { done: true, response: { '@type': 'x' } }],
    ['completed', { done: true }],
    ['failed', { done: true, error: { code: 13 } }],
    ['cancelled', { done: true, error: { code: 1 } }],
    ['working', { done: true, error: { code: 13 }, response: { '@type': 'x' } }],
  ])('acknowledged as %s: %j', async (status, more) => {
    expect(await answered({ name: 'operations/7', ...more })).toEqual({
      kind: 'acknowledged',
      sessionId: null,
      task: {
        taskId: 'operations/7',
        taskCreatedAt: null,
        status,
        statusMessage: null,
        pollIntervalMs: null,
        ttlMs: null,
        remainingTtlMs: null,
      },
    });
  });

  it('the operation may stand inside the answer, where the method says so', async () => {
    server.options = { wrap: 'operation' };
    const methods = { report: { path: '/v1/x', operationAt: 'operation' } };
    const inside = await send(await connect(server.address(), { methods }), submission('report', {}));
    expect(inside.outcome).toMatchObject({ kind: 'acknowledged', task: { taskId: server.last } });
    expect((await send(await session())).outcome).toMatchObject({ kind: 'connectionLost' });
  });
});

describe('definitely not done, and never will be', () => {
  it.each([
    [400, 'INVALID_ARGUMENT'],
    [400, 'FAILED_PRECONDITION'],
    [400, 'OUT_OF_RANGE'],
    [404, 'NOT_FOUND'],
    [412, 'FAILED_PRECONDITION'],
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
  ])('rejected: HTTP %i %s', async (status, name) => {
    expect(await answered(rpcError(status, name).json, status)).toEqual({ kind: 'rejected', reason: `HTTP ${status}` });
  });

  it('rejected: the bare google.rpc.Status of a gateway; credentials refused in whatever form', async () => {
    expect(await answered({ code: 3, message: 'no', details: [] }, 400)).toMatchObject({ kind: 'rejected' });
    server.fault({
      on: 'start',
      kind: 'answer',
      status: 401,
      text: '<html>',
      headers: { 'content-type': 'text/html' },
    });
    expect((await send(await session())).outcome).toMatchObject({ kind: 'rejected' });
  });
});

describe('cannot be known', () => {
  it.each([
    [409, rpcError(409, 'ABORTED').json],
    [409, rpcError(409, 'ALREADY_EXISTS').json],
    [429, rpcError(429, 'RESOURCE_EXHAUSTED').json],
    [500, rpcError(500, 'INTERNAL').json],
    [503, rpcError(503, 'UNAVAILABLE').json],
    [501, rpcError(501, 'UNIMPLEMENTED').json],
    // A well-formed google.rpc.Status is what tells a refusal of the method from anybody else's 4xx.
    [400, { error: 'bad' }],
    [400, rpcError(404, 'INVALID_ARGUMENT').json],
    [400, rpcError(400, 'ABORTED').json],
    [404, {}],
    [404, rpcError(404, 'INVALID_ARGUMENT').json],
    // Other protocols (B2, B8).
    [202, { name: 'operations/7' }],
    [201, { name: 'operations/7' }],
    [200, { name: 'operations/7', status: 'RUNNING' }],
    [200, { id: '7', status: 'Running' }],
    [200, { name: 'operations/../7' }],
    [200, { name: '' }],
    [200, { name: 'x'.repeat(513) }],
    [200, { name: { length: { valueOf: 1, toString: 1 } } }],
    [200, { name: 'operations/7', done: 'true' }],
    [200, { name: 'operations/7', done: true, error: { code: 0 } }],
    [200, null],
  ])('connectionLost: HTTP %i %j', async (status, json) => {
    expect(await answered(json, status)).toMatchObject({ kind: 'connectionLost' });
  });

  it('connectionLost: a page, an empty answer, an answer that is too large, cut off or reset; nothing is sent twice', async () => {
    const one = await connect(server.address(), { maxMessageBytes: 10_000 });
    const reasons = [];
    for (const fault of [
      { kind: 'answer', status: 200, text: '<html>', headers: { 'content-type': 'text/html' } },
      { kind: 'answer', status: 200, text: '' },
      { kind: 'answer', status: 200, text: '{"name":' },
      { kind: 'oversize', bytes: 10_000_000 },
      { kind: 'truncate' },
      { kind: 'resetBefore' },
      { kind: 'resetAfter' },
    ] as const) {
      server.fault({ on: 'start', ...fault });
      const { outcome } = await send(one);
      expect(outcome).toMatchObject({ kind: 'connectionLost' });
      reasons.push('reason' in outcome ? outcome.reason : '');
    }
    expect(reasons.slice(0, 4)).toEqual([
      'HTTP 200, not JSON by its content type',
      'HTTP 200, empty',
      'HTTP 200, not JSON',
      'HTTP 200, over the size limit',
    ]);
    expect(server.count('start')).toBe(7);
  });

  it('connectionLost: a redirect is not followed', async () => {
    const location = `${server.address().url}/v1/elsewhere`;
    for (const status of [302, 307, 308]) {
      server.fault({ on: 'start', kind: 'answer', status, headers: { location } });
      expect((await send(await session())).outcome).toMatchObject({ kind: 'connectionLost' });
    }
    expect(server.count('start')).toBe(3);
    expect(server.executions).toBe(0);
  });
});

describe('definitely not sent', () => {
  it('nobody listens: nothing was written, and nobody was asked whether it may be', async () => {
    const one = await connect({ kind: 'http', url: 'http://127.0.0.1:9/' });
    const sent = await send(one);
    expect(sent.outcome).toEqual({ kind: 'notSent', reason: 'the server cannot be reached (ECONNREFUSED)' });
    expect(sent.asked()).toBe(0);
    expect((await send(await connect({ kind: 'http', url: 'http://no-such-host.invalid/' }))).outcome.kind).toBe(
      'notSent',
    );
  });

  it('mayWrite is asked once, when the connection stands; "no" keeps every byte back', async () => {
    const sent = await send(await session(), submission(), { mayWrite: () => false });
    expect(sent.outcome).toEqual({ kind: 'notSent', reason: 'held back before writing' });
    expect(sent.asked()).toBe(1);
    expect((await send(await session())).asked()).toBe(1);
    expect(server.count('start')).toBe(1);
  });

  it('giving up while the connection is still being made proves that nothing was sent, also not later', async () => {
    // A handshake that never ends.
    const proxy = await startProxy(1);
    await proxy.setMode({ kind: 'blackhole' });
    const one = await connect({ kind: 'http', url: `https://127.0.0.1:${proxy.port}/` });
    const sent = await send(one, submission(), { timeoutMs: 150 });
    expect(sent.outcome).toMatchObject({ kind: 'notSent', reason: expect.stringContaining('before the request') });
    expect(sent.asked()).toBe(0);
    await proxy.close();
  });

  it('a caller that stopped waiting before, a closed session and an undeclared method send nothing', async () => {
    const one = await session();
    expect((await send(one, submission(), { signal: AbortSignal.abort() })).outcome.kind).toBe('notSent');
    expect((await send(one, submission('nope'))).outcome.kind).toBe('notSent');
    await one.close();
    expect((await send(one)).outcome.kind).toBe('notSent');
    expect(server.count('start')).toBe(0);
  });
});

describe('late answers (B14: giving up only stops the waiting)', () => {
  it.each(['the timeout', 'the signal'])('after %s the answer is still heard, once', async (how) => {
    server.fault({ on: 'start', kind: 'hold' });
    const stop = new AbortController();
    const pending = send(await session(), submission(), {
      timeoutMs: how === 'the timeout' ? 200 : 5_000,
      signal: stop.signal,
    });
    await eventually(async () => server.faults.held === 1);
    if (how === 'the signal') stop.abort();
    const { outcome, late } = await pending;
    expect(outcome.kind).toBe('connectionLost');
    expect(late).toEqual([]);
    server.faults.release();
    await eventually(async () => late.length > 0);
    expect(late).toMatchObject([{ kind: 'acknowledged', task: { taskId: server.last } }]);
    expect(server.count('start')).toBe(1);
  });

  it('a late answer that proves nothing is not told; closing the session ends the listening', async () => {
    const one = await session();
    server.fault({ on: 'start', kind: 'hold' });
    const lost = await send(one, submission(), { timeoutMs: 200 });
    expect(lost.outcome.kind).toBe('connectionLost');
    await one.close();
    server.faults.release();
    // Another operation is started and read meanwhile: time enough for a late answer to have come.
    await started(await session());
    expect(lost.late).toEqual([]);
  });

  it('two starts at once have connections of their own', async () => {
    const ports = new Set<number | undefined>();
    const raw = net.createServer((socket) => {
      ports.add(socket.remotePort);
      const json = '{"name":"operations/1"}';
      socket.on('data', () =>
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
        ),
      );
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    const { port } = raw.address() as net.AddressInfo;
    const one = await connect({ kind: 'http', url: `http://127.0.0.1:${port}` });
    const methods = [send(one), send(one), send(one, submission('report', ARGS))];
    for (const { outcome } of await Promise.all(methods)) expect(outcome.kind).toBe('acknowledged');
    expect((await send(one)).outcome.kind).toBe('acknowledged');
    expect(ports.size).toBe(4);
    await one.close();
    raw.close();
  });
});
