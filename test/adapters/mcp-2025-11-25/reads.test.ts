import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProtocolSession } from '../../../machines/operation-protocol.ts';
import { type Fault, type ScriptedServer, startScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import { startProxy, type TcpProxy } from '../../kit/tcp-proxy.ts';
import { connect, NOTHING, sleep, startTask, timed, until } from './helpers.ts';

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
  await server.control({ op: 'set', options: { cancel: true, describe: '' } });
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

describe('status', () => {
  it('reads status, times and identity', async () => {
    const task = await startTask(session, { outcome: 'hold', ttl: 10_000 });
    await sleep(30);
    await server.control({ op: 'status', taskId: 'last', status: 'input_required' });
    const seen = await session.status(task);
    expect(seen).toMatchObject({
      kind: 'status',
      task: { taskId: task.taskId, taskCreatedAt: task.taskCreatedAt, status: 'input_required', ttlMs: 10_000 },
    });
    const left = seen.kind === 'status' ? (seen.task.remainingTtlMs ?? 0) : 0;
    expect(left).toBeLessThan(10_000);
    expect(left).toBeGreaterThan(9_000);
  });

  it.each(NOTHING)('%s: unknown', async (_name, fault, more) => {
    const task = await startTask(session, { outcome: 'hold' });
    await server.control({ op: 'fault', method: 'tasks/get', ...fault } as { op: 'fault' } & Fault);
    const outcome = await session.status(task);
    expect(outcome).toMatchObject({ kind: 'unknown', ...more });
    expect(JSON.stringify(outcome)).not.toContain(task.taskId);
    expect(await session.status(task)).toMatchObject({ kind: 'status' });
  });

  it('tells a forgotten task (-32602), another one (F9) and nonsense apart', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const wire = { taskId: 'other', status: 'completed', createdAt: 'x', lastUpdatedAt: 'x', ttl: null };
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'answer', result: wire });
    expect(await session.status(task)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/another task/),
    });
    await server.control({
      op: 'fault',
      method: 'tasks/get',
      kind: 'answer',
      result: { ...wire, taskId: task.taskId, status: 'done' },
    });
    expect(await session.status(task)).toMatchObject({ kind: 'unknown' });
    await server.control({ op: 'reuse', taskId: task.taskId, createdAt: '2001-01-01T00:00:00Z' });
    expect(await session.status(task)).toMatchObject({
      kind: 'status',
      task: { taskCreatedAt: '2001-01-01T00:00:00Z' },
    });
    await server.control({ op: 'forget', taskId: task.taskId });
    expect(await session.status(task)).toMatchObject({ kind: 'notFound' });
  });

  it('passes contradictions on as they are', async () => {
    const task = await startTask(session, {});
    await until(session, task, 'completed');
    await server.control({ op: 'statuses', taskId: task.taskId, statuses: ['working'] });
    expect(await session.status(task)).toMatchObject({ kind: 'status', task: { status: 'working' } });
    expect(await session.status(task)).toMatchObject({ kind: 'status', task: { status: 'completed' } });
  });

  it('has its own time limit and stops waiting on abort, without a cancel (B14)', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const hasty = await connect(server.endpoint, { requestTimeoutMs: 100 });
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'silence' });
    const { value, ms } = await timed(hasty.status(task));
    expect(value).toMatchObject({ kind: 'unknown', reason: 'no answer within 100 ms' });
    expect(ms).toBeLessThan(400);
    await hasty.close();
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'silence' });
    expect(await session.status(task, AbortSignal.timeout(50))).toMatchObject({ kind: 'unknown' });
    expect((await server.log()).counts['notifications/cancelled']).toBeUndefined();
  });
});

