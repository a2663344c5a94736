/** The scripts of the outbox, and rows of which a part is gone (B12, G6). */
import { describe, expect, it } from 'vitest';
import type { ReadyRow } from '../../../machines/operation-ledger.ts';
import { Keys } from '../../../persistence/keys.ts';
import { acceptStep, NAMESPACE } from '../steps.ts';
import { partitionKey, runOnHistory, type StoreBench } from './bench.ts';

export function outboxInStore(bench: StoreBench): void {
  const { create, now } = bench;

  describe('outbox', () => {
    const accept = async (): Promise<string> => {
      const operationId = await create();
      await bench.ledger.acceptTerminal(acceptStep(operationId, '1'));
      return operationId;
    };

    it('answers a repeated lease with the same rows', async () => {
      const { ledger, store } = bench;
      const operationId = await accept();
      const keys = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));
      const host = await store.host();
      const lease = (token: string) =>
        runOnHistory(
          host,
          keys,
          'lease-ready',
          [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumers, keys.receipts, keys.delivering],
          [String(now()), token, 'c', '5', '1000'],
        );
      const first = await lease('token-1');
      expect(first).toEqual([operationId, await ledger.readReceipt(operationId)]);
      expect(await lease('token-1')).toEqual(first);
      expect(await lease('token-2')).toEqual([]);
      await host.close();
    });

    it('repeats of a lease what is still leased so', async () => {
      const { store } = bench;
      const operationId = await accept();
      const keys = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));
      const host = await store.host();
      const lease = () =>
        runOnHistory(
          host,
          keys,
          'lease-ready',
          [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumers, keys.receipts, keys.delivering],
          [String(now()), 'token', 'c', '5', '1000'],
        );
      expect(await lease()).toHaveLength(2);
      const acknowledged = await runOnHistory(
        host,
        keys,
        'ack-ready',
        [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumed, keys.settled, keys.delivering],
        [String(now()), 'c', operationId, 'token'],
      );
      expect(acknowledged).toEqual(['1']);
      expect(await lease()).toEqual([]);
      await host.close();
    });

    it('keeps nothing for a consumer that got nothing', async () => {
      const { store } = bench;
      const keys = new Keys(NAMESPACE).partition(0);
      const host = await store.host();
      const leased = await runOnHistory(
        host,
        keys,
        'lease-ready',
        [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumers, keys.receipts, keys.delivering],
        [String(now()), 'token', 'idle', '5', '1000'],
      );
      expect(leased).toEqual([]);
      expect(await host.run('entries', [keys.consumers], [String(now())])).toEqual([]);
      await host.close();
    });

    it('names a partition that is none', async () => {
      const { ledger } = bench;
      await expect(ledger.leaseReady('c', 100, 1000, [ledger.partitions])).rejects.toThrow(RangeError);
    });

    it('leases nothing without a receipt or without a row, and acknowledges nothing whose row is gone', async () => {
      const { ledger, store } = bench;
      const [lost, unready, leased] = [await accept(), await accept(), await accept()];
      await store.plant(partitionKey(lost, 'rc'), lost, null);
      await store.plant(partitionKey(unready, 'ready'), unready, null);
      const rows = await ledger.leaseReady('c', 5, 1000);
      expect(rows.map(({ operationId }) => operationId)).toEqual([leased]);
      await store.plant(partitionKey(leased, 'ready'), leased, null);
      expect(await ledger.ackReady(rows[0] as ReadyRow, 'c')).toBe(false);
    });
  });
}
