import { describe, expect, it } from 'vitest';
import { cancel } from '../../machines/actor/commands.ts';
import { accepted, eventually, LEDGERS, until, workCall } from '../support/rig.ts';
import { callsSeen, pathOf, useStage } from '../support/stage.ts';

describe.each(LEDGERS)('cancel on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('B9 B10: the cancel of a working task is terminal evidence; the effect is for somebody to reconcile', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    expect(await executor.cancel(id, 'tester', 'no longer needed')).toMatchObject({ kind: 'taken' });
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({
      outcome: 'cancelled',
      status: 'cancelled',
      cancelGeneration: 1,
      effectReconciliationRequired: true,
      released: false,
    });
    expect(output).toBeNull();
    expect((await server.log()).counts['tasks/cancel']).toBe(1);
    expect(await pathOf(stage().ledger, id)).toContain('CANCEL_REQUESTED.sending');
  });

  it('B10: a tool that is declared free of effects leaves nothing to reconcile', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }, { effectFree: true }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await executor.cancel(id);
    expect((await executor.wait(id)).receipt).toMatchObject({
      outcome: 'cancelled',
      effectReconciliationRequired: false,
    });
  });

  it('F4 B9: completed first, then the cancel is refused: the completed state is accepted, never rewritten', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor({
      policy: { pollIntervalMs: 3_000, minPollIntervalMs: 3_000, maxPollIntervalMs: 3_000 },
    });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'complete', taskId: 'last' });
    await executor.cancel(id);
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', released: true });
    expect((await server.log()).counts['tasks/cancel']).toBe(1);
  });

  it('F5: the answer to the cancel is lost: the status is read first, then the cancel that won is accepted', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', kind: 'reset', method: 'tasks/cancel' });
    await executor.cancel(id);
    expect((await executor.wait(id)).receipt.outcome).toBe('cancelled');
    expect(await pathOf(stage().ledger, id)).toContain('CANCEL_REQUESTED.confirming');
  });

  it('F5: ... and is sent again in the same generation when the server never heard it', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', kind: 'resetBefore', method: 'tasks/cancel' });
    await executor.cancel(id);
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
  });

  it('twice, from two processes: one generation, one receipt; after the end: too late', async () => {
    const server = await stage().server();
    const [a, b] = [await stage().rig.executor(), await stage().rig.executor()];
    const id = await accepted(a, workCall(server.endpoint, { outcome: 'hold' }));
    await until(a, id, (state) => state === 'WORKING.polling');
    const answers = await Promise.all([a.cancel(id, 'one'), cancel(b.env, id, 'two')]);
    expect(answers.map(({ kind }) => kind).sort()).not.toContain('missing');
    expect(answers.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
    const { receipt } = await a.wait(id);
    expect(receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
    expect(await b.cancel(id)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('too late') });
    expect(await stage().ledger.audit()).toEqual([]);
  });

  it('before an id is known: the intent is recorded at once and sent the moment the id is known', async () => {
    const server = await stage().server();
    await server.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'SUBMITTING.sending');
    expect(await executor.cancel(id)).toMatchObject({ kind: 'taken' });
    await server.control({ op: 'release' });
    expect((await executor.wait(id)).receipt.outcome).toBe('cancelled');
    expect(await callsSeen(server)).toBe(1);
  });

  it('before anything was sent: not submitted, nothing to reconcile, no tools/call', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor({ creationAllowed: switchedOffAfter(1) });
    const id = await accepted(executor, workCall(server.endpoint, {}));
    expect(await executor.cancel(id)).toMatchObject({ kind: 'taken' });
    const { receipt } = await eventually(() => executor.outcome(id));
    expect(receipt).toMatchObject({ outcome: 'not_submitted', effectReconciliationRequired: false });
    expect(await callsSeen(server)).toBe(0);
  });

  it('where the server has no cancel for tasks: refused with the reason', async () => {
    const server = await stage().server({ cancel: false });
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    expect(await executor.cancel(id)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('no cancel') });
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'completed', cancelGeneration: 0 });
  });

  it('asked after completed was observed: too late, nothing is raised and nothing sent', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', kind: 'silence', method: 'tasks/result', times: 20 });
    await server.control({ op: 'complete', taskId: 'last' });
    await until(executor, id, (state) => state.startsWith('TERMINAL_OBSERVED') || state.startsWith('FETCHING'));
    expect(await executor.cancel(id)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('too late') });
    const { counts } = await server.log();
    expect(counts['tasks/cancel'] ?? 0).toBe(0);
    expect((await executor.load(id))?.snapshot.context.cancelGeneration).toBe(0);
  });

  it('cancelled by somebody else: accepted with that evidence', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'status', taskId: 'last', status: 'cancelled' });
    expect((await executor.wait(id)).receipt).toMatchObject({
      outcome: 'cancelled',
      cancelGeneration: 0,
      effectReconciliationRequired: true,
    });
  });

  it('F4 G1: cancel racing completion, 12 times: one receipt, and it agrees with what the server says the task is', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const rounds = Array.from({ length: 12 }, async (_, round) => {
      const id = await accepted(executor, workCall(server.endpoint, { ms: 120 }));
      await until(executor, id, (_, { snapshot }) => snapshot.context.taskId !== null);
      await new Promise((resolve) => setTimeout(resolve, 90 + round * 8));
      await executor.cancel(id);
      const { receipt } = await executor.wait(id);
      return { receipt, context: (await executor.load(id))?.snapshot.context };
    });
    for (const { receipt, context } of await Promise.all(rounds)) {
      expect(['completed', 'cancelled']).toContain(receipt.outcome);
      expect(context?.serverStatus).toBe(receipt.status);
    }
    expect(await stage().ledger.audit()).toEqual([]);
  });
});

/** Lets `count` questions pass, then says no: the record is created and nothing is sent. */
function switchedOffAfter(count: number): () => boolean {
  let asked = 0;
  return () => asked++ < count;
}
