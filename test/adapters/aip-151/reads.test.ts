import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProtocolSession, TaskRef } from '../../../machines/index.ts';
import { type AipServer, REPORT, rpcError, startAipServer } from '../../kit/servers/aip-151.ts';
import { connect, started } from './helpers.ts';

let server: AipServer;
let session: ProtocolSession;
let task: TaskRef;
beforeAll(async () => {
  server = await startAipServer();
});
beforeEach(async () => {
  server.reset();
  session = await connect(server.address(), { maxMessageBytes: 10_000 });
  task = await started(session);
});
afterAll(() => server.stop());

const shown = (more: object) => {
  server.fault({ on: 'get', kind: 'answer', status: 200, json: { name: task.taskId, ...more }, times: 2 });
};

describe('the status, and the result that stands in it (B6, B11)', () => {
  it('not done: working, with what the metadata tells of the progress', async () => {
    expect(await session.status(task)).toEqual({
      kind: 'status',
      task: {
        taskId: server.last,
        taskCreatedAt: null,
        status: 'working',
        statusMessage: null,
        pollIntervalMs: null,
        ttlMs: null,
        remainingTtlMs: null,
      },
    });
    server.progress({ '@type': 'x', progressPercent: 40, statusMessage: 'm'.repeat(9_000) });
    const told = await session.status(task);
    expect(told).toMatchObject({ task: { statusMessage: expect.stringMatching(/^40 %, m+$/) } });
    expect(told.kind === 'status' && told.task.statusMessage?.length).toBeLessThan(600);
    for (const metadata of [{ progressPercent: 'much', statusMessage: 7 }, 'text', [1], { state: '' }]) {
      server.progress(metadata);
      expect(await session.status(task)).toMatchObject({ task: { status: 'working', statusMessage: null } });
    }
  });

  it('response: completed with it; the same by result()', async () => {
    server.complete();
    const payload = { kind: 'result', value: REPORT, isError: false };
    expect(await session.status(task)).toMatchObject({ kind: 'status', task: { status: 'completed' }, payload });
    expect(await session.result(task, 'completed')).toEqual({ kind: 'result', payload });
  });

  it('error: failed with code, message and details; code 1: cancelled, without a result', async () => {
    server.fail(9, 'too late', [{ '@type': 'y', n: 1 }]);
    const value = { code: 9, message: 'too late', data: [{ '@type': 'y', n: 1 }] };
    expect(await session.status(task)).toMatchObject({
      task: { status: 'failed' },
      payload: { kind: 'error', value },
    });
    expect(await session.result(task, 'failed')).toEqual({ kind: 'result', payload: { kind: 'error', value } });
    shown({ done: true, error: { code: 1, message: 'cancelled' } });
    const told = await session.status(task);
    expect(told).toMatchObject({ kind: 'status', task: { status: 'cancelled' } });
    expect(told).not.toHaveProperty('payload');
    expect(await session.result(task, 'cancelled')).toMatchObject({ kind: 'invalid' });
  });

  it.each([
    ['neither response nor error', {}, 'neither a response nor an error'],
    ['an empty response', { response: {} }, 'empty'],
  ])('F6: done with %s: completed by status, and never a success', async (_, more, reason) => {
    shown({ done: true, ...more });
    const told = await session.status(task);
    expect(told).toMatchObject({ kind: 'status', task: { status: 'completed' } });
    expect(told).not.toHaveProperty('payload');
    expect(await session.result(task, 'completed')).toEqual({
      kind: 'invalid',
      reason: expect.stringContaining(reason),
    });
  });

  it('B11: a response of another type than the declared one is not the result', async () => {
    const typed = (responseType: string) =>
      connect(server.address(), { methods: { report: { path: '/v1/x', responseType } } });
    server.complete();
    const wrong = await typed('test.v1.Receipt');
    expect(await wrong.result(task, 'completed')).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('type'),
    });
    expect(await wrong.status(task)).not.toHaveProperty('payload');
    for (const right of ['test.v1.Report', 'type.googleapis.com/test.v1.Report']) {
      expect(await (await typed(right)).result(task, 'completed')).toMatchObject({ kind: 'result' });
    }
  });

  it('another end when it is read again: nothing is known', async () => {
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'unknown' });
    server.fail(13, 'broken');
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'unknown' });
  });
});

