/** A namespace that is there already. */
import { LedgerIncompatible } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { NAMESPACE, newOperation, step } from './steps.ts';

export function openingTopic(bench: Bench): void {
  const { describe, it, expect, open } = bench;

  describe('opening', () => {
    it('keeps the number of partitions that the namespace was made with', async () => {
      const { ledger } = bench;
      const again = await open();
      expect(newOperation(again, 'x')).toBe(newOperation(ledger, 'x'));
      expect(again.partitions).toBe(3);
      await expect(open({ partitions: 4 })).rejects.toThrow(LedgerIncompatible);
    });

    it('keeps namespaces apart', async () => {
      const { ledger } = bench;
      const other = await open({ namespace: 'other{}' });
      const node = { principal: 'a', callNodeId: 'n' };
      const here = ledger.operationIdOf({ namespace: NAMESPACE, ...node });
      const there = other.operationIdOf({ namespace: 'other{}', ...node });
      expect(here).not.toBe(there);
      await ledger.create(step(here), null);
      expect((await other.list({ limit: 5 })).operations).toEqual([]);
    });
  });
}
