/** The whole way of a synchronous call: executor, ledger, server. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Executor, ExecutorOptions } from '../../../machines/index.ts';
import type { Script, ScriptedOptions } from '../../kit/servers/mcp-2025-11-25.ts';
import { accepted, eventually, LEDGERS, until, workCall } from '../../support/rig.ts';
import { callsSeen, pathOf, useStage } from '../../support/stage.ts';
import { protocol, startTarget, type Target, TRANSPORTS } from './helpers.ts';

/** ms; the grace of the tests' adapter comes on top. */
const SHORT = { limits: { sync: 200 } };
const LONG = { limits: { sync: 60_000 } };

describe.each(LEDGERS)('a synchronous call on the %s ledger', (kind) => {
  const stage = useStage(kind);

  describe.each(TRANSPORTS)('over %s', (transport) => {
    const targets: Target[] = [];
    afterEach(async () => {
      await stage().rig.retire();
      for (const target of targets.splice(0)) await target.stop();
    });
    const targetWith = async (options: Partial<ScriptedOptions>): Promise<Target> => {
      const target = await startTarget(transport, options);
      targets.push(target);
      return target;
    };
    const executorWith = (more: Partial<ExecutorOptions> = {}) =>
      stage().rig.executor({ protocols: [protocol()], ...more });
    const callOf = (target: Target, script: Script, tool = 'sync') => workCall(target.endpoint, script, { tool });

    /** Submits a call whose answer the server holds back, and waits until the server has it. */
    async function heldCall(target: Target, executor: Executor): Promise<string> {
      const call = callOf(target, {});
      // Negotiated first: a server over stdio can be told something only when it runs.
      const session = await executor.env.connections.fresh(target.endpoint, 'sync');
      expect(await session.negotiate('sync', {})).toMatchObject({ kind: 'supported' });
      await target.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
      const id = await accepted(executor, call);
      await eventually(async () => (await callsSeen(target)) === 1);
      return id;
    }

    it('B4 B11 B12: complete: accepted once, with its result', async () => {
      const target = await targetWith(LONG);
      const executor = await executorWith();
      const id = await accepted(executor, callOf(target, { ms: 50 }));
      const { receipt, output } = await executor.wait(id);
      expect(receipt).toMatchObject({ outcome: 'completed', status: 'completed', released: true, attempt: 1 });
      expect(output).toMatchObject({ kind: 'result', isError: false });
      expect((await executor.load(id))?.snapshot.context.protocol).toBe('sync');
      expect(await callsSeen(target)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('B11: a result that is an error: accepted as failed, with that result', async () => {
      const target = await targetWith(LONG);
      const executor = await executorWith();
      const id = await accepted(executor, callOf(target, { outcome: 'isError' }));
      const { receipt, output } = await executor.wait(id);
      expect(receipt).toMatchObject({ outcome: 'failed', released: true });
      expect(output).toMatchObject({ kind: 'result', isError: true });
      expect(await callsSeen(target)).toBe(1);
    });

    it('B1: longer than several leases and than the patience for other requests: accepted once', async () => {
      const target = await targetWith(LONG);
      const patience = { leaseMs: 600, requestTimeoutMs: 300 };
      const executor = await executorWith(patience);
      // Would take the operation over as soon as its lease ran out (over HTTP it can), and find a lost sender.
      const other = await executorWith({ ...patience, endpoints: [target.endpoint] });
      const id = await accepted(executor, callOf(target, { ms: 2_500 }));
      const { receipt } = await executor.wait(id);
      expect(receipt).toMatchObject({ outcome: 'completed', attempt: 1 });
      expect(await pathOf(stage().ledger, id)).toEqual([
        'SUBMITTING.queued',
        'SUBMITTING.sending',
        'TERMINAL_OBSERVED.outcome',
        'FETCHING_RESULT.verified',
        'ACCEPTED',
      ]);
      expect((await other.wait(id)).receipt).toEqual(receipt);
      expect(await callsSeen(target)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('B1 B4: past the limit, without a look-up: PARKED, never sent again', async () => {
      const target = await targetWith(SHORT);
      const executor = await executorWith();
      const id = await heldCall(target, executor);
      const { snapshot } = await until(executor, id, (state) => state === 'PARKED.waiting');
      expect(snapshot.context.parked?.reason).toBe('no-lookup');
      expect(await pathOf(stage().ledger, id)).toContain('SUBMISSION_UNKNOWN');
      await expect(executor.wait(id)).rejects.toThrow(/parked/);
      expect(await callsSeen(target)).toBe(1);
      expect((await target.log()).counts['notifications/cancelled']).toBeUndefined();
    });

    it('B4 B11: an answer after the limit is evidence: accepted', async () => {
      const target = await targetWith(SHORT);
      const executor = await executorWith();
      const id = await heldCall(target, executor);
      await until(executor, id, (state) => state === 'PARKED.waiting');
      await target.control({ op: 'release' });
      const { receipt } = await eventually(() => executor.outcome(id));
      expect(receipt).toMatchObject({ outcome: 'completed', released: true, evidence: { kind: 'submit.outcome' } });
      expect(await callsSeen(target)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('B13 EXPIRED_WITH_RECEIPT: past the limit, found by its key while it runs and accepted by its receipt', async () => {
      const target = await targetWith({ ...SHORT, lookup: true, receipts: true });
      const executor = await executorWith();
      const session = await executor.env.connections.fresh(target.endpoint, 'sync');
      expect(await session.negotiate('sync', {})).toMatchObject({ kind: 'supported' });
      await target.control({ op: 'fault', kind: 'silence', method: 'tools/call' });
      const id = await accepted(executor, callOf(target, { ms: 1_000 }));
      const { receipt, output } = await eventually(() => executor.outcome(id));
      expect(receipt).toMatchObject({
        outcome: 'completed',
        released: true,
        attempt: 1,
        evidence: { kind: 'lookup.expiredWithReceipt' },
      });
      expect(output).toMatchObject({ kind: 'result', value: { content: [{ type: 'text', text: 'done' }] } });
      const { counts, executions } = await target.log();
      expect(counts['dev.toolop/lookup']).toBeGreaterThan(1);
      expect(counts['tools/call']).toBe(1);
      expect(executions).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('B13: a receipt that does not say what the call returned advances nothing: PARKED', async () => {
      const target = await targetWith({ ...LONG, lookup: true, receipts: true });
      const executor = await executorWith();
      // Its receipt is that of a failure, and holds no result.
      const id = await accepted(executor, callOf(target, { outcome: 'rpcError' }));
      const { snapshot } = await until(executor, id, (state) => state === 'PARKED.waiting');
      expect(snapshot.context.parked?.reason).toBe('result-unavailable');
      expect(await executor.outcome(id)).toBeNull();
      expect(await callsSeen(target)).toBe(1);
    });

    it('B4: the server dies in the middle of the call: PARKED, never sent again', async () => {
      const target = await targetWith(LONG);
      const executor = await executorWith();
      const id = await heldCall(target, executor);
      await target.die();
      const { snapshot } = await until(executor, id, (state) => state === 'PARKED.waiting');
      expect(snapshot.context.parked?.reason).toBe(transport === 'http' ? 'no-lookup' : 'server-gone');
      expect(await pathOf(stage().ledger, id)).toEqual([
        'SUBMITTING.queued',
        'SUBMITTING.sending',
        'SUBMISSION_UNKNOWN',
        'PARKED.waiting',
      ]);
    });

    it('B9: a cancel is refused with the reason; the call goes on and is accepted', async () => {
      const target = await targetWith(LONG);
      const executor = await executorWith();
      const id = await heldCall(target, executor);
      expect(await executor.cancel(id)).toMatchObject({
        kind: 'refused',
        guards: ['cancelIsSupported'],
        reason: expect.stringContaining('can only be waited for'),
      });
      expect((await executor.load(id))?.snapshot.context).toMatchObject({ cancel: null, cancelGeneration: 0 });
      await target.control({ op: 'release' });
      expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'completed', cancelGeneration: 0 });
      expect((await target.log()).counts).not.toHaveProperty('tasks/cancel');
    });

    it('B1: refused without a limit, and where a task is demanded: nothing is created, nothing is sent', async () => {
      const target = await targetWith({ limits: { typed: 1_000 } });
      const executor = await executorWith();
      const call = callOf(target, {});
      expect(await executor.submit(call)).toEqual({
        kind: 'refused',
        reason:
          'the tool publishes no (usable) synchronous limit and does not support tasks: nobody can say how long it takes',
        next:
          "ask the tool's owner to declare _meta['dev.toolop/synchronous-limit-ms'] (an integer, ms) of the tool in " +
          'tools/list, or task support (execution.taskSupport)',
      });
      expect(await executor.submit(callOf(target, {}, 'typed'))).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('only be called as a task'),
        next: expect.stringContaining('adapter for tasks'),
      });
      expect(await executor.load(executor.operationIdOf(call))).toBeNull();
      expect(await callsSeen(target)).toBe(0);
    });
  });
});
