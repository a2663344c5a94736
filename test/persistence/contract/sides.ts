/** Sides that somebody else wrote (R2). */
import { describe, expect, it } from 'vitest';
import type { OperationLedger } from '../../../machines/operation-ledger.ts';
import { newOperation, step } from '../steps.ts';
import { partitionKey, type StoreBench } from './bench.ts';

export function sidesInStore(bench: StoreBench): void {
  const { open, create } = bench;

  describe('sides', () => {
    const side = (operationId: string, change: Partial<Parameters<OperationLedger['takeSide']>[0]> = {}) =>
      bench.ledger.takeSide({ operationId, version: '0', side: 'ordinary', why: 'tool 5%', ...change });

    it('R2: an operation record wins over a recorded side', async () => {
      const { ledger, store } = bench;
      const operationId = await create();
      await store.plant(partitionKey(operationId, 'sides'), operationId, 'ordinary 1 0 tool 5%');
      expect(await side(operationId)).toMatchObject({ kind: 'record' });
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'exists' });
    });

    it('R2: nobody decides by rules that were lost, as by a failover', async () => {
      const { ledger, store } = bench;
      const { version } = await ledger.setRollout('the rules', '0');
      expect(await side(newOperation(ledger), { version })).toMatchObject({ kind: 'side', version });
      await store.clear();
      const fresh = await open({ partitions: 3 });
      expect(await fresh.takeSide({ operationId: newOperation(fresh), version, side: 'shadow', why: '' })).toEqual({
        kind: 'rules',
        rollout: { version: '0', text: '' },
      });
    });

    it('a side that is none is not believed', async () => {
      const { ledger, store } = bench;
      const operationId = newOperation(ledger);
      await store.plant(partitionKey(operationId, 'sides'), operationId, 'sideways 1 0 x');
      await expect(side(operationId)).rejects.toThrow(/unknown answer/);
    });
  });
}
