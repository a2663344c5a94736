/** The switches of adapters (R4). */
import type { Bench } from './bench.ts';
import { newOperation, step } from './steps.ts';

export function switchesTopic(bench: Bench): void {
  const { describe, it, expect } = bench;

  describe('switches', () => {
    const creates = 'mcp-test';

    it('R4: an adapter that was never switched is active', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      expect(await ledger.adapterState('never-set', operationId)).toBe('active');
      expect(await ledger.create(step(operationId, { creates: 'never-set' }), null)).toMatchObject({
        kind: 'created',
      });
    });

    for (const state of ['draining', 'disabled'] as const) {
      it(`R4: ${state}: nothing is created, and nothing is sent`, async () => {
        const { ledger } = bench;
        const before = newOperation(ledger);
        await ledger.create(step(before, { creates }), null);
        await ledger.setAdapter(creates, state);
        const after = newOperation(ledger);
        expect(await ledger.create(step(after, { creates }), null)).toEqual({ kind: 'switchedOff', state });
        expect(await ledger.load(after)).toBeNull();
        const sending = { ...step(before, { creates }), expectedRevision: '1' };
        expect(await ledger.commit(sending)).toEqual({ kind: 'switchedOff', state });
        expect((await ledger.load(before))?.revision).toBe('1');
        // Everything else goes on.
        expect(await ledger.commit({ ...step(before), expectedRevision: '1' })).toMatchObject({ kind: 'committed' });
        expect(await ledger.create(step(newOperation(ledger), { creates: 'other' }), null)).toMatchObject({
          kind: 'created',
        });
      });
    }

    it('R4: a step that was taken before is answered as taken, also when its adapter is off by now', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const first = step(operationId, { creates });
      const second = { ...step(operationId, { creates }), expectedRevision: '1' };
      await ledger.create(first, null);
      await ledger.commit(second);
      await ledger.setAdapter(creates, 'draining');
      expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
      expect(await ledger.commit(second)).toEqual({ kind: 'committed', revision: '2' });
    });

    it('R4: a change is in every partition when it is complete, and can be taken back', async () => {
      const { ledger } = bench;
      await ledger.setAdapter(creates, 'draining');
      const states = (await ledger.adapters())[creates];
      expect(states?.length).toBeGreaterThan(1);
      expect(new Set(states)).toEqual(new Set(['draining']));
      const operationId = newOperation(ledger);
      expect(await ledger.adapterState(creates, operationId)).toBe('draining');
      await ledger.setAdapter(creates, 'active');
      expect(await ledger.create(step(operationId, { creates }), null)).toMatchObject({ kind: 'created' });
    });
  });
}