describe('nothing is known', () => {
  it.each([
    ['both a response and an error', { done: true, response: REPORT, error: { code: 13 } }, 'both a response'],
    ['a response before it is done', { response: REPORT }, 'not done'],
    ['an error that is none', { done: true, error: { code: 0 } }, 'not a google.longrunning.Operation'],
    ['another name', { name: 'operations/other' }, 'about another operation'],
    // B2: with a name and no `done` it looks like an operation that works.
    ['a status monitor', { status: 'DONE', progress: 100 }, 'not a google.longrunning.Operation'],
    ['no name', { name: undefined, done: true, response: REPORT }, 'not a google.longrunning.Operation'],
  ])('B2 F9: %s', async (_, more, reason) => {
    shown(more);
    expect(await session.status(task)).toEqual({ kind: 'unknown', reason: expect.stringContaining(reason) });
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['401', { kind: 'answer', ...rpcError(401, 'UNAUTHENTICATED') }, { reason: 'HTTP 401' }],
    ['403', { kind: 'answer', ...rpcError(403, 'PERMISSION_DENIED') }, { reason: 'HTTP 403' }],
    [
      '429 with Retry-After',
      { kind: 'answer', ...rpcError(429, 'RESOURCE_EXHAUSTED'), headers: { 'retry-after': '7' } },
      { reason: 'HTTP 429', retryAfterMs: 7_000 },
    ],
    ['503 without', { kind: 'answer', ...rpcError(503, 'UNAVAILABLE') }, { reason: 'HTTP 503' }],
    [
      '503 of a proxy, with an endless Retry-After',
      {
        kind: 'answer',
        status: 503,
        text: 'x',
        headers: { 'retry-after': '9'.repeat(30), 'content-type': 'text/plain' },
      },
      { retryAfterMs: 86_400_000 },
    ],
    ['B8: 202', { kind: 'answer', status: 202, json: { name: 'operations/1', done: true, response: REPORT } }, {}],
    ['a page', { kind: 'answer', status: 200, text: '<html>', headers: { 'content-type': 'text/html' } }, {}],
    ['a page not found', { kind: 'answer', status: 404, text: '<html>', headers: { 'content-type': 'text/html' } }, {}],
    ['404 of something else', { kind: 'answer', status: 404, json: {} }, {}],
    ['an answer cut off', { kind: 'truncate' }, {}],
    ['an answer too large', { kind: 'oversize', bytes: 1_000_000 }, { reason: 'HTTP 200, over the size limit' }],
    ['a reset', { kind: 'resetBefore' }, {}],
    ['invalid JSON', { kind: 'answer', status: 200, text: '{"name":1e999}' }, {}],
  ] as const)('F7 F11: %s', async (_, fault, more) => {
    for (const read of [() => session.status(task), () => session.result(task, 'completed')]) {
      server.fault({ on: 'get', ...fault });
      expect(await read()).toMatchObject({ kind: 'unknown', reason: expect.any(String), ...more });
    }
    server.complete();
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'result' });
  });

  it('no answer in time, or a caller that stopped waiting', async () => {
    const hasty = await connect(server.address(), { requestTimeoutMs: 100 });
    server.fault({ on: 'get', kind: 'hold', times: 2 });
    expect(await hasty.status(task)).toMatchObject({ kind: 'unknown', reason: 'no answer within 100 ms' });
    expect(await session.status(task, AbortSignal.timeout(50))).toMatchObject({ kind: 'unknown' });
  });

  it('a method that this process does not know', async () => {
    expect(await session.status({ ...task, tool: 'nope' })).toMatchObject({ kind: 'unknown' });
    expect(server.count('get')).toBe(0);
  });
});

it('B13: unknown to the service, in the words of the protocol: not found', async () => {
  server.forget();
  expect(await session.status(task)).toMatchObject({ kind: 'notFound' });
  expect(await session.result(task, 'completed')).toMatchObject({ kind: 'notFound' });
  server.fault({ on: 'get', kind: 'answer', status: 404, json: { code: 5, message: 'gone', details: [] } });
  expect(await session.status(task)).toMatchObject({ kind: 'notFound' });
});

it('an operation is asked for under its whole name, at the path of its method', async () => {
  const methods = { report: { path: '/v1/x', operationsPath: '/v1/deep' } };
  const deep = await connect(server.address(), { methods });
  await deep.status({ ...task, taskId: 'projects/p/operations/a b' });
  expect(server.requests.at(-1)?.url).toMatch(/\/v1\/deep\/projects\/p\/operations\/a%20b$/);
  expect(await deep.status({ ...task, taskId: 'operations/../secrets' })).toMatchObject({ kind: 'unknown' });
  expect(server.count('get')).toBe(1);
});