describe('result (B11; F6, F7)', () => {
  it('fetches and verifies what the call returned, without the envelope', async () => {
    await session.negotiate('typed', {});
    const task = await startTask(session, {}, 'typed');
    await until(session, task, 'completed');
    const value = { content: [{ type: 'text', text: 'done' }], structuredContent: { answer: 42 } };
    expect(await session.result(task, 'completed')).toEqual({
      kind: 'result',
      payload: { kind: 'result', isError: false, value },
    });
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'result' });
  });

  it.each(NOTHING)('%s: unknown', async (_name, fault, more) => {
    const task = await startTask(session, {});
    await server.control({ op: 'fault', method: 'tasks/result', ...fault } as { op: 'fault' } & Fault);
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'unknown', ...more });
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'result' });
  });

  it.each([
    ['cut off', 'work', {}, { kind: 'truncate' }, /cut off/],
    ['no JSON', 'work', {}, { kind: 'malformed' }, /JSON-RPC/],
    ['empty', 'work', { variant: 'empty' }, null, /empty/],
    ['against the output schema', 'typed', { variant: 'badSchema' }, null, /at \/answer: must be number/],
    ['no tool result', 'work', {}, { kind: 'answer', result: { content: 'text' } }, /not the result/],
    [
      'of another task',
      'work',
      {},
      {
        kind: 'answer',
        result: {
          content: [{ type: 'text', text: 'x' }],
          _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'other' } },
        },
      },
      /another task/,
    ],
  ] as const)('%s: invalid, and can be read again', async (_name, tool, script, fault, reason) => {
    const task = await startTask(session, { ...script }, tool);
    await until(session, task, 'completed');
    if (fault !== null)
      await server.control({ op: 'fault', method: 'tasks/result', ...fault } as { op: 'fault' } & Fault);
    expect(await session.result(task, 'completed')).toMatchObject({
      kind: 'invalid',
      reason: expect.stringMatching(reason),
    });
    if (fault !== null) expect(await session.result(task, 'completed')).toMatchObject({ kind: 'result' });
  });

  it('isError results are results, also of a tool with an output schema', async () => {
    const task = await startTask(session, { outcome: 'isError' }, 'typed');
    await until(session, task, 'failed');
    expect(await session.result(task, 'failed')).toMatchObject({
      kind: 'result',
      payload: { kind: 'result', isError: true },
    });
  });

  it('an error is an outcome only of a failed task, and only when it is the same twice', async () => {
    const task = await startTask(session, { outcome: 'rpcError', code: -32050 });
    await until(session, task, 'failed');
    expect(await session.result(task, 'failed')).toEqual({
      kind: 'result',
      payload: { kind: 'error', value: { code: -32050, message: 'the tool broke' } },
    });
    await server.control({ op: 'fault', method: 'tasks/result', kind: 'rpc', code: -32000 });
    expect(await session.result(task, 'failed')).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/changed/),
    });
    await server.control({ op: 'statuses', taskId: task.taskId, statuses: ['working'] });
    expect(await session.result(task, 'failed')).toMatchObject({ kind: 'unknown' });
    await server.control({ op: 'fault', method: 'tasks/result', kind: 'rpc', code: -32602 });
    expect(await session.result(task, 'failed')).toMatchObject({ kind: 'unknown' });
  });

  it('of a completed task it is a failed fetch; -32602 asks for the status', async () => {
    const task = await startTask(session, {});
    await until(session, task, 'completed');
    for (const code of [-32603, -32602, -32050]) {
      await server.control({ op: 'fault', method: 'tasks/result', kind: 'rpc', code });
      expect(await session.result(task, 'completed')).toMatchObject({
        kind: 'unknown',
        reason: `JSON-RPC error ${code}`,
      });
    }
    await server.control({ op: 'forget', taskId: task.taskId });
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'notFound' });
  });

  it('of a cancelled task there may be none: one try', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    await session.cancel(task);
    const before = (await server.log()).requests.length;
    expect(await session.result(task, 'cancelled')).toMatchObject({ kind: 'unknown' });
    expect((await server.log()).requests.length).toBe(before + 1);
  });

  it('never hangs on a task that is not terminal after all', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const hasty = await connect(server.endpoint, { resultTimeoutMs: 100 });
    expect(await hasty.result(task, 'completed')).toMatchObject({ kind: 'unknown' });
    await hasty.close();
  });
});
