/** The script of a claim, and what it finds where something is gone. */
import { describe, expect, it } from 'vitest';
import { Keys } from '../../../persistence/keys.ts';
import type { ScriptHost } from '../../../persistence/script-host.ts';
import { NAMESPACE, newOperation, step } from '../steps.ts';
import { runOnHistory, type StoreBench } from './bench.ts';

export function claimsInStore(bench: StoreBench): void {
  const { create, claim, now, pass } = bench;

  describe('leases', () => {
    /** Runs the script itself, in the first partition. */
    const claimer =
      (host: ScriptHost, owner: string) =>
      async (commandId: string, limit = 10, overdueMs = 0) => {
        const keys = new Keys(NAMESPACE).partition(0);
        const [at, next, rows] = (await runOnHistory(
          host,
          keys,
          'claim',
          [keys.operationPrefix, keys.claims, keys.claimEnds, keys.switches, keys.due('endpoint:e')],
          [String(now()), commandId, owner, '1000', String(limit), '1', String(overdueMs)],
        )) as [string, string, (string | string[])[]];
        const ids = rows.filter((row): row is string => typeof row === 'string');
        return { late: Number(at) - now(), next: next === '' ? null : Number(next) - now(), ids, rows };
      };
    /** Creates that many in the first partition, each due at a time of its own. */
    const createHere = async (count: number, dueAt: number): Promise<string[]> => {
      const { ledger } = bench;
      const ids: string[] = [];
      while (ids.length < count) {
        const operationId = newOperation(ledger);
        if (ledger.partitionOf(operationId) !== 0) continue;
        await ledger.create(step(operationId, { dueAt: dueAt + ids.length }), null);
        ids.push(operationId);
      }
      return ids;
    };

    it('B8: one script takes the earliest of what is due, up to the limit, and says when to look again', async () => {
      const { store } = bench;
      const host = await store.host();
      const here = claimer(host, 'a');
      const ids = await createHere(5, now() + 10);
      expect(await here('early')).toMatchObject({ late: 0, next: 10, ids: [] });
      pass(12);
      expect(await here('some', 2)).toMatchObject({ next: 0, ids: ids.slice(0, 2) });
      const one = await here('one more', 1);
      expect(one).toMatchObject({ next: 1, ids: [ids[2]] });
      expect(one.rows[1]).toEqual([
        '1',
        expect.any(Buffer),
        '',
        'endpoint:e',
        String(now()),
        'a',
        '1',
        String(now() + 1000),
      ]);
      pass(5);
      expect(await here('the rest')).toMatchObject({ next: 995, ids: ids.slice(3) });
      await host.close();
    });

    it('answers a repeated claim as the first time, and takes nothing new for it', async () => {
      const { ledger, store } = bench;
      const host = await store.host();
      const [a, b] = [claimer(host, 'a'), claimer(host, 'b')];
      const ids = await createHere(3, 1);
      const first = await a('command-1', 2);
      expect(first.ids).toEqual(ids.slice(0, 2));
      pass(1);
      expect((await a('command-1', 2)).rows).toEqual(first.rows);
      expect((await b('command-1', 2)).ids).toEqual(ids.slice(2));
      // What the owner gave back meanwhile is not its own any more.
      await ledger.releaseLease(ids[0] as string, 'a', '1', now() + 5000, '1');
      expect((await a('command-1', 2)).ids).toEqual([ids[1]]);
      // An empty claim in between changes nothing; one that took something does.
      await a('command-2');
      expect((await a('command-1', 2)).ids).toEqual([ids[1]]);
      const [other] = await createHere(1, 2);
      expect((await a('command-3')).ids).toEqual([other]);
      expect((await a('command-1', 2)).ids).toEqual([]);
      expect((await a('command-3')).ids).toEqual([other]);
      // A record that was purged meanwhile is nobody's.
      await store.replace(new Keys(NAMESPACE).partition(0).operation(other as string), null);
      expect((await a('command-3')).ids).toEqual([]);
      await host.close();
    });

    it('forgets a claim when its leases are over: the same command is a new claim then', async () => {
      const { store } = bench;
      const host = await store.host();
      const ids = await createHere(1, 1);
      await claimer(host, 'a')('command');
      pass(999);
      expect((await claimer(host, 'a')('command')).rows[1]).toContain(String(now() + 1));
      pass(1);
      const again = await claimer(host, 'a')('command');
      expect(again.ids).toEqual(ids);
      expect(again.rows[1]).toEqual(expect.arrayContaining(['2', String(now() + 1000)]));
      pass(1000);
      expect(await claimer(host, 'b')('nothing', 0)).toMatchObject({ next: 0, ids: [] });
      const keys = new Keys(NAMESPACE).partition(0);
      expect(await host.run('entries', [keys.claims], [String(now())])).toEqual([]);
      await host.close();
    });

    it('names a partition that is none', async () => {
      const { ledger } = bench;
      const ask = { owner: 'a', scopes: ['endpoint:e'], limit: 100, leaseMs: 1000, executionEpoch: 1 };
      await expect(ledger.claimDue({ ...ask, partitions: [4] })).rejects.toThrow('no partition 4');
    });

    it('a due time whose record is gone is nobody’s', async () => {
      const { ledger, store } = bench;
      const operationId = await create();
      const key = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3))).operation(operationId);
      await store.replace(key, null);
      expect(await ledger.load(operationId)).toBeNull();
      expect((await claim('a')).claimed).toEqual([]);
    });

    it('B4: neither renews nor gives back what was purged between the look at its scope and the script', async () => {
      const { store } = bench;
      const keys = new Keys(NAMESPACE).partition(0);
      const gone = [keys.operation('gone'), keys.due('endpoint:e')];
      const host = await store.host();
      expect(await host.run('renew', gone, [String(now()), 'gone', 'a', '1', '1000'])).toEqual(['lost']);
      expect(await host.run('release', gone, [String(now()), 'gone', 'a', '1', '5', '1'])).toEqual(['lost']);
      await host.close();
    });
  });
}
