/** What every host must do alike for a list of the whole ledger. */
import { describe, expect, it } from 'vitest';
import { keysOf, type Lent } from './lent.ts';
import { newOperation, step } from './steps.ts';

export function overviewContract(lent: () => Lent): void {
  const create = async (): Promise<string> => {
    const operationId = newOperation(lent().ledger);
    await lent().ledger.create(step(operationId), null);
    return operationId;
  };
  const byPartition = (operationIds: readonly string[]) =>
    [0, 1, 2].map((partition) => operationIds.filter((id) => id.startsWith(`p0${partition}.`)));
  const walk = async (partition: number, limit: number): Promise<readonly string[]> => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await lent().ledger.newest({ partition, limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.operationIds.length).toBeLessThanOrEqual(limit);
      seen.push(...page.operationIds);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return seen;
  };

  describe('overview', () => {
    it('counts the operations of all partitions', async () => {
      expect(await lent().ledger.operationCount()).toBe(0);
      for (let nth = 0; nth < 7; nth++) await create();
      expect(await lent().ledger.operationCount()).toBe(7);
    });

    it('walks a partition in pages, the newest first', async () => {
      const all: string[] = [];
      for (let nth = 0; nth < 12; nth++) {
        all.unshift(await create());
        lent().pass(5);
      }
      for (const [partition, expected] of byPartition(all).entries()) {
        for (const limit of [1, 2, 100]) expect(await walk(partition, limit)).toEqual(expected);
      }
    });

    it('leaves out nobody where many are of the same time, nor where one goes between two pages', async () => {
      const all = await Promise.all(Array.from({ length: 12 }, create));
      for (const [partition, expected] of byPartition(all).entries()) {
        expect(await walk(partition, 2)).toEqual([...expected].sort().reverse());
      }
      const { ledger, store } = lent();
      const [own = []] = byPartition(all).sort((one, other) => other.length - one.length);
      const partition = Number(own[0]?.slice(1, 3));
      const { operationIds: first, cursor } = await ledger.newest({ partition, limit: 2 });
      for (const id of first) await store.unrank(keysOf(id).operations, id);
      const { operationIds: rest } = await ledger.newest({ partition, limit: 100, cursor: cursor ?? '' });
      expect([...first, ...rest].sort()).toEqual([...own].sort());
    });

    it('goes on only from a place of the same partition, which it has', async () => {
      const { ledger } = lent();
      await expect(ledger.newest({ partition: 0, limit: 1, cursor: 'x' })).rejects.toThrow(/no cursor/);
      await expect(ledger.newest({ partition: 0, limit: 1, cursor: '1:5:p01.x' })).rejects.toThrow(/no cursor/);
      await expect(ledger.newest({ partition: 3, limit: 1 })).rejects.toThrow(/no partition 3/);
    });

    it('answers many at once in the order that they are asked for, over all partitions', async () => {
      const { ledger } = lent();
      const ids = await Promise.all(Array.from({ length: 9 }, create));
      const answers = await ledger.summaries(ids.map((operationId) => ({ operationId, revision: null })));
      for (const [index, operationId] of ids.entries()) {
        const record = await ledger.load(operationId);
        const { state, revision, dueAt, snapshot } = record ?? expect.fail();
        expect(answers[index]).toMatchObject({
          kind: 'summary',
          summary: { operationId, state, revision, dueAt, snapshot },
        });
      }
      expect(await ledger.summaries([])).toEqual([]);
    });

    it('opens no record that is as it is known, and says when it is due by now', async () => {
      const { ledger, store } = lent();
      const operationId = await create();
      // Nobody could open it.
      await store.replace(keysOf(operationId).operation(operationId), (text) => text.subarray(0, text.length - 8));
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt: 1000 }]);
      const [claimed] = (
        await ledger.claimDue({ owner: 'x', scopes: ['endpoint:e'], limit: 1, leaseMs: 9, executionEpoch: 1 })
      ).claimed;
      await ledger.releaseLease(operationId, 'x', claimed?.lease?.epoch ?? '', 7000, '1');
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt: 7000 }]);
    });

    it('one that cannot be opened hides none beside it', async () => {
      const { ledger, store } = lent();
      const [broken, whole] = [await create(), await create()];
      await store.replace(keysOf(broken).operation(broken), (text) => text.subarray(0, text.length - 8));
      const asked = [broken, whole].map((operationId) => ({ operationId, revision: null }));
      const [first, second] = await ledger.summaries(asked);
      expect(first).toMatchObject({ kind: 'summary', summary: { operationId: broken, revision: '1', state: '' } });
      expect(() => first?.kind === 'summary' && first.summary.snapshot).toThrow(/cannot be unpacked/);
      expect(second).toMatchObject({ kind: 'summary', summary: { state: 'WORKING' } });
    });

    it('an older revision than the one that is there is not known, and who is not there is none', async () => {
      const { ledger } = lent();
      const operationId = await create();
      await ledger.commit({ ...step(operationId, { state: 'LATER', dueAt: null }), expectedRevision: '1' });
      const absent = newOperation(ledger);
      expect(
        await ledger.summaries([
          { operationId, revision: '1' },
          { operationId: absent, revision: '1' },
          { operationId, revision: '2' },
        ]),
      ).toMatchObject([
        { kind: 'summary', summary: { revision: '2', state: 'LATER', dueAt: null } },
        { kind: 'none' },
        { kind: 'known', dueAt: null },
      ]);
    });
  });
}
