/** A ledger of shadows (R1): the same, and nothing of it is ever consumed. */
import { LedgerIncompatible, type OperationLedger, shadowNamespace } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { acceptStep, NAMESPACE, step, unique } from './steps.ts';

export function shadowsTopic(bench: Bench): void {
  const { describe, it, expect, open } = bench;

  describe('shadows', () => {
    const openShadows = () => open({ kind: 'shadow', partitions: 3 });
    const shadowIn = (shadows: OperationLedger): string =>
      shadows.operationIdOf({ namespace: shadowNamespace(NAMESPACE), principal: 'alice', callNodeId: unique('node') });

    it('R1: an acceptance in a ledger of shadows writes record and receipt, and no ready row', async () => {
      const { ledger } = bench;
      const shadows = await openShadows();
      expect([shadows.kind, ledger.kind]).toEqual(['shadow', 'operations']);
      const operationId = shadowIn(shadows);
      await shadows.create(step(operationId), null);
      const terminal = acceptStep(operationId, '1');
      expect(await shadows.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
      expect(await shadows.acceptTerminal(acceptStep(operationId, '2'))).toMatchObject({ kind: 'duplicate' });
      expect(await shadows.readReceipt(operationId)).toBe(terminal.receipt);
      expect(await shadows.leaseReady('c', 10, 1000)).toEqual([]);
      expect(await shadows.audit()).toEqual([]);
      // Nothing of it is seen in the ledger of operations.
      expect(await ledger.leaseReady('c', 10, 1000)).toEqual([]);
      expect((await ledger.list({ limit: 5 })).operations).toEqual([]);
      expect(await ledger.audit()).toEqual([]);
    });

    it('R1: the kind is fixed when the namespace is made', async () => {
      await openShadows();
      await expect(open({ namespace: shadowNamespace(NAMESPACE) })).rejects.toThrow(LedgerIncompatible);
      await open({ namespace: shadowNamespace('plain') });
      await expect(open({ namespace: 'plain', kind: 'shadow' })).rejects.toThrow(LedgerIncompatible);
    });

    it('G3 F9: shares with its namespace what is known of servers', async () => {
      const { ledger } = bench;
      const shadows = await openShadows();
      expect((await ledger.takePermit('server', 1, 1)).waitMs).toBe(0);
      expect((await shadows.takePermit('server', 1, 1)).waitMs).toBe(1000);
      expect(await ledger.ownTask('e', 't', 'op-a')).toBe('op-a');
      expect(await shadows.ownTask('e', 't', 'op-b')).toBe('op-a');
    });

    it('keeps what is known of a comparison, and replaces only what was seen', async () => {
      const shadows = await openShadows();
      const all = async () => {
        const found: [string, string][] = [];
        for await (const { operationId, text } of shadows.comparisons()) found.push([operationId, text]);
        return found;
      };
      const operationId = shadowIn(shadows);
      expect([await shadows.comparison(operationId), await all()]).toEqual([null, []]);
      expect(await shadows.setComparison(operationId, null, 'first')).toBe('first');
      expect(await shadows.setComparison(operationId, null, 'another')).toBe('first');
      expect(await shadows.setComparison(operationId, 'other', 'third')).toBe('first');
      expect(await shadows.setComparison(operationId, 'first', 'second')).toBe('second');
      expect([await shadows.comparison(operationId), await all()]).toEqual(['second', [[operationId, 'second']]]);
      expect(await shadows.setComparison(shadowIn(shadows), 'gone', 'x')).toBe('');
      await expect(shadows.setComparison(operationId, null, 'x'.repeat(65_537))).rejects.toThrow();
    });
  });
}
