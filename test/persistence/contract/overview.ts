/** A list of the whole ledger, where records changed or broke behind its back. */
import { describe, expect, it } from 'vitest';
import { newOperation, step } from '../steps.ts';
import { keysOf, type StoreBench } from './bench.ts';

export function overviewInStore(bench: StoreBench): void {
  const { create } = bench;
  const byPartition = (operationIds: readonly string[]) =>
    [0, 1, 2].map((partition) => operationIds.filter((id) => id.startsWith(`p0${partition}.`)));
  /** Nobody can open it any more. */
  const damage = (operationId: string): Promise<void> =>
    bench.store.replace(keysOf(operationId).operation(operationId), (text) => text.subarray(0, text.length - 8));

  describe('overview', () => {
    it('leaves out nobody where many are of the same time, nor where one goes between two pages', async () => {
      const { ledger, store } = bench;
      const all = await Promise.all(Array.from({ length: 12 }, () => create()));
      const [own = []] = byPartition(all).sort((one, other) => other.length - one.length);
      const partition = Number(own[0]?.slice(1, 3));
      const { operationIds: ordered } = await ledger.newest({ partition, limit: 100 });
      expect(ordered).toEqual([...own].sort().reverse());
      const { operationIds: first, cursor } = await ledger.newest({ partition, limit: 2 });
      for (const id of first) await store.unrank(keysOf(id).operations, id);
      const { operationIds: rest } = await ledger.newest({ partition, limit: 100, cursor: cursor ?? '' });
      expect([...first, ...rest].sort()).toEqual([...own].sort());
    });

    it('goes on only from a place of the same partition, which it has', async () => {
      const { ledger } = bench;
      await expect(ledger.newest({ partition: 0, limit: 1, cursor: 'x' })).rejects.toThrow(/no cursor/);
      await expect(ledger.newest({ partition: 0, limit: 1, cursor: '1:5:p01.x' })).rejects.toThrow(/no cursor/);
      await expect(ledger.newest({ partition: 3, limit: 1 })).rejects.toThrow(/no partition 3/);
    });

    it('opens no record that is as it is known, and says when it is due by now', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      await ledger.create(step(operationId), null);
      await damage(operationId);
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt: 1000 }]);
      const [claimed] = (
        await ledger.claimDue({ owner: 'x', scopes: ['endpoint:e'], limit: 1, leaseMs: 9, executionEpoch: 1 })
      ).claimed;
      await ledger.releaseLease(operationId, 'x', claimed?.lease?.epoch ?? '', 7000, '1');
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt: 7000 }]);
    });

    it('one that cannot be opened hides none beside it', async () => {
      const { ledger } = bench;
      const [broken, whole] = [await create(), await create()];
      await damage(broken);
      const asked = [broken, whole].map((operationId) => ({ operationId, revision: null }));
      const [first, second] = await ledger.summaries(asked);
      expect(first).toMatchObject({ kind: 'summary', summary: { operationId: broken, revision: '1', state: '' } });
      expect(() => first?.kind === 'summary' && first.summary.snapshot).toThrow(/cannot be unpacked/);
      expect(second).toMatchObject({ kind: 'summary', summary: { state: 'WORKING' } });
    });
  });
}
