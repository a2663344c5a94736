/** The form of our ids. */
import { describe, expect, it } from 'vitest';
import { NAMESPACE } from '../steps.ts';
import type { StoreBench } from './bench.ts';

export function identityInStore(bench: StoreBench): void {
  describe('identity', () => {
    it('says the partition and a SHA-256 sum', () => {
      const { ledger } = bench;
      const node = { namespace: NAMESPACE, principal: 'a', callNodeId: 'n' };
      expect(ledger.operationIdOf(node)).toMatch(/^p0[012]\.[0-9a-f]{64}$/);
      expect(() => ledger.operationIdOf({ ...node, namespace: 'other' })).toThrow(/namespace/);
      expect(
        ['', 'p03.', `p03.${'0'.repeat(64)}`, `p00.${'0'.repeat(64)}`].map((id) => ledger.partitionOf(id)),
      ).toEqual([null, null, null, 0]);
    });

    it('is of other texts in another namespace', async () => {
      const other = await bench.open({ namespace: 'other{}' });
      const node = { principal: 'a', callNodeId: 'n' };
      const here = bench.ledger.operationIdOf({ namespace: NAMESPACE, ...node });
      const there = other.operationIdOf({ namespace: 'other{}', ...node });
      expect(here.slice(4)).not.toBe(there.slice(4));
    });

    it('refuses ids of other ledgers with clear words', async () => {
      const { ledger } = bench;
      await expect(ledger.load('nonsense')).rejects.toThrow(/no operation of this ledger/);
      await expect(ledger.load(`p77.${'0'.repeat(64)}`)).rejects.toThrow(/no operation of this ledger/);
    });
  });
}
