import { describe, expect, it } from 'vitest';
import { allowedVerbs } from '../../machines/actor/commands.ts';
import type { Executor, ToolCall } from '../../machines/index.ts';
import { freePort } from '../kit/free-port.ts';
import { type Bench, sends, started, useBench } from '../support/bench.ts';
import { accepted, eventually, LEDGERS, until, workCall } from '../support/rig.ts';
import { pathOf } from '../support/stage.ts';

const HOLD = { outcome: 'hold' } as const;

describe.each(LEDGERS)('unknown ids on the %s ledger', (kind) => {
  const bench = useBench(kind);

  it('B13 F10: unknown before its expiry: UNKNOWN, parked; never failed', async () => {
    const { server, ledger } = bench();
    const executor = await bench().executor();
    const { id, taskId, opened } = await started(executor, bench().call(HOLD, { ttlMs: 600_000 }));
    expect(opened.snapshot.context.expiry?.earliest).toBeGreaterThan(await ledger.now());
    await server.control({ op: 'forget', taskId });
    await expectParked(executor, id, 'unknown-id', 'PARKED.watching');
    expect(await pathOf(ledger, id)).toContain('CLASSIFYING_NOT_FOUND');
  });

  it('B13 F10: unknown after its expiry: UNKNOWN, parked as expired; never failed', async () => {
    const { server, ledger } = bench();
    const executor = await bench().executor();
    const { id, taskId, opened } = await started(executor, bench().call(HOLD, { ttlMs: 900 }));
    await server.control({ op: 'fault', method: 'tasks/get', taskId, kind: 'http', status: 503, times: 1_000 });
    await server.control({ op: 'forget', taskId });
    const expiry = await eventually(async () => {
      const last = (await executor.load(id))?.snapshot.context;
      return last && last.failures > 0 && (await ledger.now()) > (last.expiry?.latest ?? Infinity) ? last.expiry : null;
    });
    expect(expiry.latest).toBeGreaterThanOrEqual(opened.snapshot.context.expiry?.latest ?? 0);
    // A local clock never declares an expiry: the server has to be heard.
    expect(await executor.load(id)).toMatchObject({ record: { state: 'WORKING.polling' } });
    await server.control({ op: 'clearFaults' });
    await expectParked(executor, id, 'expired', 'PARKED.watching');
  });

  it('B13: a lost session says nothing of the task: a new session is opened and the task goes on', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    const before = (await server.log()).counts.initialize ?? 0;
    await server.control({ op: 'dropSessions' });
    await eventually(async () => ((await server.log()).counts.initialize ?? 0) > before);
    await server.control({ op: 'complete', taskId });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('B13 F10: unknown under a new session: cannot know, parked as session-lost', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    // No poll may slip in between the two orders.
    await server.control({ op: 'fault', method: 'tasks/get', taskId, kind: 'http', status: 503, times: 1_000 });
    await server.control({ op: 'dropSessions' });
    await server.control({ op: 'forget', taskId });
    await server.control({ op: 'clearFaults' });
    await expectParked(executor, id, 'session-lost', 'PARKED.watching');
  });

  it('B13 F10: the server was restarted on the same port and knows nothing: session-lost, never failed, never sent again', async () => {
    const { stage } = bench();
    const server = await stage.server({}, await freePort());
    const executor = await bench().executor();
    const { id } = await started(executor, workCall(server.endpoint, HOLD));
    await server.kill();
    await until(executor, id, (_state, { snapshot }) => snapshot.context.failures > 0);
    const again = await stage.server({}, server.port);
    await expectParked(executor, id, 'session-lost', 'PARKED.watching');
    expect((await again.log()).counts['tools/call'] ?? 0).toBe(0);
  });

  it('B13: a parked unknown that the server knows again goes on', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    await server.control({ op: 'fault', method: 'tasks/get', taskId, kind: 'rpc', code: -32602, times: 1_000 });
    await expectParked(executor, id, 'unknown-id', 'PARKED.watching');
    await server.control({ op: 'clearFaults' });
    const back = await until(executor, id, (state) => state === 'WORKING.polling');
    expect(back.snapshot.context).toMatchObject({ parked: null, missing: null });
    await server.control({ op: 'complete', taskId });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('F9: a task id that comes back with another createdAt is something else: contradiction, never accepted', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    await server.control({ op: 'reuse', taskId, createdAt: '2001-01-01T00:00:00.000Z' });
    await expectParked(executor, id, 'contradiction', 'PARKED.disputed');
  });

  it('F9: one task id given to two operations at one endpoint: the second is disputed, the first goes on', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const endpoint = bench().address();
    const first = await started(executor, workCall(endpoint, HOLD));
    const { context } = first.opened.snapshot;
    const now = new Date().toISOString();
    const task = { taskId: first.taskId, status: 'working', createdAt: context.taskCreatedAt, lastUpdatedAt: now };
    await server.control({
      op: 'fault',
      method: 'tools/call',
      kind: 'answer',
      result: { task: { ...task, ttl: null, pollInterval: 50 } },
    });
    const second = await accepted(executor, workCall(endpoint, HOLD));
    await expectParked(executor, second, 'contradiction', 'PARKED.disputed');
    await server.control({ op: 'complete', taskId: first.taskId });
    expect((await executor.wait(first.id)).receipt.outcome).toBe('completed');
    expect(await executor.outcome(second)).toBeNull();
  });

  it('the server contradicts itself (completed, then failed, while the result is silent): contradiction, never accepted', async () => {
    const { server } = bench();
    const executor = await bench().executor({ requestTimeoutMs: 300 });
    const call = bench().call(HOLD, { policy: { fetchBudgetMs: 300 } });
    const { id, taskId } = await started(executor, call);
    await server.control({ op: 'fault', method: 'tasks/result', taskId, kind: 'silence', times: 1_000 });
    await server.control({ op: 'complete', taskId });
    await until(executor, id, (state) => state.startsWith('FETCHING_RESULT'));
    await server.control({ op: 'status', taskId, status: 'failed' });
    const parked = await expectParked(executor, id, 'contradiction', 'PARKED.disputed');
    expect(parked.snapshot.context.terminal?.status).toBe('completed');
    expect(parked.snapshot.context.audit.at(-1)).toMatchObject({ kind: 'poll.status', status: 'failed' });
  });

  describe('reconciled by hand', () => {
    it('attach: a lost submission is given its task id, and goes on to its receipt', async () => {
      const executor = await bench().executor();
      const { id, taskId } = await lostSubmission(bench(), executor);
      expect(await executor.reconcile(id, 'op', { verb: 'attach', taskId })).toMatchObject({ kind: 'taken' });
      const { receipt } = await executor.wait(id);
      expect(receipt).toMatchObject({ outcome: 'completed', taskId });
      expect(await sends(bench().server, executor, id)).toBe(1);
    });

    it('attach: an id that belongs to another operation is refused by taskIsOurs', async () => {
      const executor = await bench().executor();
      const lost = await lostSubmission(bench(), executor);
      const other = await started(executor, workCall(lost.endpoint, HOLD));
      expect(await executor.reconcile(lost.id, 'op', { verb: 'attach', taskId: other.taskId })).toMatchObject({
        kind: 'refused',
        guards: expect.arrayContaining(['taskIsOurs']),
      });
      expect((await executor.load(lost.id))?.record.state).toBe('PARKED.waiting');
    });

    it('accept: completed, with the result that was found', async () => {
      const { ledger } = bench();
      const executor = await bench().executor();
      const { id } = await lostSubmission(bench(), executor);
      const value = { content: [{ type: 'text', text: 'found in the log of the server' }] };
      const payload = { kind: 'result', value, isError: false } as const;
      const what = { verb: 'accept', status: 'completed', payload, note: 'log line 7' } as const;
      expect(await executor.reconcile(id, 'op', what)).toMatchObject({ kind: 'taken' });
      const { receipt, output } = await ended(executor, id);
      expect(receipt).toMatchObject({ outcome: 'completed', released: true, evidence: { kind: 'reconcile.accept' } });
      expect(receipt.evidence?.note).toContain('log line 7');
      expect(output).toEqual(payload);
      expect(await ledger.audit()).toEqual([]);
    });

    it('accept: cancelled', async () => {
      const executor = await bench().executor();
      const { id } = await lostSubmission(bench(), executor);
      const what = { verb: 'accept', status: 'cancelled', payload: null, note: 'stopped by hand' } as const;
      expect(await executor.reconcile(id, 'op', what)).toMatchObject({ kind: 'taken' });
      const { receipt, output } = await ended(executor, id);
      expect(receipt).toMatchObject({ outcome: 'cancelled', effectReconciliationRequired: true, released: false });
      expect(output).toBeNull();
    });

    it('never created: a not-submitted receipt with the reason', async () => {
      const executor = await bench().executor();
      const { id } = await lostSubmission(bench(), executor);
      const what = { verb: 'never-created', note: 'nothing in its database' } as const;
      expect(await executor.reconcile(id, 'op', what)).toMatchObject({ kind: 'taken' });
      const { receipt } = await ended(executor, id);
      expect(receipt).toMatchObject({ outcome: 'not_submitted', status: null, resultDigest: null });
      expect(receipt.reason).toContain('nothing in its database');
    });

    it('give up: closed in writing, with the effect left to reconcile', async () => {
      const { server } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await started(executor, bench().call(HOLD));
      await server.control({ op: 'forget', taskId });
      await until(executor, id, (state) => state === 'PARKED.watching');
      const what = { verb: 'give-up', note: 'the server was scrapped' } as const;
      expect(await executor.reconcile(id, 'op', what)).toMatchObject({ kind: 'taken' });
      const { receipt } = await ended(executor, id);
      expect(receipt).toMatchObject({ outcome: 'given_up', status: null, effectReconciliationRequired: true });
      expect(receipt.reason).toContain('the server was scrapped');
    });

    it('verbs that are not allowed are refused and change nothing', async () => {
      const { server } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await started(executor, bench().call(HOLD));
      const giveUp = { verb: 'give-up', note: 'impatient' } as const;
      expect(await executor.reconcile(id, 'op', giveUp)).toMatchObject({ kind: 'refused' });
      await server.control({ op: 'forget', taskId });
      const parked = await until(executor, id, (state) => state === 'PARKED.watching');
      expect(allowedVerbs(parked)).toEqual([
        'reconcile.attach',
        'reconcile.accept',
        'reconcile.giveUp',
        'cancel.request',
      ]);
      const refused = [
        await executor.reconcile(id, 'op', { verb: 'attach', taskId: 'another' }),
        await executor.reconcile(id, 'op', { verb: 'never-created', note: 'I think' }),
        await executor.reconcile(id, 'op', { verb: 'accept', status: 'completed', payload: null, note: 'trust me' }),
      ];
      expect(refused).toMatchObject([
        { kind: 'refused', guards: expect.arrayContaining(['attachesKnownTask']) },
        { kind: 'refused', reason: expect.stringContaining('PARKED.watching') },
        { kind: 'refused', guards: expect.arrayContaining(['handBringsResult']) },
      ]);
      expect((await executor.load(id))?.record.state).toBe('PARKED.watching');
      await executor.reconcile(id, 'op', giveUp);
      await ended(executor, id);
      expect(await executor.reconcile(id, 'op', giveUp)).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('over'),
      });
    });
  });
});

