/** Who gets what is due, and when to ask again (B8, R3). */
import type { Bench } from './bench.ts';
import { step, unique } from './steps.ts';

export function dueTopic(bench: Bench): void {
  const { describe, it, expect, open, create, claim, now, pass } = bench;

  describe('leases', () => {
    it('tells when to ask again', async () => {
      expect(await claim('a')).toEqual({ claimed: [], nextDueAt: null });
      await create({ dueAt: now() + 500 });
      await create({ dueAt: now() + 300 });
      await create({ dueAt: null });
      expect(await claim('a')).toEqual({ claimed: [], nextDueAt: now() + 300 });
      pass(300);
      const { claimed, nextDueAt } = await claim('a');
      expect([claimed.length, nextDueAt]).toEqual([1, now() + 200]);
    });

    it('obeys limit and scopes, and loses nothing over many partitions', async () => {
      const all = await Promise.all(Array.from({ length: 30 }, () => create()));
      await create({ scope: 'process:other' });
      const seen: string[] = [];
      for (;;) {
        const { claimed, nextDueAt } = await claim('a', 7);
        expect(claimed.length).toBeLessThanOrEqual(7);
        if (claimed.length === 0) break;
        seen.push(...claimed.map(({ operationId }) => operationId));
        if (seen.length < 30) expect(nextDueAt).toBeLessThanOrEqual(now());
      }
      expect(seen.sort()).toEqual(all.sort());
      expect((await claim('a', 7, ['process:other', 'endpoint:none'])).claimed.length).toBe(1);
    });

    it('finds free records behind many that others hold', async () => {
      const { ledger } = bench;
      const heldOnes = await Promise.all(Array.from({ length: 12 }, () => create({ dueAt: 1 })));
      await claim('a', 20);
      for (const operationId of heldOnes) {
        await ledger.commit({ ...step(operationId, { dueAt: 1 }), expectedRevision: '1' });
      }
      const free = await create({ dueAt: 2 });
      expect((await claim('b', 1)).claimed.map(({ operationId }) => operationId)).toEqual([free]);
    });

    it('B8: leaves what is not overdue for long enough to others, and says when it will be', async () => {
      const { ledger } = bench;
      const operationId = await create({ dueAt: now() + 100 });
      const partition = ledger.partitionOf(operationId) as number;
      const ask = { owner: 'a', scopes: ['endpoint:e', 'endpoint:f'], limit: 10, leaseMs: 1000, executionEpoch: 1 };
      const patient = { ...ask, overdueMs: (_: number, scope: string) => (scope === 'endpoint:e' ? 2000 : 0) };
      expect(await ledger.claimDue(patient)).toEqual({
        claimed: [],
        now: now(),
        nextDueAt: now() + 2100,
        nextDue: new Map([[partition, now() + 2100]]),
        regressed: new Map(),
      });
      pass(2099);
      expect(await ledger.claimDue(patient)).toMatchObject({ claimed: [], nextDueAt: now() + 1 });
      pass(1);
      expect((await ledger.claimDue(patient)).claimed.map((record) => record.operationId)).toEqual([operationId]);
      expect(await ledger.claimDue({ ...patient, owner: 'b' })).toMatchObject({ nextDueAt: now() + 1000 + 2000 });
      expect(await ledger.claimDue({ ...ask, owner: 'b' })).toMatchObject({ nextDueAt: now() + 1000 });
    });

    it('looks only into the partitions that it is told, and answers each on its own', async () => {
      const namespace = unique('parts');
      const many = await open({ namespace, partitions: 4 });
      const ids = Array.from({ length: 12 }, () =>
        many.operationIdOf({ namespace, principal: 'p', callNodeId: unique('node') }),
      );
      await Promise.all(ids.map((id) => many.create(step(id, { dueAt: now() + (many.partitionOf(id) ?? 9) }), null)));
      const inside = (...partitions: number[]) =>
        ids.filter((id) => partitions.includes(many.partitionOf(id) ?? 9)).sort();
      pass(3);
      const ask = { owner: 'a', scopes: ['endpoint:e'], limit: 100, leaseMs: 1000, executionEpoch: 1 };
      const { claimed, nextDue } = await many.claimDue({ ...ask, partitions: [1, 3] });
      expect(claimed.map((record) => record.operationId).sort()).toEqual(inside(1, 3));
      for (const partition of [0, 2]) expect(nextDue.has(partition)).toBe(false);
      for (const partition of [1, 3])
        expect(nextDue.get(partition)).toBe(inside(partition).length > 0 ? now() + 1000 : undefined);
      const rest = await many.claimDue({ ...ask, partitions: [0, 1, 2] });
      expect(rest.claimed.map((record) => record.operationId).sort()).toEqual(inside(0, 2));
      await expect(many.claimDue({ ...ask, partitions: [4] })).rejects.toThrow();
      expect(many.partitions).toBe(4);
    });
  });
}
