import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type Actor, type ActorRef, createActor, type InspectionEvent, type Snapshot, waitFor } from 'xstate';
import { createOperationLogic, type Executor, type OperationLogicSnapshot } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { asked, sends, taskIdOf, useBench } from '../support/bench.ts';
import { type News, parentMachine } from '../support/parent-machine.ts';
import { ExecutorProcess } from '../support/processes.ts';
import { FAST, LEDGERS, NAMESPACE, until } from '../support/rig.ts';
import { pathOf } from '../support/stage.ts';

const PROGRAM = fileURLToPath(new URL('../support/parent-process.ts', import.meta.url));
const HOLD = { outcome: 'hold' } as const;

describe.each(LEDGERS)('an XState parent on the %s ledger', (kind) => {
  const bench = useBench(kind);
  const parents: Actor<ReturnType<typeof parentMachine>>[] = [];
  afterEach(() => {
    for (const parent of parents.splice(0)) parent.stop();
  });

  function calls(one = {}, two = {}) {
    return { one: bench().call({ ...HOLD, ...one }), two: bench().call({ ...HOLD, ...two }) };
  }
  type Calls = ReturnType<typeof calls>;
  function start(executor: Executor, input: Calls, more: { inspect?: (event: InspectionEvent) => void } = {}) {
    const news: News[] = [];
    const machine = parentMachine(createOperationLogic({ executor }), (told) => news.push(told));
    const parent = createActor(machine, { input, ...more });
    parents.push(parent);
    parent.start();
    return { parent, machine, news };
  }
  /** Both operations are on the server: their ids there. */
  async function working(executor: Executor, input: Calls) {
    const [one, two] = [executor.operationIdOf(input.one), executor.operationIdOf(input.two)];
    const opened = await Promise.all([one, two].map((id) => until(executor, id, (state) => state.startsWith('WORK'))));
    return { one, two, tasks: opened.map(taskIdOf) as [string, string] };
  }

  it('is persisted, stopped, restored in another process, and gets both onDones exactly once', async () => {
    const { server, stage, ledger } = bench();
    const input = calls();
    const orders = { ledger: stage.rig.address, namespace: NAMESPACE, policy: FAST, calls: input };
    const first = new ExecutorProcess(orders, PROGRAM);
    const { persisted } = await first.line((line) => 'persisted' in line);
    await first.line((line) => 'stopped' in line);
    expect(first.lines.filter((line) => 'news' in line)).toEqual([]);

    const watcher = await bench().executor();
    const { one, two, tasks } = await working(watcher, input);
    for (const taskId of tasks) {
      expect(await asked(server, 'tasks/cancel', taskId)).toBe(0);
      await server.control({ op: 'complete', taskId });
    }
    const second = new ExecutorProcess({ ...orders, persisted }, PROGRAM);
    const { over } = await second.line((line) => 'over' in line);
    await second.line((line) => 'stopped' in line);
    const receipts = await Promise.all([one, two].map(async (id) => (await watcher.wait(id)).receipt.receiptId));
    expect([...(over as string[])].sort()).toEqual([...receipts].sort());
    const news = second.lines.flatMap((line) => ('news' in line ? [line.news as News] : []));
    expect(news.map(({ child }) => child).sort()).toEqual(['one', 'two']);
    expect(news.map(({ done }) => done).sort()).toEqual([...receipts].sort());
    for (const id of [one, two]) expect(await sends(server, watcher, id)).toBe(1);
    expect(await ledger.audit()).toEqual([]);
  });

  it('persists nothing of a child but the reference, and sees committed states only', async () => {
    const { ledger, server } = bench();
    const executor = await bench().executor();
    const input = calls();
    const { parent } = start(executor, input);
    const seen: string[] = [];
    const child = parent.getSnapshot().children.one as ActorRef<OperationLogicSnapshot, never> | undefined;
    child?.subscribe({
      next: ({ value, context }) => {
        if (context) seen.push(statePath({ value: value as never }));
      },
      error: () => undefined,
    });
    const { one, tasks } = await working(executor, input);
    const persisted = JSON.parse(JSON.stringify(parent.getPersistedSnapshot())) as {
      children: Record<string, { snapshot: unknown }>;
    };
    expect(persisted.children.one?.snapshot).toEqual({ status: 'active', operationId: one });
    for (const taskId of tasks) await server.control({ op: 'complete', taskId });
    await waitFor(parent, ({ status }) => status === 'done');
    const committed = await pathOf(ledger, one);
    expect(seen.at(-1)).toBe('ACCEPTED');
    for (const state of seen) expect(committed).toContain(state);
    const order = seen.map((state) => committed.lastIndexOf(state));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('B14: a parent that stops commits nothing: the operations go on, and their receipts are there', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const input = calls();
    const { parent, news } = start(executor, input);
    const { one, two, tasks } = await working(executor, input);
    const events: string[] = [];
    const unsubscribe = executor.env.store.onCommit(({ record }, from) => events.push(`${from} > ${record.state}`));
    parent.stop();
    await until(executor, one, (_state, { snapshot }) => snapshot.context.pollCursor > 2);
    expect(events.filter((event) => event !== 'WORKING.polling > WORKING.polling')).toEqual([]);
    unsubscribe();
    for (const taskId of tasks) {
      expect(await asked(server, 'tasks/cancel', taskId)).toBe(0);
      await server.control({ op: 'complete', taskId });
    }
    for (const id of [one, two]) expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(news).toEqual([]);
  });

  it('a restored handle attaches and never creates: the record gone is an error, and nothing is sent', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const input = calls();
    const { parent, machine, news } = start(executor, input);
    // Persisted before either record exists: it knows the ids from the calls alone.
    const persisted = JSON.parse(JSON.stringify(parent.getPersistedSnapshot())) as Snapshot<unknown>;
    parent.stop();
    const elsewhere = await bench().executor();
    const others = calls();
    const strange = JSON.parse(
      JSON.stringify(persisted)
        .replaceAll(executor.operationIdOf(input.one), executor.operationIdOf(others.one))
        .replaceAll(executor.operationIdOf(input.two), executor.operationIdOf(others.two)),
    ) as Snapshot<unknown>;
    const restored = createActor(machine, { input: others, snapshot: strange });
    parents.push(restored);
    const before = (await server.log()).executions;
    restored.start();
    const { context } = await waitFor(restored, ({ status }) => status === 'done');
    expect(context.failed.map(({ message }) => message)).toEqual([
      expect.stringContaining('there is no operation'),
      expect.stringContaining('there is no operation'),
    ]);
    expect(news.map(({ child }) => child).sort()).toEqual(['one', 'two']);
    for (const call of [others.one, others.two]) expect(await elsewhere.load(elsewhere.operationIdOf(call))).toBeNull();
    // The two calls of the first parent may or may not have gone out by now; the restored one adds none.
    expect((await server.log()).executions).toBeLessThanOrEqual(before + 2);
  });

  it('B9: a cancel event becomes a cancel request; the receipt comes with onDone', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const input = calls({}, {});
    const { parent } = start(executor, input);
    const { one, two, tasks } = await working(executor, input);
    parent.send({ type: 'cancel', child: 'one' });
    await waitFor(parent, ({ context }) => context.done.length === 1);
    expect((await executor.outcome(one))?.receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
    expect((await executor.load(one))?.snapshot.context.cancel).toMatchObject({
      requestedBy: 'parent',
      reason: 'the parent says so',
    });
    await server.control({ op: 'complete', taskId: tasks[1] });
    await waitFor(parent, ({ status }) => status === 'done');
    expect((await executor.outcome(two))?.receipt.outcome).toBe('completed');
  });

  it('a parked operation is onError with OperationParked, and stays for reconciliation', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const input = calls();
    const { parent } = start(executor, input);
    const { one, tasks } = await working(executor, input);
    await server.control({ op: 'forget', taskId: tasks[0] });
    const { context } = await waitFor(parent, (snapshot) => snapshot.context.failed.length === 1);
    expect(context.failed).toEqual([{ name: 'OperationParked', message: expect.stringContaining('unknown-id') }]);
    expect(await executor.reconcile(one, 'op', { verb: 'give-up', note: 'gone' })).toMatchObject({ kind: 'taken' });
  });

  it('a refused call is onError with the reason', async () => {
    const executor = await bench().executor();
    const input = { ...calls(), one: bench().call({}, { tool: 'sync' }) };
    const { parent } = start(executor, input);
    const { context } = await waitFor(parent, (snapshot) => snapshot.context.failed.length === 1);
    expect(context.failed[0]?.message).toContain('does not support tasks');
  });

  it('an inspector draws the real chart and lights its states', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const input = calls();
    const charts = new Set<unknown>();
    const lit = new Set<string>();
    const { parent } = start(executor, input, {
      inspect: (event) => {
        const logic = (event.actorRef as { logic?: { config?: { id?: string; states?: object } } }).logic;
        if (logic?.config?.id !== 'toolOperation') return;
        if (event.type === '@xstate.actor') charts.add(Object.keys(logic.config.states ?? {}).join(' '));
        if (event.type !== '@xstate.snapshot') return;
        const { value, context } = event.snapshot as OperationLogicSnapshot;
        if (context) lit.add(statePath({ value: value as never }));
      },
    });
    const { tasks } = await working(executor, input);
    for (const taskId of tasks) await server.control({ op: 'complete', taskId });
    await waitFor(parent, ({ status }) => status === 'done');
    expect([...charts]).toEqual([expect.stringContaining('SUBMITTING SUBMISSION_UNKNOWN')]);
    expect([...lit]).toEqual(expect.arrayContaining(['WORKING.polling', 'ACCEPTED']));
  });
});