describe.each(LEDGERS)('unknown ids of a server with a look-up, on the %s ledger', (kind) => {
  const bench = useBench(kind, { lookup: true });

  it('B13: the look-up knows no better: UNKNOWN after its budget; never failed', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD, { policy: { lookupBudgetMs: 300 } }));
    await server.control({ op: 'forget', taskId });
    await expectParked(executor, id, 'unknown-id', 'PARKED.watching');
  });

  it('B13 EXPIRED_WITH_RECEIPT: gone, and the receipt says cancelled: accepted on that evidence', async () => {
    const { server, ledger } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    await forgetWithReceipt(bench(), taskId, 'cancelled');
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'cancelled', taskId, evidence: { kind: 'lookup.expiredWithReceipt' } });
    expect((await server.log()).counts['dev.toolop/lookup']).toBeGreaterThan(0);
    expect(await ledger.audit()).toEqual([]);
  });

  it('B13 B11 EXPIRED_WITH_RECEIPT: completed, but its result is gone: PARKED, accepted by hand with the result only', async () => {
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    await forgetWithReceipt(bench(), taskId, 'completed');
    const parked = await expectParked(executor, id, 'result-unavailable', 'PARKED.waiting');
    expect(parked.snapshot.context.terminal).toMatchObject({
      status: 'completed',
      evidence: { kind: 'lookup.expiredWithReceipt' },
    });
    const hand = { verb: 'accept', status: 'completed', note: 'from the backup' } as const;
    expect(await executor.reconcile(id, 'op', { ...hand, payload: null })).toMatchObject({ kind: 'refused' });
    const payload = { kind: 'result', value: { content: [{ type: 'text', text: 'backup' }] }, isError: false } as const;
    expect(await executor.reconcile(id, 'op', { ...hand, payload })).toMatchObject({ kind: 'taken' });
    expect(await ended(executor, id)).toMatchObject({ receipt: { outcome: 'completed', taskId }, output: payload });
  });

  it('B13: "never created" with an id on record is UNKNOWN, never NOT_FOUND_SAFE, never sent again', async () => {
    const { server, ledger } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call(HOLD));
    await server.control({
      op: 'fault',
      method: 'dev.toolop/lookup',
      kind: 'answer',
      result: { neverCreated: true, closedThroughAttempt: 1 },
      times: 1_000,
    });
    await server.control({ op: 'forget', taskId });
    await expectParked(executor, id, 'unknown-id', 'PARKED.watching');
    expect(await pathOf(ledger, id)).not.toContain('NOT_FOUND_SAFE');
    expect(await sends(server, executor, id)).toBe(1);
  });
});

