/** Where the operation of a call node stands (B3). */
import type { Bench } from './bench.ts';
import { NAMESPACE, newOperation, step } from './steps.ts';

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
      const ids = Array.from({ length: 40 }, () => newOperation(ledger));
      for (const id of ids) {
        expect(id).toMatch(/^p\d{2,}\.[0-9a-f]{64}$/);
        expect(ledger.partitionOf(id)).toBe(Number(id.slice(1, id.indexOf('.'))));
      }
      expect(new Set(ids.map((id) => ledger.partitionOf(id)))).toEqual(new Set([0, 1, 2]));
      expect(ledger.partitionOf('nonsense')).toBeNull();
      expect(ledger.partitionOf('')).toBeNull();
      await expect(ledger.load('nonsense')).rejects.toThrow(RangeError);
      await expect(ledger.commit({ ...step('nonsense'), expectedRevision: '1' })).rejects.toThrow(RangeError);
    });
  });
}
