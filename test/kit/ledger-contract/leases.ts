/** Whose a leased record is, through steps, renewals and releases. */
import type { Bench } from './bench.ts';
import { newOperation, step } from './steps.ts';

export function leasesTopic(bench: Bench): void {
  const { describe, it, expect, create, claim, now, pass } = bench;

  describe('leases', () => {
    it('hands a due record to one owner, with a new epoch for each', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const [a, b] = await Promise.all([claim('a'), claim('b')]);
      expect(a.claimed.length + b.claimed.length).toBe(1);
      const first = [...a.claimed, ...b.claimed][0];
      expect(first).toMatchObject({ operationId, dueAt: 1000, lease: { epoch: '1', until: now() + 1000 } });

      pass(1001);
      expect((await claim('c')).claimed[0]?.lease).toEqual({ owner: 'c', epoch: '2', until: now() + 1000 });
      expect(await ledger.renewLease(operationId, first?.lease?.owner ?? '', '1', 1000)).toBeNull();
      expect(await ledger.load(operationId)).toMatchObject({ revision: '1', lease: { owner: 'c' } });
    });

    it('keeps the lease through steps of its owner, until it is given back', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      await ledger.commit({ ...step(operationId, { dueAt: 7 }), expectedRevision: '1', leaseOwner: 'a' });
      expect(await ledger.load(operationId)).toMatchObject({ dueAt: 7, lease: { owner: 'a' } });
      expect(await claim('b')).toEqual({ claimed: [], nextDueAt: now() + 1000 });
      expect((await claim('a')).claimed).toEqual([]);
      const last = { ...step(operationId), expectedRevision: '2', leaseOwner: 'a', releaseLease: true };
      await ledger.commit(last);
      expect(await ledger.load(operationId)).toMatchObject({ lease: null });
      expect((await claim('b')).claimed[0]?.lease).toMatchObject({ owner: 'b', epoch: '2' });
    });

    it('shows a step of somebody else to the owner only, while the lease lives', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      expect((await claim('a')).claimed).toEqual([]);
      await ledger.commit({ ...step(operationId, { dueAt: now() }), expectedRevision: '1' });
      expect(await claim('b', 1)).toEqual({ claimed: [], nextDueAt: now() + 1000 });
      const { claimed } = await claim('a');
      expect(claimed[0]).toMatchObject({ revision: '2', lease: { owner: 'a', epoch: '1' } });
    });

    it('does not let a renewal or a release hide a step of somebody else', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      await ledger.commit({ ...step(operationId, { dueAt: now() }), expectedRevision: '1' });
      expect(await ledger.renewLease(operationId, 'a', '1', 5000)).toEqual({ until: now() + 5000, revision: '2' });
      expect((await claim('b')).nextDueAt).toBe(now() + 5000);
      await ledger.releaseLease(operationId, 'a', '1', now() + 60_000, '1');
      expect((await claim('b')).claimed[0]).toMatchObject({ dueAt: now(), lease: { owner: 'b', epoch: '2' } });
    });

    it('shows the owner a step of somebody else also after a renewal', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      await ledger.commit({ ...step(operationId, { dueAt: now() }), expectedRevision: '1' });
      await ledger.renewLease(operationId, 'a', '1', 5000);
      expect((await claim('a')).claimed[0]).toMatchObject({ revision: '2', lease: { owner: 'a', epoch: '1' } });
    });

    it('judges a step of a former owner by its revision and leaves the new lease alone', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      pass(1001);
      await claim('b');
      const late = { ...step(operationId), expectedRevision: '1', leaseOwner: 'a', releaseLease: true };
      expect(await ledger.commit(late)).toEqual({ kind: 'committed', revision: '2' });
      expect(await ledger.load(operationId)).toMatchObject({ lease: { owner: 'b', epoch: '2' } });
      expect((await claim('b')).claimed[0]).toMatchObject({ revision: '2' });
    });

    it('takes a renewal or a release only for the very lease that it names', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      pass(1001);
      await claim('a');
      expect(await ledger.renewLease(operationId, 'a', '1', 9000)).toBeNull();
      expect(await ledger.renewLease(operationId, 'b', '2', 9000)).toBeNull();
      await ledger.releaseLease(operationId, 'a', '1', null, '1');
      await ledger.releaseLease(operationId, 'b', '2', null, '1');
      const lease = { owner: 'a', epoch: '2', until: now() + 1000 };
      expect(await ledger.load(operationId)).toMatchObject({ dueAt: 1000, lease });
    });

    it('renews the lease of a record that has nothing due', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      await ledger.commit({ ...step(operationId, { dueAt: null }), expectedRevision: '1', leaseOwner: 'a' });
      expect(await ledger.renewLease(operationId, 'a', '1', 5000)).toEqual({ until: now() + 5000, revision: '2' });
      expect(await claim('b')).toEqual({ claimed: [], nextDueAt: null });
    });

    it('renews and releases', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      pass(900);
      expect(await ledger.renewLease(operationId, 'a', '1', 1000)).toEqual({ until: now() + 1000, revision: '1' });
      pass(900);
      expect((await claim('a')).claimed).toEqual([]);
      expect(await claim('b')).toEqual({ claimed: [], nextDueAt: now() + 100 });
      await ledger.releaseLease(operationId, 'b', '1', null, '1');
      expect(await ledger.load(operationId)).toMatchObject({ lease: { owner: 'a' } });
      await ledger.releaseLease(operationId, 'a', '1', null, '1');
      await ledger.releaseLease(operationId, 'a', '1', 5, '1');
      expect(await ledger.load(operationId)).toMatchObject({ lease: null, dueAt: null });
      expect(await claim('b')).toEqual({ claimed: [], nextDueAt: null });
      expect(await ledger.renewLease(newOperation(ledger), 'a', '1', 1000)).toBeNull();
      await ledger.releaseLease(newOperation(ledger), 'a', '1', 5, '1');
    });
  });
}