/** Parked for this reason, nothing accepted, and whoever waits is told. */
async function expectParked(executor: Executor, id: string, reason: string, state: string) {
  const parked = await until(executor, id, (current, { snapshot }) => {
    return current === state && snapshot.context.parked?.reason === reason;
  });
  expect(await executor.outcome(id)).toBeNull();
  await expect(executor.wait(id)).rejects.toMatchObject({ name: 'OperationParked', reason });
  return parked;
}

/** The receipt of an operation that a waiter may have met parked. */
const ended = (executor: Executor, id: string) => eventually(() => executor.outcome(id));

/** Parked without an id: the server made the task, and its answer was lost (no look-up). */
async function lostSubmission(
  { server, address }: Bench,
  executor: Executor,
): Promise<{ readonly id: string; readonly taskId: string; readonly endpoint: ToolCall['endpoint'] }> {
  await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
  const endpoint = address();
  const id = await accepted(executor, workCall(endpoint, { ms: 20 }));
  await until(executor, id, (state) => state === 'PARKED.waiting');
  const taskId = (await server.log()).created.at(-1);
  if (taskId === undefined) throw new Error('the server made no task');
  return { id, taskId, endpoint };
}

/** The task ends and is gone before anybody saw its end; only the look-up still tells. */
async function forgetWithReceipt({ server }: Bench, taskId: string, status: string): Promise<void> {
  await server.control({ op: 'fault', method: 'tasks/get', taskId, kind: 'http', status: 503, times: 1_000 });
  await server.control({ op: 'status', taskId, status });
  await server.control({ op: 'forget', taskId, receipt: true });
  await server.control({ op: 'clearFaults' });
}
