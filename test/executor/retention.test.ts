/** What is over ages out, and its call is never made again: B4, B12, and an old persisted parent (issue 5.5). */
import { afterEach, describe, expect, it } from 'vitest';
import { type Actor, createActor, waitFor } from 'xstate';
import { createOperationLogic, OperationPurged } from '../../machines/index.ts';
import { useBench } from '../support/bench.ts';
import { parentMachine } from '../support/parent-machine.ts';
import { accepted, eventually, LEDGERS } from '../support/rig.ts';

const AT_ONCE = { recordsMs: 0, receiptsMs: null, tombstonesMs: null } as const;

describe.each(LEDGERS)('retention on the %s ledger', (kind) => {
  const bench = useBench(kind);
  const parents: Actor<ReturnType<typeof parentMachine>>[] = [];
  afterEach(() => {
    for (const parent of parents.splice(0)) parent.stop();
  });

  /** How often a tool was called. */
  async function calls(): Promise<number> {
    const { requests } = await bench().server.log();
    return requests.filter(({ method }) => method === 'tools/call').length;
  }
  async function consumeAll(): Promise<void> {
    const { ledger } = bench();
    for (const row of await ledger.leaseReady('test', 100, 10_000)) await ledger.ackReady(row, 'test');
  }

  it('B4, B12: a repeated submit is refused with what became of the call; its receipt is there, then not', async () => {
    const { ledger } = bench();
    const before = await calls();
    const executor = await bench().executor();
    const call = bench().call({});
    const operationId = await accepted(executor, call);
    const first = await executor.wait(operationId);
    expect(first.output).not.toBeNull();
    await consumeAll();
    await eventually(async () => (await ledger.purge({ policy: AT_ONCE })).records.count === 1);

    expect(await executor.submit(call)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/was made and ended as completed.*record was purged.*receipt is still there/),
    });
    expect(await executor.submit({ ...call, arguments: {} })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('already made another request'),
    });
    const after = { receipt: first.receipt, output: null, outputPurged: true };
    expect(await executor.outcome(operationId)).toEqual(after);
    expect(await executor.wait(operationId)).toEqual(after);
    expect(await executor.cancel(operationId)).toEqual({ kind: 'missing' });

    await eventually(async () => (await ledger.purge({ policy: { ...AT_ONCE, receiptsMs: 0 } })).receipts.count === 1);
    expect(await executor.submit(call)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/was made and ended as completed.*receipt was purged/),
    });
    expect(await executor.outcome(operationId)).toBeNull();
    await expect(executor.wait(operationId)).rejects.toThrow(OperationPurged);
    expect((await calls()) - before).toBe(1);
  });

  it('an old persisted parent gets the receipt that is kept, or an error, and starts nothing', async () => {
    const { ledger } = bench();
    const before = await calls();
    const executor = await bench().executor();
    const input = { one: bench().call({}), two: bench().call({}) };
    const machine = parentMachine(createOperationLogic({ executor }), () => undefined);
    const parent = createActor(machine, { input });
    parents.push(parent);
    const persisted = JSON.parse(JSON.stringify(parent.start().getPersistedSnapshot()));
    await waitFor(parent, ({ status }) => status === 'done');
    await consumeAll();
    await eventually(async () => {
      await ledger.purge({ policy: AT_ONCE });
      return (await ledger.list({ limit: 5 })).operations.length === 0;
    });
    const restore = async () => {
      const news: unknown[] = [];
      const again = parentMachine(createOperationLogic({ executor }), (told) => news.push(told));
      const restored = createActor(again, { input, snapshot: persisted });
      parents.push(restored);
      restored.start();
      await eventually(async () => news.length === 2);
      return news;
    };
    const receipts = await Promise.all(
      [input.one, input.two].map(async (call) => (await executor.wait(executor.operationIdOf(call))).receipt.receiptId),
    );
    expect(await restore()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ child: 'one', done: receipts[0] }),
        expect.objectContaining({ child: 'two', done: receipts[1] }),
      ]),
    );
    await ledger.purge({ policy: { ...AT_ONCE, receiptsMs: 0 } });
    expect(await restore()).toEqual(
      expect.arrayContaining([
        { child: 'one', failed: 'OperationPurged' },
        { child: 'two', failed: 'OperationPurged' },
      ]),
    );
    expect((await calls()) - before).toBe(2);
  });

  it('an executor purges by itself where it is told to, and only then', async () => {
    const { ledger } = bench();
    const idle = await bench().executor();
    const operationId = await accepted(idle, bench().call({}));
    await idle.wait(operationId);
    await consumeAll();
    await bench().executor({ retention: { recordsMs: 0 }, purgeEveryMs: 20 });
    await eventually(async () => (await ledger.find(operationId)).kind === 'purged');
    expect(await ledger.readReceipt(operationId)).not.toBeNull();
  });
});
