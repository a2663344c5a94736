/** What a list of the whole ledger is made of. */
import type { StoredRecord } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { newOperation, step } from './steps.ts';

export function overviewTopic(bench: Bench): void {
  const { describe, it, expect, create, claim, pass } = bench;
  const byPartition = (operationIds: readonly string[]) =>
    [0, 1, 2].map((partition) => operationIds.filter((id) => bench.ledger.partitionOf(id) === partition));
  const walk = async (partition: number, limit: number): Promise<readonly string[]> => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await bench.ledger.newest({ partition, limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.operationIds.length).toBeLessThanOrEqual(limit);
      seen.push(...page.operationIds);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return seen;
  };
  const asList = ({ operationId, state, revision, dueAt, snapshot }: StoredRecord) => ({
    kind: 'summary',
    summary: { operationId, state, revision, dueAt, snapshot },
  });

  describe('overview', () => {
    it('counts the operations of all partitions', async () => {
      expect(await bench.ledger.operationCount()).toBe(0);
      for (let nth = 0; nth < 7; nth++) await create();
      expect(await bench.ledger.operationCount()).toBe(7);
    });

    it('walks a partition in pages, the newest first', async () => {
      const all: string[] = [];
      for (let nth = 0; nth < 12; nth++) {
        all.unshift(await create());
        pass(5);
      }
      for (const [partition, expected] of byPartition(all).entries()) {
        for (const limit of [1, 2, 100]) expect(await walk(partition, limit)).toEqual(expected);
      }
    });

    it('leaves out nobody where many are of the same time', async () => {
      const all = await Promise.all(Array.from({ length: 12 }, () => create()));
      for (const [partition, expected] of byPartition(all).entries()) {
        expect([...(await walk(partition, 2))].sort()).toEqual([...expected].sort());
      }
    });

    it('walks no partition that is none', async () => {
      await expect(bench.ledger.newest({ partition: 3, limit: 1 })).rejects.toThrow();
    });

    it('answers many at once in the order that they are asked for, over all partitions', async () => {
      const { ledger } = bench;
      const ids = await Promise.all(Array.from({ length: 9 }, () => create()));
      const answers = await ledger.summaries(ids.map((operationId) => ({ operationId, revision: null })));
      expect(answers).toHaveLength(9);
      for (const [index, operationId] of ids.entries()) {
        expect(answers[index]).toMatchObject(asList((await ledger.load(operationId)) as StoredRecord));
      }
      expect(await ledger.summaries([])).toEqual([]);
    });

    it('says of one that is as it is known only when it is due by now', async () => {
      const { ledger } = bench;
      const operationId = await create();
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt: 1000 }]);
      await claim('a');
      await ledger.releaseLease(operationId, 'a', '1', 7000, '1');
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt: 7000 }]);
    });

    it('an older revision than the one that is there is not known, and who is not there is none', async () => {
      const { ledger } = bench;
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
