/** Creating is switched off for all (R3). */
import type { Bench } from './bench.ts';
import { newOperation, step } from './steps.ts';

export function creatingTopic(bench: Bench): void {
  const { describe, it, expect, create, claim } = bench;

  describe('switches: creating', () => {
    const creates = 'mcp-test';

    it('R3: is on until it is switched off, for every partition', async () => {
      const { ledger } = bench;
      expect(await ledger.creation()).toEqual([true, true, true]);
      await ledger.setCreation(false);
      expect(await ledger.creation()).toEqual([false, false, false]);
      expect(await ledger.creationOf(newOperation(ledger))).toEqual({ allowed: false, epoch: 1 });
      await ledger.setCreation(true);
      expect(await ledger.creation()).toEqual([true, true, true]);
    });

    it('R3: switched off, nothing is created and nothing is sent; everything else goes on', async () => {
      const { ledger } = bench;
      const before = await create({ creates });
      await ledger.setCreation(false);
      const operationId = newOperation(ledger);
      const first = step(operationId, { creates });
      expect(await ledger.create(first, null)).toEqual({ kind: 'creationOff' });
      expect(await ledger.create(step(operationId), null)).toEqual({ kind: 'creationOff' });
      expect(await ledger.load(operationId)).toBeNull();
      const sending = { ...step(before, { creates }), expectedRevision: '1' };
      expect(await ledger.commit(sending)).toEqual({ kind: 'creationOff' });
      expect(await ledger.commit({ ...step(before), expectedRevision: '1' })).toMatchObject({ kind: 'committed' });
      expect((await claim('a')).claimed).toMatchObject([{ operationId: before }]);

      await ledger.setCreation(true);
      expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
      expect(await ledger.commit({ ...sending, expectedRevision: '2' })).toMatchObject({ kind: 'committed' });
    });

    it('R3 R4: each switch says no for itself, the epoch first', async () => {
      const { ledger } = bench;
      const asks = () => ledger.create(step(newOperation(ledger), { creates }), null);
      await ledger.setAdapter(creates, 'draining');
      expect(await asks()).toMatchObject({ kind: 'switchedOff' });
      await ledger.setCreation(false);
      expect(await asks()).toEqual({ kind: 'creationOff' });
      await ledger.raiseEpoch();
      expect(await asks()).toEqual({ kind: 'epochOver', epoch: 2 });
      expect(Object.keys(await ledger.adapters())).toEqual([creates]);
    });
  });
}
