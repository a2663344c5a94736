/** What every host must do alike about what is old: retention, tombstones, layouts and their migrations. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../machines/digest.ts';
import { LedgerIncompatible, type ReadyRow, type RetentionPolicy } from '../../machines/operation-ledger.ts';
import { Keys } from '../../persistence/keys.ts';
import { keysOf, type Lent, META } from './lent.ts';
import { acceptStep, fields, newOperation, step, withLine } from './steps.ts';

const HOUR = 3_600_000;
const RECORDS: RetentionPolicy = { recordsMs: HOUR, receiptsMs: null, tombstonesMs: null };
const RECEIPTS: RetentionPolicy = { recordsMs: HOUR, receiptsMs: 2 * HOUR, tombstonesMs: null };
const ALL: RetentionPolicy = { recordsMs: HOUR, receiptsMs: 2 * HOUR, tombstonesMs: 3 * HOUR };

export function retentionContract(lent: () => Lent): void {
  const payload = { digest: sha256('p'), text: 'a payload' };
  const create = async (): Promise<string> => {
    const { ledger } = lent();
    const operationId = newOperation(ledger);
    await ledger.create(step(operationId, { payloads: [payload] }), null);
    return operationId;
  };
  const accept = async (): Promise<string> => {
    const operationId = await create();
    await lent().ledger.acceptTerminal(acceptStep(operationId, '1'));
    return operationId;
  };
  const consumeAll = async (): Promise<void> => {
    const { ledger } = lent();
    for (const row of await ledger.leaseReady('c', 100, 1000)) expect(await ledger.ackReady(row, 'c')).toBe(true);
  };
  const consumed = async (): Promise<string> => {
    const operationId = await accept();
    await consumeAll();
    return operationId;
  };
  const purge = (policy = RECORDS, dryRun = false) => lent().ledger.purge({ policy, dryRun });
  const counts = async (policy = RECORDS, dryRun = false) => {
    const { records, receipts, tombstones } = await purge(policy, dryRun);
    return [records.count, receipts.count, tombstones.count];
  };
  const purgeDirectly = async (operationId: string, dryRun = '', age = HOUR): Promise<unknown> => {
    const { store, now } = lent();
    const host = await store.host();
    const keys = keysOf(operationId);
    try {
      return await host.run(
        'purge-records',
        [
          ...[keys.operations, keys.settled, keys.kept, keys.receipts, keys.readyRows, keys.consumed, keys.tombstones],
          ...[keys.operation(operationId), keys.history(operationId), keys.payloads(operationId)],
        ],
        [String(now()), String(age), dryRun, operationId],
      );
    } finally {
      await host.close();
    }
  };

  describe('retention', () => {
    it('B12: a consumed operation goes when it is old, and not before; its receipt stays', async () => {
      const { ledger, pass, now } = lent();
      const operationId = await consumed();
      const settledAt = now();
      const receipt = await ledger.readReceipt(operationId);
      pass(HOUR - 1);
      expect(await counts()).toEqual([0, 0, 0]);
      pass(1);
      expect(await counts()).toEqual([1, 0, 0]);
      expect(await ledger.load(operationId)).toBeNull();
      expect(await ledger.readHistory(operationId)).toEqual([]);
      expect(await ledger.readPayload(operationId, payload.digest)).toBeNull();
      expect((await ledger.list({ limit: 5 })).operations).toEqual([]);
      expect(await ledger.readReceipt(operationId)).toBe(receipt);
      const tombstone = {
        settledAt,
        purgedAt: now(),
        requestDigest: fields.requestDigest,
        terminalState: fields.terminalState,
        receiptDigest: sha256(receipt as string),
        receiptPurgedAt: null,
      };
      expect(await ledger.find(operationId)).toEqual({ kind: 'purged', tombstone });
      // R2: whatever the rules say by now, it is no call to be made the ordinary way.
      const side = { operationId, version: '0', side: 'ordinary', why: 'default off' } as const;
      expect(await ledger.takeSide(side)).toEqual({ kind: 'purged', tombstone });
      expect(await ledger.audit()).toEqual([]);
    });

    it('B4: a purged call node cannot be made again, whatever it asks for', async () => {
      const { ledger, pass } = lent();
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
      const { ledger, pass } = lent();
      const open = await create();
      const parked = await create();
      await ledger.commit({ ...step(parked, { state: 'PARKED.waiting', dueAt: null }), expectedRevision: '1' });
      const gone = await consumed();
      pass(1_000 * HOUR);
      expect(await counts({ recordsMs: 0, receiptsMs: 0, tombstonesMs: null })).toEqual([1, 0, 0]);
      expect(await ledger.load(gone)).toBeNull();
      for (const id of [open, parked]) expect(await ledger.load(id)).not.toBeNull();
    });

    it('what waits for its consumer never goes, also while it is leased', async () => {
      const { ledger, pass } = lent();
      const waiting = await accept();
      pass(10 * HOUR);
      const [row] = (await ledger.leaseReady('slow', 5, HOUR)) as [ReadyRow];
      expect(await purge()).toMatchObject({ records: { count: 0 }, outbox: 1 });
      expect(await ledger.readPayload(waiting, payload.digest)).toBe(payload.text);
      // Its time begins when it is consumed.
      await ledger.ackReady(row, 'slow');
      expect(await purge()).toMatchObject({ records: { count: 0 }, outbox: 0 });
      pass(HOUR);
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('goes stage by stage, each by its own age, and says how much went', async () => {
      const { ledger, pass } = lent();
      const operationId = await consumed();
      pass(3 * HOUR);
      const first = await purge(ALL);
      expect(first.complete).toBe(true);
      expect(first.records.count).toBe(1);
      expect(first.records.bytes).toBeGreaterThan(payload.text.length + step(operationId).snapshot.length);
      const receipt = (await ledger.readReceipt(operationId)) as string;
      const second = await purge(ALL);
      expect(second).toMatchObject({ records: { count: 0 }, receipts: { count: 1 }, tombstones: { count: 0 } });
      expect(second.receipts.bytes).toBeGreaterThan(receipt.length);
      expect(await ledger.readReceipt(operationId)).toBeNull();
      expect(await ledger.find(operationId)).toMatchObject({
        kind: 'purged',
        tombstone: { receiptPurgedAt: lent().now(), receiptDigest: sha256(receipt) },
      });
      expect(await ledger.audit()).toEqual([]);
      const third = await purge(ALL);
      expect(third).toMatchObject({ records: { count: 0 }, receipts: { count: 0 }, tombstones: { count: 1 } });
      expect(third.tombstones.bytes).toBeGreaterThan(100);
      expect(await ledger.find(operationId)).toEqual({ kind: 'none' });
      expect(await counts(ALL)).toEqual([0, 0, 0]);
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'created' });
    });

    it('each age counts from the same moment, and null is for ever', async () => {
      const { pass } = lent();
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
      const { ledger, pass } = lent();
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
      const { ledger, pass } = lent();
      const one = await lent().open({ namespace: 'single', partitions: 1 });
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
      const { ledger, pass } = lent();
      await consumed();
      pass(HOUR);
      const stopped = AbortSignal.abort();
      expect(await ledger.purge({ policy: ALL, signal: stopped })).toMatchObject({
        records: { count: 0 },
        complete: false,
      });
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('the script checks for itself, and a repetition is harmless', async () => {
      const { store, ledger, pass } = lent();
      const young = await consumed();
      expect(await purgeDirectly(young)).toEqual(['young']);
      expect(await purgeDirectly(await create())).toEqual(['young']);
      pass(HOUR);
      const bytes = (await purgeDirectly(young, '1')) as string[];
      expect(bytes).toEqual([expect.stringMatching(/^\d+$/)]);
      expect(await purgeDirectly(young)).toEqual(bytes);
      const left = await ledger.find(young);
      expect(await purgeDirectly(young)).toEqual(['young']);
      expect(await ledger.find(young)).toEqual(left);

      const odd = await consumed();
      const keys = keysOf(odd);
      pass(HOUR);
      await store.replace(keys.operation(odd), withLine('receipt', ''));
      expect(await purgeDirectly(odd)).toEqual(['open']);
      await store.replace(keys.operation(odd), withLine('receipt', 'r digest completed'));
      await store.plant(keys.readyRows, odd, 'x');
      expect(await purgeDirectly(odd)).toEqual(['unconsumed']);
      await store.plant(keys.readyRows, odd, null);
      const mark = `${'0'.repeat(64)} c t`;
      await store.plant(keys.consumed, odd, null);
      expect(await purgeDirectly(odd)).toEqual(['unconsumed']);
      await store.plant(keys.consumed, odd, mark);
      const receipt = (await ledger.readReceipt(odd)) as string;
      await store.plant(keys.receipts, odd, null);
      expect(await purgeDirectly(odd)).toEqual(['unreceipted']);
      expect(await purge()).toMatchObject({ records: { count: 0 }, staying: { unreceipted: 1 } });
      await store.plant(keys.receipts, odd, receipt);
      expect(await purgeDirectly(odd)).toEqual([expect.stringMatching(/^\d+$/)]);
    });

    it('an index entry without a record is left for the audit of a human', async () => {
      const { store, pass } = lent();
      const operationId = await consumed();
      pass(HOUR);
      const record = keysOf(operationId).operation(operationId);
      await store.replace(record, null);
      expect(await purge()).toMatchObject({ records: { count: 0 }, staying: { open: 1 } });
    });

    it('what stays does not keep what comes after it from going', async () => {
      const { ledger, store, pass } = lent();
      const one = await consumed();
      await store.replace(keysOf(one).operation(one), withLine('receipt', ''));
      pass(1);
      const others = [await consumed(), await consumed(), await consumed(), await consumed()];
      pass(HOUR);
      expect(await purge()).toMatchObject({ records: { count: 4 }, staying: { open: 1 } });
      for (const id of others) expect((await ledger.find(id)).kind).toBe('purged');
      expect((await ledger.find(one)).kind).toBe('record');
    });

    it('a walk over the operations misses nothing while others are purged', async () => {
      const { ledger, pass } = lent();
      const gone = new Set<string>();
      for (let i = 0; i < 5; i++) gone.add(await consumed());
      pass(HOUR);
      const stay = new Set<string>();
      for (let i = 0; i < 6; i++) stay.add(await create());
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

    it('the audit finds a purged operation that is not what its tombstone says', async () => {
      const { ledger, store, pass } = lent();
      const [lost, changed, back] = [await consumed(), await consumed(), await consumed()];
      pass(HOUR);
      await purge();
      expect(await ledger.audit()).toEqual([]);
      await store.plant(keysOf(lost).receipts, lost, null);
      await store.plant(keysOf(changed).receipts, changed, 'another receipt');
      await store.replace(keysOf(back).operation(back), () =>
        Buffer.from(['1', '', '0', '', '', 'endpoint:e', '', `r-${back} d s`, '', 'f', '0 0', ''].join('\n')),
      );
      const findings = await ledger.audit();
      const of = (id: string) => findings.flatMap((each) => (each.operationId === id ? [each.problem] : []));
      expect(of(lost)).toContain('a purged record whose receipt is gone');
      expect(of(changed)).toContain('a purged record of another receipt');
      expect(of(back)).toEqual(['a record of something that was purged']);
      await store.plant(keysOf(lost).consumed, lost, null);
      // Nothing of it is left but its tombstone.
      expect((await ledger.audit()).map(({ operationId }) => operationId)).toContain(lost);
    });
  });

  describe('layouts', () => {
    /** As release 0.1.0 leaves it: no layout, and no index of what was consumed. */
    const asBefore = async (...ids: readonly string[]): Promise<void> => {
      const { store } = lent();
      await store.plant(META, 'layout', null);
      for (const id of ids) await store.unrank(keysOf(id).settled, id);
    };
    const states = async (ledger = lent().ledger) => (await ledger.layout()).migrations[0]?.partitions;

    it('a new namespace has the newest one, and nothing to migrate', async () => {
      const { ledger } = lent();
      expect(await ledger.layout()).toMatchObject({ layout: 3, newest: 3, writes: 1 });
      expect(await states()).toEqual(['done', 'done', 'done']);
    });

    it('1 → 2: what was consumed before ages from its end, as the history says', async () => {
      const { ledger, pass, now } = lent();
      const old = await create();
      const end = now() - 5 * HOUR;
      const history = { at: end, event: 'e', from: 'A', to: 'B', executor: 'x' };
      await ledger.acceptTerminal(acceptStep(old, '1', { history }));
      const future = await create();
      await ledger.acceptTerminal(acceptStep(future, '1', { history: { ...history, at: now() + 99 * HOUR } }));
      const open = await create();
      await consumeAll();
      const waiting = await accept();
      await asBefore(old, future);
      pass(1);
      expect(await ledger.layout()).toMatchObject({ layout: 1 });
      expect(await states()).toEqual(['waiting', 'waiting', 'waiting']);
      expect(await counts()).toEqual([0, 0, 0]);
      const after = await ledger.migrate();
      expect(after).toMatchObject({ layout: 3 });
      expect(await states()).toEqual(['done', 'done', 'done']);
      // What is not consumed is not in the index.
      const staying = { open: 0, unconsumed: 0, unreceipted: 0 };
      expect(await purge()).toMatchObject({ records: { count: 1 }, staying });
      expect(await ledger.find(old)).toMatchObject({ kind: 'purged', tombstone: { settledAt: end } });
      // A history that tells of the future is not believed, and nobody waits for it.
      pass(HOUR);
      expect(await counts()).toEqual([1, 0, 0]);
      expect(await ledger.find(future)).toMatchObject({ kind: 'purged' });
      for (const id of [open, waiting]) expect((await ledger.find(id)).kind).toBe('record');
    });

    it('one without a history ages from its migration', async () => {
      const { ledger, pass } = lent();
      const operationId = newOperation(ledger);
      await ledger.create(step(operationId, { history: null }), null);
      await ledger.acceptTerminal(acceptStep(operationId, '1', { history: null }));
      await consumeAll();
      await asBefore(operationId);
      pass(9 * HOUR);
      await ledger.migrate();
      expect(await counts()).toEqual([0, 0, 0]);
      pass(HOUR);
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('is gone on with after a kill at any point, and two at a time do not disturb each other', async () => {
      const { store, pass, open } = lent();
      const one = await open({ namespace: 'long', partitions: 1 });
      const keys = new Keys('long').partition(0);
      const ids = Array.from({ length: 105 }, (_, i) =>
        one.operationIdOf({ namespace: 'long', principal: 'p', callNodeId: String(i) }),
      );
      await Promise.all(
        ids.map(async (id) => {
          await one.create(step(id), null);
          await one.acceptTerminal(acceptStep(id, '1'));
        }),
      );
      await Promise.all((await one.leaseReady('c', 300, 1000)).map((row) => one.ackReady(row, 'c')));
      for (const id of ids) await store.unrank(keys.settled, id);
      await store.plant('toolop:{long/meta}', 'layout', null);
      pass(1);

      // As one that is killed after each batch.
      for (const begun of [1, 2]) {
        await one.migrate({ signal: afterReading(2) });
        expect(await one.layout()).toMatchObject({ layout: 1 });
        expect(await states(one)).toEqual(['under way']);
        expect((await one.purge({ policy: { ...RECORDS, recordsMs: 0 }, dryRun: true })).records.count).toBe(
          50 * begun,
        );
      }
      const other = await open({ namespace: 'long' });
      await Promise.all([one.migrate(), other.migrate()]);
      expect(await one.layout()).toMatchObject({ layout: 3 });
      expect(await states(one)).toEqual(['done']);
      expect((await one.purge({ policy: { ...RECORDS, recordsMs: 0 } })).records.count).toBe(105);
    });

    it('a batch that is sent again changes nothing', async () => {
      const { store, now } = lent();
      const operationId = await consumed();
      await asBefore(operationId);
      const keys = keysOf(operationId);
      const host = await store.host();
      const batch = (from: string, to: string, at: number) =>
        host.run(
          'index-settled',
          [keys.migration, keys.settled, keys.consumed],
          [String(now()), from, to, operationId, String(at)],
        );
      expect(await batch('', '2:1:a', now() - HOUR)).toBe('2:1:a');
      expect(await batch('', '2:1:a', now())).toBe('2:1:a');
      expect(await batch('2:1:a', '2', now())).toBe('2');
      // One that comes late does not set it back.
      expect(await batch('', '2:1:a', now())).toBe('2');
      expect(await batch('2', '2', now())).toBe('2');
      await host.close();
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('again: what an older executor consumed since then is found', async () => {
      const { ledger, store, pass } = lent();
      const operationId = await consumed();
      await store.unrank(keysOf(operationId).settled, operationId);
      pass(HOUR);
      expect(await ledger.migrate()).toMatchObject({ layout: 3 });
      expect(await counts()).toEqual([0, 0, 0]);
      expect(await ledger.migrate({ again: true })).toMatchObject({ layout: 3 });
      expect(await ledger.migrate({ again: true })).toMatchObject({ layout: 3 });
      expect(await counts()).toEqual([1, 0, 0]);
    });

    it('leaves a newer layout untouched', async () => {
      const { store, ledger, open } = lent();
      await store.plant(META, 'layout', '4');
      await expect(open()).rejects.toThrow(LedgerIncompatible);
      await expect(open()).rejects.toThrow(/layout 4.*knows up to 3.*untouched/);
      await expect(ledger.migrate()).rejects.toThrow(LedgerIncompatible);
      expect((await ledger.layout()).layout).toBe(4);
    });

    it('B3: 2 → 3: a record of layout 2 is read as it stands, and is made a packed text as it was', async () => {
      const { ledger, store, now } = lent();
      const operationId = await create();
      const keys = keysOf(operationId);
      const before = await ledger.load(operationId);
      const history = { at: now(), event: 'e', from: 'A', to: 'B', executor: 'x' };
      await store.replace(keys.operation(operationId), null);
      const hash = {
        rev: '1',
        snap: before?.snapshot,
        state: before?.state,
        scope: before?.scope,
        due: '1000',
        own: '',
        lep: '0',
        unt: '',
      };
      for (const [field, value] of Object.entries({ ...hash, ...fields, rid: '', cmds: 'c 1' }))
        await store.plant(keys.operation(operationId), field, value ?? '');
      await store.plant(keys.history(operationId), '1', JSON.stringify(history));
      await store.plant(keys.payloads(operationId), payload.digest, payload.text);
      await store.plant(keys.migration, 'at', '2');
      await store.plant(META, 'layout', '2');
      const read = async () => [
        await ledger.load(operationId),
        await ledger.readHistory(operationId),
        await ledger.readPayload(operationId, payload.digest),
      ];
      const held = [{ ...before, dueAt: 1000 }, [history], payload.text];
      expect(await read()).toEqual(held);

      // Killed in the middle: whoever does not know the layout stays out from the beginning.
      await ledger.migrate({ signal: afterReading(1) });
      expect((await ledger.layout()).layout).toBe(3);
      expect((await ledger.layout()).migrations[1]?.partitions).toContain('under way');
      await ledger.migrate();
      expect((await ledger.layout()).migrations[1]?.partitions).toEqual(['done', 'done', 'done']);
      expect(await read()).toEqual(held);
      let lines: readonly string[] = [];
      await store.replace(keys.operation(operationId), (text) => {
        lines = text.toString('latin1').split('\n');
        return text;
      });
      expect(lines.slice(0, 6)).toEqual(['1', '', '0', '', '1000', before?.scope]);
      expect(await ledger.acceptTerminal(acceptStep(operationId, '1'))).toMatchObject({ kind: 'accepted' });
      expect(await ledger.audit()).toEqual([]);
    });

    it('B3, R3: what is to be written is raised for the whole fleet, and never goes back', async () => {
      const { ledger, open } = lent();
      expect(await ledger.writes()).toBe(1);
      expect(await ledger.raiseWrites(2)).toBe(2);
      expect(await ledger.raiseWrites(1)).toBe(2);
      expect(await ledger.raiseWrites(2)).toBe(2);
      expect(await ledger.raiseWrites(3)).toBe(3);
      const other = await open();
      expect(await other.writes()).toBe(3);
      expect(await other.layout()).toMatchObject({ writes: 3, layout: 3 });
    });
  });
}

/** A signal that is found aborted when it is looked at for this time: a run that ends there, as by a kill. */
function afterReading(times: number): AbortSignal {
  let looks = 0;
  return {
    get aborted() {
      looks += 1;
      return looks >= times;
    },
  } as AbortSignal;
}
