/** Where the operation of a call node stands (B3). */
import type { Bench } from './bench.ts';
import { NAMESPACE, newOperation } from './steps.ts';

export function identityTopic(bench: Bench): void {
  const { describe, it, expect } = bench;

  describe('identity', () => {
    it('is a function of namespace, principal and call node', async () => {
      const { ledger } = bench;
      const node = { namespace: NAMESPACE, principal: 'a', callNodeId: 'n' };
      expect(ledger.operationIdOf(node)).toBe(ledger.operationIdOf({ ...node }));
      expect(ledger.operationIdOf({ ...node, principal: 'b' })).not.toBe(ledger.operationIdOf(node));
      expect(ledger.operationIdOf({ ...node, callNodeId: 'm' })).not.toBe(ledger.operationIdOf(node));
      // An executor of another namespace has to notice.
      expect(() => ledger.operationIdOf({ ...node, namespace: 'other' })).toThrow();
    });

    it('carries its partition, and what is no operation of this ledger has none', async () => {
      const { ledger } = bench;
      const partitions = Array.from({ length: 40 }, () => ledger.partitionOf(newOperation(ledger)));
      for (const partition of partitions) expect([0, 1, 2]).toContain(partition);
      expect(new Set(partitions).size).toBe(3);
      expect(ledger.partitionOf('nonsense')).toBeNull();
      expect(ledger.partitionOf('')).toBeNull();
      await expect(ledger.load('nonsense')).rejects.toThrow();
    });
  });
}
