/** How far each partition has come, and records of an older history (B4, G2). */
import type { PartitionHistory } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { acceptStep, newOperation, step } from './steps.ts';

export function historyTopic(bench: Bench): void {
  const { describe, it, expect, open, create, now } = bench;

  describe('history', () => {
    /** All operations of these tests stand in one partition. */
    const HERE = 1;
    const operationHere = (): string => {
      for (;;) {
        const operationId = newOperation(bench.ledger);
        if (bench.ledger.partitionOf(operationId) === HERE) return operationId;
      }
    };
    const createHere = async (): Promise<string> => {
      const operationId = operationHere();
      await bench.ledger.create(step(operationId), null);
      return operationId;
    };
    const here = async (): Promise<PartitionHistory> => {
      const histories = await bench.ledger.histories();
      expect(histories).toHaveLength(3);
      return histories[HERE] as PartitionHistory;
    };

    it('G6: a look at what is being written finds nothing forgotten', async () => {
      const { ledger } = bench;
      const looks: unknown[] = [];
      for (let round = 0; round < 20; round++) {
        const [, look] = await Promise.all([createHere(), here(), createHere()]);
        looks.push(look.regressed);
      }
      expect(looks).toEqual(looks.map(() => false));
      expect(await ledger.audit()).toEqual([]);
    });

    it('rises with each step that writes, and stays where nothing is written', async () => {
      const { ledger } = bench;
      const numbers: number[] = [];
      const noted = async (written: Promise<unknown>): Promise<void> => {
        await written;
        numbers.push((await here()).shown.number);
      };
      const operationId = operationHere();
      const next = { ...step(operationId), expectedRevision: '1' };
      await noted(ledger.create(step(operationId), null));
      await noted(ledger.commit(next));
      await noted(ledger.acceptTerminal(acceptStep(operationId, '2')));
      const [row] = await ledger.leaseReady('c', 5, 1000);
      if (row === undefined) throw new Error('an accepted operation has no ready row');
      await noted(ledger.ackReady(row, 'c'));
      await noted(ledger.setAdapter('any', 'draining'));
      await noted(ledger.setRollout('rules', '0'));
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));

      const last = await here();
      await ledger.commit(next);
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      await ledger.create(step(operationId), null);
      await ledger.setRollout('other rules', '0');
      expect((await here()).shown).toEqual(last.shown);
    });

    it('names each partition once, and always so', async () => {
      const { ledger } = bench;
      const names = (await ledger.histories()).map(({ partition }) => partition);
      expect(names).toEqual(['p00', 'p01', 'p02']);
      const again = await open();
      expect((await again.histories()).map(({ partition }) => partition)).toEqual(names);
    });

    it('can be acknowledged where nobody saw a loss', async () => {
      const { ledger } = bench;
      await createHere();
      const { partition, shown, acknowledged } = await here();
      expect([shown.epoch, acknowledged]).toEqual([1, null]);
      expect(await ledger.acknowledgeRegress('operator', [partition])).toMatchObject([
        { partition, shown: { epoch: 2, number: shown.number }, regressed: false, acknowledged: { by: 'operator' } },
      ]);
      expect((await here()).acknowledged).toEqual({ by: 'operator', at: now() });
      await expect(ledger.acknowledgeRegress('operator', ['nowhere'])).rejects.toThrow();
    });

    it('B4 G2: refuses the steps of a record of an older history, until it is taken over', async () => {
      const { ledger } = bench;
      const creates = 'mcp-test';
      const [kept, taken] = [await createHere(), await createHere()];
      const { partition } = await here();
      await ledger.acknowledgeRegress('operator', [partition]);
      const older = { kind: 'olderHistory' };
      const commit = (operationId: string, revision: string, olderHistory?: 'keep' | 'adopt') =>
        ledger.commit({
          ...step(operationId, { creates }),
          expectedRevision: revision,
          ...(olderHistory ? { olderHistory } : {}),
        });
      expect(await commit(kept, '1')).toEqual(older);
      expect(await ledger.load(kept)).toMatchObject({ revision: '1' });
      expect(await commit(kept, '1', 'keep')).toEqual({ kind: 'committed', revision: '2' });
      expect(await commit(kept, '2')).toEqual(older);
      expect(await commit(taken, '1', 'adopt')).toEqual({ kind: 'committed', revision: '2' });
      expect(await commit(taken, '2')).toEqual({ kind: 'committed', revision: '3' });
      // Who is late is told so first.
      expect(await commit(kept, '1')).toEqual({ kind: 'conflict', revision: '2' });
      // What is made now is of this history, and of an older one after the next regress.
      const fresh = await createHere();
      expect(await commit(fresh, '1')).toMatchObject({ kind: 'committed' });
      await ledger.acknowledgeRegress('operator', [partition]);
      expect(await commit(fresh, '2')).toEqual(older);
      expect(await commit(taken, '3')).toEqual(older);
      // Nothing of this concerns another partition.
      const elsewhere = await create();
      expect(await ledger.commit({ ...step(elsewhere), expectedRevision: '1' })).toMatchObject({ kind: 'committed' });
    });
  });
}
