/** The audit where all is well (B12, G6). What it has to find is in the store behind a ledger: test that with your own means. */
import type { ReadyRow } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { acceptStep } from './steps.ts';

export function auditTopic(bench: Bench): void {
  const { describe, it, expect, create, pass } = bench;

  describe('audit', () => {
    it('G6: finds nothing at any time of the life of an operation', async () => {
      const { ledger } = bench;
      const sound = async () => expect(await ledger.audit()).toEqual([]);
      await sound();
      const operationId = await create();
      await sound();
      await ledger.acceptTerminal(acceptStep(operationId, '1'));
      await sound();
      const [row] = (await ledger.leaseReady('c', 5, 1000)) as [ReadyRow];
      await sound();
      await ledger.ackReady(row, 'c');
      await sound();
      pass(1000);
      await ledger.purge({ policy: { recordsMs: 1000, receiptsMs: null, tombstonesMs: null } });
      expect((await ledger.find(operationId)).kind).toBe('purged');
      await sound();
      await ledger.purge({ policy: { recordsMs: 1000, receiptsMs: 1000, tombstonesMs: null } });
      expect(await ledger.readReceipt(operationId)).toBeNull();
      await sound();
    });
  });
}
