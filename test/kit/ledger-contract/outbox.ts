/** What was accepted is consumed by one consumer, and none of it is lost (B12, G6). */
import type { ReadyRow } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { acceptStep } from './steps.ts';

export function outboxTopic(bench: Bench): void {
  const { describe, it, expect, create, pass } = bench;

  describe('outbox', () => {
    const accept = async (): Promise<string> => {
      const operationId = await create();
      await bench.ledger.acceptTerminal(acceptStep(operationId, '1'));
      return operationId;
    };

    it('leases a row to one consumer and forgets it when it is acknowledged', async () => {
      const { ledger } = bench;
      const operationId = await accept();
      const [row] = (await ledger.leaseReady('c1', 5, 1000)) as [ReadyRow];
      expect(row).toMatchObject({ operationId, receipt: await ledger.readReceipt(operationId) });
      expect(await ledger.leaseReady('c2', 5, 1000)).toEqual([]);
      expect(await ledger.ackReady(row, 'c2')).toBe(false);
      expect(await ledger.ackReady(row, 'c1')).toBe(true);
      expect(await ledger.ackReady(row, 'c1')).toBe(true);
      pass(5000);
      expect(await ledger.leaseReady('c2', 5, 1000)).toEqual([]);
      expect(await ledger.readReceipt(operationId)).not.toBeNull();
      expect(await ledger.audit()).toEqual([]);
    });

    it('gives a row to somebody else when the lease is over', async () => {
      const { ledger } = bench;
      await accept();
      const [row] = (await ledger.leaseReady('c1', 5, 1000)) as [ReadyRow];
      pass(1001);
      const [again] = (await ledger.leaseReady('c2', 5, 1000)) as [ReadyRow];
      expect(again.operationId).toBe(row.operationId);
      expect(await ledger.ackReady(row, 'c1')).toBe(false);
      expect(await ledger.ackReady(again, 'c2')).toBe(true);
      expect(await ledger.ackReady(row, 'c1')).toBe(false);
    });

    it('acknowledges many rows at once, each by its own lease', async () => {
      const { ledger } = bench;
      for (let row = 0; row < 12; row++) await accept();
      const rows = await ledger.leaseReady('c', 100, 1000);
      expect(rows).toHaveLength(12);
      const [lost, ...kept] = rows as [ReadyRow, ...ReadyRow[]];
      const acks = [
        ledger.ackReady({ ...lost, token: 'another' }, 'c'),
        ...kept.map((row) => ledger.ackReady(row, 'c')),
      ];
      expect(await Promise.all(acks)).toEqual([false, ...kept.map(() => true)]);
      pass(1001);
      expect((await ledger.leaseReady('d', 100, 1000)).map((row) => row.operationId)).toEqual([lost.operationId]);
      expect(await ledger.audit()).toEqual([]);
    });

    it('leases in the partitions that it is told, and in no other', async () => {
      const { ledger } = bench;
      const ids = await Promise.all(Array.from({ length: 12 }, () => accept()));
      const partition = ledger.partitionOf(ids[0] as string) as number;
      const there = ids.filter((id) => ledger.partitionOf(id) === partition);
      const rows = await ledger.leaseReady('c', 100, 1000, [partition]);
      expect(rows.map((row) => row.operationId).sort()).toEqual(there.sort());
      expect(await ledger.leaseReady('c', 100, 1000, [])).toEqual([]);
      await expect(ledger.leaseReady('c', 100, 1000, [ledger.partitions])).rejects.toThrow();
      expect(await ledger.leaseReady('c', 100, 1000)).toHaveLength(12 - there.length);
    });

    it('gives a consumer what is new while it still has something', async () => {
      const { ledger } = bench;
      // Two of four share a partition.
      for (let row = 0; row < 4; row++) {
        const operationId = await accept();
        const leased = await ledger.leaseReady('c', 5, 1000);
        expect(leased.map((each) => each.operationId)).toEqual([operationId]);
      }
    });

    it('hands out each row once to many consumers', async () => {
      const { ledger } = bench;
      const all = await Promise.all(Array.from({ length: 20 }, accept));
      const leased = await Promise.all(['a', 'b', 'c', 'd'].map((consumer) => ledger.leaseReady(consumer, 8, 1000)));
      const rows = leased.flat();
      expect(Math.max(...leased.map((each) => each.length))).toBeLessThanOrEqual(8);
      expect(new Set(rows.map((row) => row.operationId)).size).toBe(rows.length);
      pass(1001);
      expect((await ledger.leaseReady('e', 100, 1000)).map((row) => row.operationId).sort()).toEqual(all.sort());
    });
  });
}
