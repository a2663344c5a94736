/** What is over goes when the policy says so, and leaves a tombstone (B4, B12). */
import type { ReadyRow } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { ALL, digestOf, HOUR, overIn, PAYLOAD, RECEIPTS, RECORDS } from './over.ts';
import { acceptStep, fields, step } from './steps.ts';

export function retentionTopic(bench: Bench): void {
  const { describe, it, expect } = bench;

  describe('retention', () => {
    const { createOpen, accept, consumed, purge, counts } = overIn(bench);

    it('B12: a consumed operation goes when it is old, and not before; its receipt stays', async () => {
      const { ledger, pass, now } = bench;
      const operationId = await consumed();
      const settledAt = now();
      const receipt = await ledger.readReceipt(operationId);
      pass(HOUR - 1);
      expect(await counts()).toEqual([0, 0, 0]);
      pass(1);
      expect(await counts()).toEqual([1, 0, 0]);
      expect(await ledger.load(operationId)).toBeNull();
      expect(await ledger.readHistory(operationId)).toEqual([]);
      expect(await ledger.readPayload(operationId, PAYLOAD.digest)).toBeNull();
      expect((await ledger.list({ limit: 5 })).operations).toEqual([]);
      expect(await ledger.readReceipt(operationId)).toBe(receipt);
      const tombstone = {
        settledAt,
        purgedAt: now(),
        requestDigest: fields.requestDigest,
        terminalState: fields.terminalState,
        receiptDigest: digestOf(receipt as string),
        receiptPurgedAt: null,
      };
      expect(await ledger.find(operationId)).toEqual({ kind: 'purged', tombstone });
      // R2: whatever the rules say by now, it is no call to be made the ordinary way.
      const side = { operationId, version: '0', side: 'ordinary', why: 'default off' } as const;
      expect(await ledger.takeSide(side)).toEqual({ kind: 'purged', tombstone });
      expect(await ledger.audit()).toEqual([]);
    });

    it('B4: a purged call node cannot be made again, whatever it asks for', async () => {
      const { ledger, pass } = bench;
      const operationId = await consumed();
      pass(HOUR);
      await purge();
      const again = step(operationId, { fields: { ...fields, requestDigest: 'another' } });
      expect(await ledger.create(again, null)).toMatchObject({
        kind: 'purged',
        tombstone: { requestDigest: fields.requestDigest, terminalState: 'completed' },
      });
      expect(await ledger.load(operationId)).toBeNull();
      expect(await ledger.commit({ ...step(operationId), expectedRevision: '2' })).toEqual({ kind: 'missing' });
      pass(9 * HOUR);
      await purge(RECEIPTS);
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'purged' });
    });

    it('what is not over never goes, whatever its age: waiting, due or with nothing due', async () => {
      const { ledger, pass } = bench;
      const open = await createOpen();
      const parked = await createOpen();
      await ledger.commit({ ...step(parked, { state: 'PARKED.waiting', dueAt: null }), expectedRevision: '1' });
      const gone = await consumed();
      pass(1_000 * HOUR);
      expect(await counts({ recordsMs: 0, receiptsMs: 0, tombstonesMs: null })).toEqual([1, 0, 0]);
      expect(await ledger.load(gone)).toBeNull();
      for (const id of [open, parked]) expect(await ledger.load(id)).not.toBeNull();
    });

    it('what waits for its consumer never goes, also while it is leased', async () => {
      const { ledger, pass } = bench;
      const waiting = await accept();
      pass(10 * HOUR);
      const [row] = (await ledger.leaseReady('slow', 5, HOUR)) as [ReadyRow];
      expect(await purge()).toMatchObject({ records: { count: 0 }, outbox: 1 });
      expect(await ledger.readPayload(waiting, PAYLOAD.digest)).toBe(PAYLOAD.text);
      // Its time begins when it is consumed.
      await ledger.ackReady(row, 'slow');
      expect(await purge()).toMatchObject({ records: { count: 0 }, outbox: 0 });
      pass(HOUR);
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('goes stage by stage, each by its own age, and says how much went', async () => {
      const { ledger, pass } = bench;
      const operationId = await consumed();
      pass(3 * HOUR);
      const first = await purge(ALL);
      expect(first.complete).toBe(true);
      expect(first.records.count).toBe(1);
      expect(first.records.bytes).toBeGreaterThan(0);
      const receipt = (await ledger.readReceipt(operationId)) as string;
      const second = await purge(ALL);
      expect(second).toMatchObject({ records: { count: 0 }, receipts: { count: 1 }, tombstones: { count: 0 } });
      expect(second.receipts.bytes).toBeGreaterThan(0);
      expect(await ledger.readReceipt(operationId)).toBeNull();
      expect(await ledger.find(operationId)).toMatchObject({
        kind: 'purged',
        tombstone: { receiptPurgedAt: bench.now(), receiptDigest: digestOf(receipt) },
      });
      expect(await ledger.audit()).toEqual([]);
      const third = await purge(ALL);
      expect(third).toMatchObject({ records: { count: 0 }, receipts: { count: 0 }, tombstones: { count: 1 } });
      expect(third.tombstones.bytes).toBeGreaterThan(0);
      expect(await ledger.find(operationId)).toEqual({ kind: 'none' });
      expect(await counts(ALL)).toEqual([0, 0, 0]);
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'created' });
    });

    it('each age counts from the same moment, and null is for ever', async () => {
      const { pass } = bench;
      await consumed();
      pass(HOUR);
      expect(await counts(ALL)).toEqual([1, 0, 0]);
      pass(HOUR - 1);
      expect(await counts(ALL)).toEqual([0, 0, 0]);
      pass(1);
      expect(await counts(RECORDS)).toEqual([0, 0, 0]);
      expect(await counts(ALL)).toEqual([0, 1, 0]);
      pass(HOUR - 1);
      expect(await counts(ALL)).toEqual([0, 0, 0]);
      pass(1);
      expect(await counts(RECEIPTS)).toEqual([0, 0, 0]);
      expect(await counts(ALL)).toEqual([0, 0, 1]);
      await consumed();
      pass(9 * HOUR);
      expect(await counts({ recordsMs: null, receiptsMs: null, tombstonesMs: null })).toEqual([0, 0, 0]);
    });

    it('a dry run purges nothing and counts what a purge then counts', async () => {
      const { ledger, pass } = bench;
      const ids = [await consumed(), await consumed(), await consumed()];
      pass(3 * HOUR);
      for (let stage = 0; stage < 3; stage++) {
        const before = await Promise.all(ids.map((id) => ledger.find(id)));
        const dry = await purge(ALL, true);
        expect(dry.dryRun).toBe(true);
        expect(await Promise.all(ids.map((id) => ledger.find(id)))).toEqual(before);
        expect({ ...(await purge(ALL)), dryRun: true }).toEqual(dry);
      }
      expect(await counts(ALL, true)).toEqual([0, 0, 0]);
    });

    it('counts and purges more than one batch', async () => {
      const { ledger, pass } = bench;
      const one = await bench.open({ namespace: 'single', partitions: 1 });
      const ids = Array.from({ length: 55 }, (_, i) =>
        one.operationIdOf({ namespace: 'single', principal: 'p', callNodeId: String(i) }),
      );
      await Promise.all(
        ids.map(async (id) => {
          await one.create(step(id), null);
          await one.acceptTerminal(acceptStep(id, '1'));
        }),
      );
      const rows = await one.leaseReady('c', 300, 1000);
      await Promise.all(rows.map((row) => one.ackReady(row, 'c')));
      pass(3 * HOUR);
      for (const stage of ['records', 'receipts', 'tombstones'] as const) {
        expect((await one.purge({ policy: ALL, dryRun: true }))[stage].count).toBe(55);
        expect((await one.purge({ policy: ALL }))[stage].count).toBe(55);
      }
      expect(await ledger.audit()).toEqual([]);
    });

    it('stops between two batches, and goes on later', async () => {
      const { ledger, pass } = bench;
      await consumed();
      pass(HOUR);
      const stopped = AbortSignal.abort();
      expect(await ledger.purge({ policy: ALL, signal: stopped })).toMatchObject({
        records: { count: 0 },
        complete: false,
      });
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('a walk over the operations misses nothing while others are purged', async () => {
      const { ledger, pass } = bench;
      const gone = new Set<string>();
      for (let i = 0; i < 5; i++) gone.add(await consumed());
      pass(HOUR);
      const stay = new Set<string>();
      for (let i = 0; i < 6; i++) stay.add(await createOpen());
      const seen = new Set<string>();
      let cursor: string | null | undefined;
      do {
        const page = await ledger.list({ limit: 2, ...(cursor ? { cursor } : {}) });
        for (const { operationId } of page.operations) {
          expect(seen.has(operationId)).toBe(false);
          seen.add(operationId);
        }
        await purge();
        cursor = page.cursor;
      } while (cursor !== null);
      for (const id of stay) expect(seen.has(id)).toBe(true);
    });
  });
}
