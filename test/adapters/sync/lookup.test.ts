import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProtocolSession } from '../../../machines/operation-protocol.ts';
import { eventually, send, submission } from '../mcp-2025-11-25/helpers.ts';
import { connect, startTarget, type Target } from './helpers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };
const RECEIPT = { kind: 'expiredWithReceipt', taskId: expect.any(String), taskCreatedAt: expect.any(String) };

describe('look-up of a synchronous call (B4, B13)', () => {
  let target: Target;
  let session: ProtocolSession;
  beforeEach(async () => {
    target = await startTarget('http', { lookup: true, receipts: true, limits: { sync: 60_000 } });
    session = await connect(target.endpoint);
  });
  afterEach(async () => {
    await session.close();
    await target.stop();
  });

  it('a finished call: a receipt with its result, also from another session', async () => {
    const [done, failed] = [submission('sync', {}), submission('sync', { outcome: 'isError' })];
    await send(session, done);
    await send(session, failed);
    const other = await connect(target.endpoint);
    const payload = { kind: 'result', isError: false, value: DONE };
    expect(await other.lookup(done)).toEqual({ ...RECEIPT, status: 'completed', payload });
    expect(await other.lookup(failed)).toMatchObject({ ...RECEIPT, status: 'failed', payload: { isError: true } });
    await other.close();
  });

  it('a call that ended with a JSON-RPC error: a receipt without a result', async () => {
    const what = submission('sync', { outcome: 'rpcError' });
    await send(session, what);
    expect(await session.lookup(what)).toEqual({ ...RECEIPT, status: 'failed' });
  });

  it('a call that still runs is known, and nothing more: asked again, never closed', async () => {
    const what = submission('sync', { ms: 60_000 });
    void send(session, what);
    await eventually(async () => (await target.log()).executions === 1);
    expect(await session.lookup(what)).toEqual({
      kind: 'unknown',
      reason: 'the server has the call, and no receipt of its end yet',
    });
  });

  it('a call that never arrived: never created, and closed', async () => {
    const what = submission('sync', {});
    expect(await session.lookup(what)).toEqual({ kind: 'neverCreated', closedThroughAttempt: 1 });
    expect((await send(session, what)).outcome).toMatchObject({ kind: 'connectionLost' });
    expect((await target.log()).executions).toBe(0);
  });

  const receipt = { taskId: 'a', createdAt: '2026-01-01T00:00:00Z', status: 'completed', result: DONE };
  it.each([
    ['no receipt of any shape', { expiredWithReceipt: { ...receipt, status: 'working' } }, { kind: 'unknown' }],
    ['found, but nothing', { found: null }, { kind: 'unknown', reason: "the look-up's answer cannot be read" }],
    ['two answers', { found: {}, expiredWithReceipt: receipt }, { kind: 'unknown' }],
    [
      'completed, with an error result',
      { expiredWithReceipt: { ...receipt, result: { ...DONE, isError: true } } },
      { kind: 'unknown', reason: expect.stringContaining('contradicts itself') },
    ],
    ['failed, with a result', { expiredWithReceipt: { ...receipt, status: 'failed' } }, { kind: 'unknown' }],
  ] as const)('%s', async (_name, result, outcome) => {
    await target.control({ op: 'fault', method: 'dev.toolop/lookup', kind: 'answer', result });
    expect(await session.lookup(submission('sync', {}))).toMatchObject(outcome);
  });

  it.each([
    ['is empty', { content: [] }],
    ['is no result', 'done'],
    [
      'is marked as that of another task',
      { ...DONE, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'b' } } },
    ],
  ] as const)('B11: a result that %s is left out of the receipt', async (_name, result) => {
    const expiredWithReceipt = { ...receipt, result };
    await target.control({ op: 'fault', method: 'dev.toolop/lookup', kind: 'answer', result: { expiredWithReceipt } });
    expect(await session.lookup(submission('sync', {}))).toEqual({
      kind: 'expiredWithReceipt',
      taskId: 'a',
      taskCreatedAt: receipt.createdAt,
      status: 'completed',
    });
  });

  it('B11: a result that does not fit the output schema is left out, and one that cannot be checked now is unknown', async () => {
    const ask = async (structuredContent: object) => {
      const expiredWithReceipt = { ...receipt, result: { ...DONE, structuredContent } };
      await target.control({
        op: 'fault',
        method: 'dev.toolop/lookup',
        kind: 'answer',
        result: { expiredWithReceipt },
      });
      return session.lookup(submission('typed', {}));
    };
    await target.control({ op: 'fault', method: 'tools/list', kind: 'http', status: 503 });
    expect(await ask({ answer: 42 })).toMatchObject({ kind: 'unknown' });
    expect(await ask({ answer: 'no number' })).not.toHaveProperty('payload');
    expect(await ask({ answer: 42 })).toMatchObject({ payload: { value: { structuredContent: { answer: 42 } } } });
  });

  it('B1: is not tried where it is not declared', async () => {
    await target.control({ op: 'set', options: { lookup: false } });
    const plain = await connect(target.endpoint);
    expect(await plain.lookup(submission('sync', {}))).toMatchObject({ kind: 'unavailable' });
    expect((await target.log()).counts['dev.toolop/lookup']).toBeUndefined();
    await plain.close();
  });
});
