/** The execution epoch (R3, F8). */
import { EPOCH_RAISED } from '../../../machines/operation-ledger.ts';
import { type Bench, eventually } from './bench.ts';
import { fields, newOperation, step } from './steps.ts';

export function epochTopic(bench: Bench): void {
  const { describe, it, expect, open, create, claim, pass } = bench;

  describe('switches: the execution epoch', () => {
    const creates = 'mcp-test';
    const under = (executionEpoch: number) => ({ fields: { ...fields, executionEpoch: String(executionEpoch) } });

    it('R3: a ledger begins under epoch 1, and raising is written into every partition', async () => {
      const { ledger } = bench;
      expect([await ledger.epoch(), await ledger.epochs()]).toEqual([1, [1, 1, 1]]);
      expect(await ledger.raiseEpoch()).toBe(2);
      expect([await ledger.epoch(), await ledger.epochs()]).toEqual([2, [2, 2, 2]]);
      expect(await ledger.raiseEpoch(12)).toBe(12);
      expect(await ledger.creationOf(newOperation(ledger))).toEqual({ allowed: true, epoch: 12 });
    });

    it('R3: raising to the same epoch changes nothing; nothing ever goes back', async () => {
      const { ledger } = bench;
      await ledger.raiseEpoch(12);
      expect(await ledger.raiseEpoch(12)).toBe(12);
      await expect(ledger.raiseEpoch(9)).rejects.toThrow(RangeError);
      await expect(ledger.raiseEpoch(12.5)).rejects.toThrow(RangeError);
      expect(await ledger.epochs()).toEqual([12, 12, 12]);
    });

    it('R3: under an epoch that is over nothing is created and nothing is sent; evidence is still written down', async () => {
      const { ledger } = bench;
      const before = await create(under(1));
      await ledger.raiseEpoch(10);
      const operationId = newOperation(ledger);
      // As numbers, not as texts.
      expect(await ledger.create(step(operationId, under(9)), null)).toEqual({ kind: 'epochOver', epoch: 10 });
      expect(await ledger.load(operationId)).toBeNull();
      const sending = { ...step(before, { creates, ...under(9) }), expectedRevision: '1' };
      expect(await ledger.commit(sending)).toEqual({ kind: 'epochOver', epoch: 10 });
      expect(await ledger.load(before)).toMatchObject({ revision: '1' });
      const evidence = { ...step(before, under(1)), expectedRevision: '1' };
      expect(await ledger.commit(evidence)).toEqual({ kind: 'committed', revision: '2' });

      // Adopted, it may be sent; a newer epoch than the partition's may do everything.
      const adopted = { ...step(before, { creates, ...under(10) }), expectedRevision: '2' };
      expect(await ledger.commit(adopted)).toEqual({ kind: 'committed', revision: '3' });
      expect(await ledger.create(step(operationId, under(11)), null)).toMatchObject({ kind: 'created' });
    });

    it('R3: what was done before the raise is answered as done', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const first = step(operationId, under(1));
      const second = { ...step(operationId, { creates, ...under(1) }), expectedRevision: '1' };
      await ledger.create(first, null);
      await ledger.commit(second);
      await ledger.raiseEpoch();
      expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
      expect(await ledger.create(step(operationId, under(1)), null)).toMatchObject({ kind: 'exists' });
      expect(await ledger.commit(second)).toEqual({ kind: 'committed', revision: '2' });
    });

    it('R3: whoever asks under an older epoch gets nothing any more, and is told', async () => {
      const { ledger } = bench;
      await create(under(1));
      await ledger.raiseEpoch(10);
      expect(await claim('old', 10, ['endpoint:e'], 9)).toEqual({ claimed: [], nextDueAt: null, epochOver: 10 });
      const { claimed } = await claim('new', 10, ['endpoint:e'], 10);
      expect(claimed).toMatchObject([{ lease: { owner: 'new' } }]);
      pass(1001);
      // Ahead of the ledger, as an executor whose epoch was chosen for it.
      expect((await claim('ahead', 10, ['endpoint:e'], 11)).claimed).toMatchObject([{ lease: { owner: 'ahead' } }]);
    });

    it('R3: a raise is announced to every process', async () => {
      const { ledger } = bench;
      const heard: string[] = [];
      const other = await open();
      const unsubscribe = other.onChange((name) => heard.push(name));
      await eventually(async () => {
        await ledger.raiseEpoch();
        return heard.length > 0;
      }, 'the other process hears of a raise');
      unsubscribe();
      expect(new Set(heard)).toEqual(new Set([EPOCH_RAISED]));
    });
  });
}
