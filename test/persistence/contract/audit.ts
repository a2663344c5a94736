/** What the audit finds where somebody changed the store. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../machines/digest.ts';
import type { ReadyRow } from '../../../machines/operation-ledger.ts';
import { acceptStep, newOperation } from '../steps.ts';
import { partitionKey, type StoreBench } from './bench.ts';

export function auditInStore(bench: StoreBench): void {
  const { create } = bench;

  describe('audit', () => {
    it('finds a ready row that no consumer can lease', async () => {
      const { ledger, store } = bench;
      const operationId = await create();
      await ledger.acceptTerminal(acceptStep(operationId, '1'));
      const [row] = (await ledger.leaseReady('c', 5, 1000)) as [ReadyRow];
      await ledger.ackReady(row, 'c');
      await store.plant(partitionKey(operationId, 'consumed'), operationId, null);
      await store.plant(partitionKey(operationId, 'ready'), operationId, sha256(row.receipt));
      expect(await ledger.audit()).toEqual([{ operationId, problem: 'a ready row that no consumer can lease' }]);
    });

    it('finds what is not one-to-one', async () => {
      const { ledger, store } = bench;
      const [lost, unready, twice, changed] = (await Promise.all(
        Array.from({ length: 4 }, async () => {
          const operationId = await create();
          await ledger.acceptTerminal(acceptStep(operationId, '1'));
          return operationId;
        }),
      )) as [string, string, string, string];
      const orphan = newOperation(ledger);
      expect(await ledger.audit()).toEqual([]);
      await store.plant(partitionKey(lost, 'rc'), lost, null);
      await store.plant(partitionKey(unready, 'ready'), unready, null);
      await store.plant(partitionKey(twice, 'consumed'), twice, `${'0'.repeat(64)} c t`);
      await store.plant(partitionKey(changed, 'rc'), changed, 'another receipt');
      await store.plant(partitionKey(orphan, 'rc'), orphan, 'a receipt from nowhere');
      const findings = await ledger.audit();
      const of = (operationId: string) =>
        findings.filter((each) => each.operationId === operationId).map(({ problem }) => problem);
      expect(of(lost)).toEqual([expect.stringContaining('gone'), 'a ready row without a receipt']);
      expect(of(unready)).toContain('a receipt with neither a ready row nor a consumed mark');
      expect(of(twice)).toContain('a ready row of something already consumed');
      expect(of(changed)).toEqual(['a ready row of another receipt']);
      expect(of(orphan)).toContain('a receipt without a record');
    });
  });
}
