import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ProtocolSession } from '../../../machines/operation-protocol.ts';
import { type ScriptedServer, startScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import { connect, send, startTask, submission, until } from './helpers.ts';

describe('look-up by submission key (B4, B13; design section 6)', () => {
  let server: ScriptedServer;
  let session: ProtocolSession;
  beforeAll(async () => {
    server = await startScriptedServer({ lookup: true, dedup: true, retentionMs: 1_000 });
    session = await connect(server.endpoint);
  });
  afterEach(() => server.control({ op: 'clearFaults' }));
  afterAll(async () => {
    await session.close();
    await server.stop();
  });

  it('finds what an attempt made, from another session too', async () => {
    const what = submission('work', { outcome: 'hold' });
    const { outcome } = await send(session, what);
    const other = await connect(server.endpoint);
    expect(await other.lookup(what)).toMatchObject({
      kind: 'found',
      task: { taskId: outcome.kind === 'acknowledged' ? outcome.task.taskId : '' },
    });
    await other.close();
  });

  it('never created: the attempts up to this one are closed, the next is not', async () => {
    const what = submission('work', {}, { attempt: 2 });
    expect(await session.lookup(what)).toEqual({ kind: 'neverCreated', closedThroughAttempt: 2 });
    expect((await send(session, what)).outcome).toMatchObject({ kind: 'connectionLost' });
    expect((await send(session, { ...what, attempt: 3 })).outcome).toMatchObject({ kind: 'acknowledged' });
  });

  it('a repeated key gives the task it made (G2)', async () => {
    const what = submission('work', { outcome: 'hold' });
    const first = await send(session, what);
    const before = (await server.log()).executions;
    const second = await send(session, { ...what, attempt: 2 });
    expect(second.outcome).toMatchObject({
      kind: 'acknowledged',
      task: { taskId: first.outcome.kind === 'acknowledged' ? first.outcome.task.taskId : '' },
    });
    expect((await server.log()).executions).toBe(before);
  });

  it('gone, with a receipt', async () => {
    const what = submission('work', {});
    const { outcome } = await send(session, what);
    if (outcome.kind !== 'acknowledged') throw new Error('no task');
    await until(session, { ...outcome.task, tool: 'work' }, 'completed');
    await server.control({ op: 'forget', taskId: outcome.task.taskId, receipt: true });
    expect(await session.lookup(what)).toEqual({
      kind: 'expiredWithReceipt',
      taskId: outcome.task.taskId,
      taskCreatedAt: outcome.task.taskCreatedAt,
      status: 'completed',
    });
  });

  it.each([
    ['an error', { kind: 'rpc', code: -32603 }, 'unknown'],
    ['another call under this key', { kind: 'rpc', code: -32602 }, 'unknown'],
    ['method not found', { kind: 'rpc', code: -32601 }, 'unavailable'],
    ['HTTP 503', { kind: 'http', status: 503 }, 'unknown'],
    [
      'two answers at once',
      { kind: 'answer', result: { neverCreated: true, closedThroughAttempt: 1, found: null } },
      'unknown',
    ],
    ['never created, but nothing closed', { kind: 'answer', result: { neverCreated: true } }, 'unknown'],
    ['no answer', { kind: 'answer', result: {} }, 'unknown'],
  ] as const)('%s', async (_name, fault, kind) => {
    await server.control({ op: 'fault', method: 'dev.toolop/lookup', ...fault });
    expect(await session.lookup(submission('work', {}))).toMatchObject({ kind });
  });

  it('is not tried where it is not declared (B1)', async () => {
    const plain = await startScriptedServer();
    const own = await connect(plain.endpoint);
    await startTask(own, {});
    expect(await own.lookup(submission('work', {}))).toMatchObject({ kind: 'unavailable' });
    expect((await plain.log()).counts['dev.toolop/lookup']).toBeUndefined();
    await own.close();
    await plain.stop();
  });
});
