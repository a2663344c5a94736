/** Marks and rows that something else has left behind (G5, G6). */
import { describe, expect, it } from 'vitest';
import type { ReadyRow } from '../../../machines/operation-ledger.ts';
import { Keys } from '../../../persistence/keys.ts';
import { acceptStep, NAMESPACE, step } from '../steps.ts';
import { partitionKey, runOnHistory, type StoreBench } from './bench.ts';

export function vitalsInStore(bench: StoreBench): void {
  const { create, now, pass } = bench;

  describe('vitals', () => {
    const NONE = { count: 0, oldestAgeMs: 0 };
    const revisions = new Map<string, number>();
    const moves = async (
      operationId: string,
      state: string,
      uncertainty?: NonNullable<Parameters<typeof step>[1]>['uncertainty'],
    ) => {
      const revision = revisions.get(operationId) ?? 1;
      const expectedRevision = String(revision);
      const change = { state, ...(uncertainty === undefined ? {} : { uncertainty }) };
      const answer = await bench.ledger.commit({ ...step(operationId, change), expectedRevision });
      expect(answer.kind).toBe('committed');
      revisions.set(operationId, revision + 1);
    };

    it('G5: a mark that an older executor left behind is cleared away, and no other', async () => {
      const { ledger, store } = bench;
      const operations = [await create(), await create(), await create()] as const;
      for (const operationId of operations.slice(0, 2)) {
        await moves(operationId, 'PARKED.idle', { before: null, after: 'parked' });
        pass(100);
      }
      await moves(operations[2], 'SUBMISSION_UNKNOWN', { before: null, after: 'open' });
      await moves(operations[0], 'WORKING.polling');
      await moves(operations[2], 'WORKING.polling');
      expect(await ledger.vitals()).toMatchObject({ open: NONE, parked: { count: 1, oldestAgeMs: 100 } });
      const keys = new Keys(NAMESPACE).partition(Number(operations[1].slice(1, 3)));
      const host = await store.host();
      const cleared = [keys.operation(operations[1]), keys.unknown, keys.parked];
      expect(await host.run('certain', cleared, [String(now()), operations[1], '1'])).toBe(0);
      expect(await ledger.vitals()).toMatchObject({ parked: { count: 1, oldestAgeMs: 100 } });
      await host.close();
      // Nothing is unknown of an operation that is gone.
      await store.replace(keys.operation(operations[1]), null);
      expect(await ledger.vitals()).toMatchObject({ open: NONE, parked: NONE });
    });

    it('G6: a row that a consumer of the release before acknowledged waits no more', async () => {
      const { ledger, store } = bench;
      const operationId = await create();
      await ledger.acceptTerminal(acceptStep(operationId, '1'));
      const [row] = (await ledger.leaseReady('c', 10, 1000)) as [ReadyRow];
      const keys = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));
      const host = await store.host();
      const before = [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumed, keys.settled, keys.gone];
      const args = [String(now()), 'c', operationId, row.token];
      expect(await runOnHistory(host, keys, 'ack-ready', before, args)).toEqual(['1']);
      pass(1000);
      expect((await ledger.vitals()).readyAgeMs).toBe(0);
      await host.close();
    });

    it('G6: nobody waits for an entry of the queue whose row is gone', async () => {
      const { ledger, store } = bench;
      const operationId = await create();
      await ledger.acceptTerminal(acceptStep(operationId, '1'));
      await store.plant(partitionKey(operationId, 'ready'), operationId, null);
      pass(1000);
      expect((await ledger.vitals()).readyAgeMs).toBe(0);
    });
  });
}
