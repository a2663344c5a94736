import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../machines/digest.ts';
import {
  type AcceptFields,
  EPOCH_RAISED,
  LedgerIncompatible,
  LedgerUnavailable,
  type OperationLedger,
  type ReadyRow,
} from '../../machines/operation-ledger.ts';
import { SeenHistory } from '../../persistence/history.ts';
import { type LedgerOptions, openLedger } from '../../persistence/index.ts';
import { Keys, type PartitionKeys } from '../../persistence/keys.ts';
import { fieldsDigest, packBody, shortCommand } from '../../persistence/record-form.ts';
import type { ScriptHost } from '../../persistence/script-host.ts';
import type { ScriptName } from '../../persistence/scripts.ts';
import { Store } from '../../persistence/store.ts';
import { Switches } from '../../persistence/switches.ts';
import type { Lent } from './lent.ts';
import { oldRecordsContract } from './old-records.ts';
import { overviewContract } from './overview.ts';
import { recordsContract } from './records.ts';
import { retentionContract } from './retention.ts';
import { acceptStep, fields, NAMESPACE, newOperation, recordOf, step, unique, withLine } from './steps.ts';

/** A store under test, behind the ledger's back. */
export interface StoreUnderTest {
  readonly address: string;
  /** Runs single scripts, as a client that sends one again. */
  host(): Promise<ScriptHost>;
  /** Sets or (with `null`) removes the field of a hash. */
  plant(key: string, field: string, value: string | null): Promise<void>;
  /** Replaces a text, or (with `null`) removes whatever stands under the key. */
  replace(key: string, by: ((text: Buffer) => Buffer) | null): Promise<void>;
  /** Takes a member out of a sorted set. */
  unrank(key: string, member: string): Promise<void>;
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** One script of the history, as a client that has seen nothing of it yet; its reply without the mark. */
async function runOnHistory(
  host: ScriptHost,
  { mark }: PartitionKeys,
  script: ScriptName,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const [reply] = (await host.run(script, [...keys, mark], [...args, '', '1', '0'])) as unknown[];
  return reply;
}

/** What every host must do alike. */
export function ledgerContract(name: string, start: () => Promise<StoreUnderTest>): void {
  describe(`ledger on ${name}`, () => {
    let store: StoreUnderTest;
    let ledger: OperationLedger;
    let clock: number;
    const opened: OperationLedger[] = [];

    const open = async (options: Partial<LedgerOptions> = {}): Promise<OperationLedger> => {
      const another = await openLedger(store.address, {
        namespace: NAMESPACE,
        now: () => clock,
        definiteWithinMs: 2000,
        ...options,
      });
      opened.push(another);
      return another;
    };
    const create = async (change: Parameters<typeof step>[1] = {}, target = ledger): Promise<string> => {
      const operationId = newOperation(target);
      expect(await target.create(step(operationId, change), null)).toMatchObject({ kind: 'created' });
      return operationId;
    };
    const claim = async (owner: string, limit = 10, scopes = ['endpoint:e'], executionEpoch = 1) => {
      const { claimed, nextDueAt, epochOver } = await ledger.claimDue({
        owner,
        scopes,
        limit,
        leaseMs: 1000,
        executionEpoch,
      });
      return { claimed, nextDueAt, ...(epochOver === undefined ? {} : { epochOver }) };
    };

    const partitionKey = (operationId: string, name: string): string =>
      `toolop:1:{${NAMESPACE}/${operationId.slice(0, 3)}}:${name}`;

    beforeAll(async () => {
      store = await start();
    });
    afterAll(async () => {
      await store?.stop();
    });
    beforeEach(async () => {
      await store.clear();
      clock = 1_800_000_000_000;
      ledger = await open({ partitions: 3 });
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.close()));
    });

    describe('identity', () => {
      it('is a function of namespace, principal and call node', () => {
        const node = { namespace: NAMESPACE, principal: 'a', callNodeId: 'n' };
        expect(ledger.operationIdOf(node)).toMatch(/^p0[012]\.[0-9a-f]{64}$/);
        expect(ledger.operationIdOf(node)).toBe(ledger.operationIdOf({ ...node }));
        expect(ledger.operationIdOf({ ...node, principal: 'b' })).not.toBe(ledger.operationIdOf(node));
        expect(() => ledger.operationIdOf({ ...node, namespace: 'other' })).toThrow(/namespace/);
      });

      it('refuses ids of other ledgers with clear words', async () => {
        await expect(ledger.load('nonsense')).rejects.toThrow(/no operation of this ledger/);
        await expect(ledger.load(`p77.${'0'.repeat(64)}`)).rejects.toThrow(/no operation of this ledger/);
      });
    });

    describe('create', () => {
      it('writes record, payloads, history and index', async () => {
        const operationId = newOperation(ledger);
        const snapshot = '{"text":"ünï 😀 \\u0000","list":[],"n":12345678901234567890,"x":1.10}';
        const payload = { digest: sha256('p'), text: 'payload\u0000with NUL ✓' };
        const first = step(operationId, { snapshot, payloads: [payload] });
        const answer = await ledger.create(first, null);
        const record = {
          operationId,
          revision: '1',
          snapshot,
          state: 'WORKING',
          scope: 'endpoint:e',
          dueAt: 1000,
          lease: null,
        };
        expect(answer).toEqual({ kind: 'created', record });
        expect(await ledger.load(operationId)).toEqual(record);
        expect(await ledger.readPayload(operationId, payload.digest)).toBe(payload.text);
        expect(await ledger.readPayload(operationId, 'other')).toBeNull();
        expect(await ledger.readHistory(operationId)).toEqual([first.history]);
        expect(await ledger.readReceipt(operationId)).toBeNull();
      });

      it('answers with the record that is there, also to a different request under the same node', async () => {
        const operationId = await create({ snapshot: '"first"' });
        const other = step(operationId, { snapshot: '"second"', fields: { ...fields, requestDigest: 'other' } });
        expect(await ledger.create(other, null)).toMatchObject({ kind: 'exists', record: { snapshot: '"first"' } });
        expect((await ledger.readHistory(operationId)).length).toBe(1);
      });

      it('answers a repetition as the first time, also after later steps', async () => {
        const operationId = newOperation(ledger);
        const first = step(operationId);
        await ledger.create(first, null);
        await ledger.commit({ ...step(operationId), expectedRevision: '1' });
        expect(await ledger.create(first, null)).toMatchObject({ kind: 'created', record: { revision: '2' } });
      });

      it('lets one of eight creators win', async () => {
        const operationId = newOperation(ledger);
        const answers = await Promise.all(Array.from({ length: 8 }, () => ledger.create(step(operationId), null)));
        expect(answers.filter(({ kind }) => kind === 'created').length).toBe(1);
      });

      it('can start with a lease', async () => {
        const operationId = newOperation(ledger);
        const record = recordOf(await ledger.create(step(operationId), { owner: 'a', ms: 1000 }));
        expect(record.lease).toEqual({ owner: 'a', epoch: '1', until: clock + 1000 });
        expect(await claim('b')).toEqual({ claimed: [], nextDueAt: clock + 1000 });
        expect((await claim('a')).claimed).toEqual([]);
      });

      it('refuses what is too large before it sends', async () => {
        const small = await open({ maxSnapshotBytes: 100, maxPayloadBytes: 10 });
        const operationId = newOperation(small);
        await expect(small.create(step(operationId, { snapshot: 'x'.repeat(101) }), null)).rejects.toThrow(
          /snapshot.*101 bytes.*limit is 100/,
        );
        const payloads = [{ digest: 'd', text: 'x'.repeat(11) }];
        await expect(small.create(step(operationId, { payloads }), null)).rejects.toThrow(/payload d.*limit is 10/);
        expect(await small.load(operationId)).toBeNull();
      });
    });

    describe('commit', () => {
      it('compares the revision', async () => {
        const operationId = await create();
        const next = { ...step(operationId, { state: 'NEXT', dueAt: null }), expectedRevision: '1' };
        expect(await ledger.commit(next)).toEqual({ kind: 'committed', revision: '2' });
        expect(await ledger.load(operationId)).toMatchObject({ revision: '2', state: 'NEXT', dueAt: null });
        expect(await ledger.commit({ ...next, commandId: unique('other') })).toEqual({
          kind: 'conflict',
          revision: '2',
        });
        expect(await ledger.commit({ ...step(newOperation(ledger)), expectedRevision: '1' })).toEqual({
          kind: 'missing',
        });
      });

      it('answers every repetition as the first time, however late', async () => {
        const operationId = await create();
        const second = { ...step(operationId), expectedRevision: '1' };
        await ledger.commit(second);
        await ledger.commit({ ...step(operationId), expectedRevision: '2' });
        expect(await ledger.commit(second)).toEqual({ kind: 'committed', revision: '2' });
        expect(await ledger.load(operationId)).toMatchObject({ revision: '3' });
        expect((await ledger.readHistory(operationId)).length).toBe(3);
      });

      it('remembers the last two steps, and no more: an older one is judged anew', async () => {
        const operationId = await create();
        const steps = ['1', '2', '3'].map((expectedRevision) => ({ ...step(operationId), expectedRevision }));
        for (const each of steps) await ledger.commit(each);
        const [oldest, ...remembered] = await Promise.all(steps.map((each) => ledger.commit(each)));
        expect(oldest).toEqual({ kind: 'conflict', revision: '4' });
        expect(remembered.map(({ kind }) => kind)).toEqual(['committed', 'committed']);
      });

      it('leaves no line in the history for a step that has none', async () => {
        const operationId = await create();
        await ledger.commit({ ...step(operationId, { history: null }), expectedRevision: '1' });
        expect(await ledger.load(operationId)).toMatchObject({ revision: '2' });
        expect((await ledger.readHistory(operationId)).length).toBe(1);
      });

      it('counts past nine in order', async () => {
        const operationId = await create();
        for (let revision = 1; revision < 12; revision++) {
          const history = { at: revision, event: 'e', from: 'A', to: 'B', executor: 'x', note: `n${revision}` };
          await ledger.commit({ ...step(operationId, { history }), expectedRevision: String(revision) });
        }
        expect(await ledger.load(operationId)).toMatchObject({ revision: '12' });
        expect((await ledger.readHistory(operationId)).map(({ at }) => at)).toEqual([
          1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
        ]);
      });

      it('notes a refused fact between the steps, for who asks for it, and changes nothing else', async () => {
        const operationId = await create();
        const fact = (at: number) =>
          ({ at, event: 'poll.status', from: 'A', to: 'A', executor: 'x', refused: ['matchesPollCursor'] }) as const;
        await ledger.commit({ ...step(operationId), expectedRevision: '1' });
        const before = await ledger.load(operationId);
        await ledger.noteRefused(operationId, '1', fact(7));
        await ledger.noteRefused(operationId, '1', fact(5));
        await ledger.noteRefused(operationId, '1', fact(5));
        await ledger.noteRefused(operationId, '2', fact(3));
        expect(await ledger.load(operationId)).toEqual(before);
        expect((await ledger.readHistory(operationId)).length).toBe(2);
        const all = await ledger.readHistory(operationId, { refused: true });
        expect(all.map(({ at, refused }) => (refused ? at : 'step'))).toEqual(['step', 5, 7, 'step', 3]);
        expect(all[1]).toEqual(fact(5));
      });

      it('notes nothing of an operation that is not there, and not without end', async () => {
        const fact = { at: 1, event: 'poll.status', from: 'A', to: 'A', executor: 'x', refused: ['g'] };
        const missing = newOperation(ledger);
        await ledger.noteRefused(missing, '1', fact);
        expect(await ledger.readHistory(missing, { refused: true })).toEqual([]);
        const operationId = await create();
        for (let at = 1; at <= 300; at++) await ledger.noteRefused(operationId, '1', { ...fact, at });
        expect((await ledger.readHistory(operationId, { refused: true })).length).toBe(1 + 256);
      });

      it('lets one of eight win', async () => {
        const operationId = await create();
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => ledger.commit({ ...step(operationId), expectedRevision: '1' })),
        );
        expect(answers.filter(({ kind }) => kind === 'committed').length).toBe(1);
      });

      it('refuses to move a record to another scope', async () => {
        const operationId = await create();
        const moved = { ...step(operationId, { scope: 'process:1' }), expectedRevision: '1' };
        await expect(ledger.commit(moved)).rejects.toThrow(/endpoint:e.*for good/);
        expect(await ledger.load(operationId)).toMatchObject({ revision: '1' });
      });
    });

    describe('leases', () => {
      it('hands a due record to one owner, with a new epoch for each', async () => {
        const operationId = await create();
        const [a, b] = await Promise.all([claim('a'), claim('b')]);
        expect(a.claimed.length + b.claimed.length).toBe(1);
        const first = [...a.claimed, ...b.claimed][0];
        expect(first).toMatchObject({ operationId, dueAt: 1000, lease: { epoch: '1', until: clock + 1000 } });

        clock += 1001;
        expect((await claim('c')).claimed[0]?.lease).toEqual({ owner: 'c', epoch: '2', until: clock + 1000 });
        expect(await ledger.renewLease(operationId, first?.lease?.owner ?? '', '1', 1000)).toBeNull();
        expect(await ledger.load(operationId)).toMatchObject({ revision: '1', lease: { owner: 'c' } });
      });

      it('tells when to ask again', async () => {
        expect(await claim('a')).toEqual({ claimed: [], nextDueAt: null });
        await create({ dueAt: clock + 500 });
        await create({ dueAt: clock + 300 });
        await create({ dueAt: null });
        expect(await claim('a')).toEqual({ claimed: [], nextDueAt: clock + 300 });
        clock += 300;
        const { claimed, nextDueAt } = await claim('a');
        expect([claimed.length, nextDueAt]).toEqual([1, clock + 200]);
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
          if (seen.length < 30) expect(nextDueAt).toBeLessThanOrEqual(clock);
        }
        expect(seen.sort()).toEqual(all.sort());
        expect((await claim('a', 7, ['process:other', 'endpoint:none'])).claimed.length).toBe(1);
      });

      it('keeps the lease through steps of its owner, until it is given back', async () => {
        const operationId = await create();
        await claim('a');
        await ledger.commit({ ...step(operationId, { dueAt: 7 }), expectedRevision: '1', leaseOwner: 'a' });
        expect(await ledger.load(operationId)).toMatchObject({ dueAt: 7, lease: { owner: 'a' } });
        expect(await claim('b')).toEqual({ claimed: [], nextDueAt: clock + 1000 });
        expect((await claim('a')).claimed).toEqual([]);
        const last = { ...step(operationId), expectedRevision: '2', leaseOwner: 'a', releaseLease: true };
        await ledger.commit(last);
        expect(await ledger.load(operationId)).toMatchObject({ lease: null });
        expect((await claim('b')).claimed[0]?.lease).toMatchObject({ owner: 'b', epoch: '2' });
      });

      it('shows a step of somebody else to the owner only, while the lease lives', async () => {
        const operationId = await create();
        await claim('a');
        expect((await claim('a')).claimed).toEqual([]);
        await ledger.commit({ ...step(operationId, { dueAt: clock }), expectedRevision: '1' });
        expect(await claim('b', 1)).toEqual({ claimed: [], nextDueAt: clock + 1000 });
        const { claimed } = await claim('a');
        expect(claimed[0]).toMatchObject({ revision: '2', lease: { owner: 'a', epoch: '1' } });
      });

      it('finds free records behind many that others hold', async () => {
        const heldOnes = await Promise.all(Array.from({ length: 12 }, () => create({ dueAt: 1 })));
        await claim('a', 20);
        for (const operationId of heldOnes) {
          await ledger.commit({ ...step(operationId, { dueAt: 1 }), expectedRevision: '1' });
        }
        const free = await create({ dueAt: 2 });
        expect((await claim('b', 1)).claimed.map(({ operationId }) => operationId)).toEqual([free]);
      });

      it('does not let a renewal or a release hide a step of somebody else', async () => {
        const operationId = await create();
        await claim('a');
        await ledger.commit({ ...step(operationId, { dueAt: clock }), expectedRevision: '1' });
        expect(await ledger.renewLease(operationId, 'a', '1', 5000)).toEqual({ until: clock + 5000, revision: '2' });
        expect((await claim('b')).nextDueAt).toBe(clock + 5000);
        await ledger.releaseLease(operationId, 'a', '1', clock + 60_000, '1');
        expect((await claim('b')).claimed[0]).toMatchObject({ dueAt: clock, lease: { owner: 'b', epoch: '2' } });
      });

      it('shows the owner a step of somebody else also after a renewal', async () => {
        const operationId = await create();
        await claim('a');
        await ledger.commit({ ...step(operationId, { dueAt: clock }), expectedRevision: '1' });
        await ledger.renewLease(operationId, 'a', '1', 5000);
        expect((await claim('a')).claimed[0]).toMatchObject({ revision: '2', lease: { owner: 'a', epoch: '1' } });
      });

      it('judges a step of a former owner by its revision and leaves the new lease alone', async () => {
        const operationId = await create();
        await claim('a');
        clock += 1001;
        await claim('b');
        const late = { ...step(operationId), expectedRevision: '1', leaseOwner: 'a', releaseLease: true };
        expect(await ledger.commit(late)).toEqual({ kind: 'committed', revision: '2' });
        expect(await ledger.load(operationId)).toMatchObject({ lease: { owner: 'b', epoch: '2' } });
        expect((await claim('b')).claimed[0]).toMatchObject({ revision: '2' });
      });

      /** Runs the script itself, in the first partition. */
      const claimer =
        (host: ScriptHost, owner: string) =>
        async (commandId: string, limit = 10, overdueMs = 0) => {
          const keys = new Keys(NAMESPACE).partition(0);
          const [now, next, rows] = (await runOnHistory(
            host,
            keys,
            'claim',
            [keys.operationPrefix, keys.claims, keys.claimEnds, keys.switches, keys.due('endpoint:e')],
            [String(clock), commandId, owner, '1000', String(limit), '1', String(overdueMs)],
          )) as [string, string, (string | string[])[]];
          const ids = rows.filter((row): row is string => typeof row === 'string');
          return { late: Number(now) - clock, next: next === '' ? null : Number(next) - clock, ids, rows };
        };
      /** Creates that many in the first partition, each due at a time of its own. */
      const createHere = async (count: number, dueAt: number): Promise<string[]> => {
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
        const host = await store.host();
        const here = claimer(host, 'a');
        const ids = await createHere(5, clock + 10);
        expect(await here('early')).toMatchObject({ late: 0, next: 10, ids: [] });
        clock += 12;
        expect(await here('some', 2)).toMatchObject({ next: 0, ids: ids.slice(0, 2) });
        const one = await here('one more', 1);
        expect(one).toMatchObject({ next: 1, ids: [ids[2]] });
        expect(one.rows[1]).toEqual([
          '1',
          expect.any(Buffer),
          '',
          'endpoint:e',
          String(clock),
          'a',
          '1',
          String(clock + 1000),
        ]);
        clock += 5;
        expect(await here('the rest')).toMatchObject({ next: 995, ids: ids.slice(3) });
        await host.close();
      });

      it('answers a repeated claim as the first time, and takes nothing new for it', async () => {
        const host = await store.host();
        const [a, b] = [claimer(host, 'a'), claimer(host, 'b')];
        const ids = await createHere(3, 1);
        const first = await a('command-1', 2);
        expect(first.ids).toEqual(ids.slice(0, 2));
        clock += 1;
        expect((await a('command-1', 2)).rows).toEqual(first.rows);
        expect((await b('command-1', 2)).ids).toEqual(ids.slice(2));
        // What the owner gave back meanwhile is not its own any more.
        await ledger.releaseLease(ids[0] as string, 'a', '1', clock + 5000, '1');
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
        const host = await store.host();
        const ids = await createHere(1, 1);
        await claimer(host, 'a')('command');
        clock += 999;
        expect((await claimer(host, 'a')('command')).rows[1]).toContain(String(clock + 1));
        clock += 1;
        const again = await claimer(host, 'a')('command');
        expect(again.ids).toEqual(ids);
        expect(again.rows[1]).toEqual(expect.arrayContaining(['2', String(clock + 1000)]));
        clock += 1000;
        expect(await claimer(host, 'b')('nothing', 0)).toMatchObject({ next: 0, ids: [] });
        const keys = new Keys(NAMESPACE).partition(0);
        expect(await host.run('entries', [keys.claims], [String(clock)])).toEqual([]);
        await host.close();
      });

      it('B8: leaves what is not overdue for long enough to others, and says when it will be', async () => {
        const operationId = await create({ dueAt: clock + 100 });
        const partition = ledger.partitionOf(operationId) as number;
        const ask = { owner: 'a', scopes: ['endpoint:e', 'endpoint:f'], limit: 10, leaseMs: 1000, executionEpoch: 1 };
        const patient = { ...ask, overdueMs: (_: number, scope: string) => (scope === 'endpoint:e' ? 2000 : 0) };
        expect(await ledger.claimDue(patient)).toEqual({
          claimed: [],
          now: clock,
          nextDueAt: clock + 2100,
          nextDue: new Map([[partition, clock + 2100]]),
          regressed: new Map(),
        });
        clock += 2099;
        expect(await ledger.claimDue(patient)).toMatchObject({ claimed: [], nextDueAt: clock + 1 });
        clock += 1;
        expect((await ledger.claimDue(patient)).claimed.map((record) => record.operationId)).toEqual([operationId]);
        expect(await ledger.claimDue({ ...patient, owner: 'b' })).toMatchObject({ nextDueAt: clock + 1000 + 2000 });
        expect(await ledger.claimDue({ ...ask, owner: 'b' })).toMatchObject({ nextDueAt: clock + 1000 });
      });

      it('looks only into the partitions that it is told, and answers each on its own', async () => {
        const namespace = unique('parts');
        const many = await open({ namespace, partitions: 4 });
        const ids = Array.from({ length: 12 }, () =>
          many.operationIdOf({ namespace, principal: 'p', callNodeId: unique('node') }),
        );
        await Promise.all(ids.map((id) => many.create(step(id, { dueAt: clock + (many.partitionOf(id) ?? 9) }), null)));
        const inside = (...partitions: number[]) =>
          ids.filter((id) => partitions.includes(many.partitionOf(id) ?? 9)).sort();
        clock += 3;
        const ask = { owner: 'a', scopes: ['endpoint:e'], limit: 100, leaseMs: 1000, executionEpoch: 1 };
        const { claimed, nextDue } = await many.claimDue({ ...ask, partitions: [1, 3] });
        expect(claimed.map((record) => record.operationId).sort()).toEqual(inside(1, 3));
        for (const partition of [0, 2]) expect(nextDue.has(partition)).toBe(false);
        for (const partition of [1, 3])
          expect(nextDue.get(partition)).toBe(inside(partition).length > 0 ? clock + 1000 : undefined);
        const rest = await many.claimDue({ ...ask, partitions: [0, 1, 2] });
        expect(rest.claimed.map((record) => record.operationId).sort()).toEqual(inside(0, 2));
        await expect(many.claimDue({ ...ask, partitions: [4] })).rejects.toThrow('no partition 4');
        expect(many.partitions).toBe(4);
        expect(
          ['', 'p04.', `p04.${'0'.repeat(64)}`, `p00.${'0'.repeat(64)}`].map((id) => many.partitionOf(id)),
        ).toEqual([null, null, null, 0]);
      });

      it('a due time whose record is gone is nobody’s', async () => {
        const operationId = await create();
        const key = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3))).operation(operationId);
        await store.replace(key, null);
        expect(await ledger.load(operationId)).toBeNull();
        expect((await claim('a')).claimed).toEqual([]);
      });

      it('takes a renewal or a release only for the very lease that it names', async () => {
        const operationId = await create();
        await claim('a');
        clock += 1001;
        await claim('a');
        expect(await ledger.renewLease(operationId, 'a', '1', 9000)).toBeNull();
        expect(await ledger.renewLease(operationId, 'b', '2', 9000)).toBeNull();
        await ledger.releaseLease(operationId, 'a', '1', null, '1');
        await ledger.releaseLease(operationId, 'b', '2', null, '1');
        const lease = { owner: 'a', epoch: '2', until: clock + 1000 };
        expect(await ledger.load(operationId)).toMatchObject({ dueAt: 1000, lease });
      });

      it('renews the lease of a record that has nothing due', async () => {
        const operationId = await create();
        await claim('a');
        await ledger.commit({ ...step(operationId, { dueAt: null }), expectedRevision: '1', leaseOwner: 'a' });
        expect(await ledger.renewLease(operationId, 'a', '1', 5000)).toEqual({ until: clock + 5000, revision: '2' });
        expect(await claim('b')).toEqual({ claimed: [], nextDueAt: null });
      });

      it('renews and releases', async () => {
        const operationId = await create();
        await claim('a');
        clock += 900;
        expect(await ledger.renewLease(operationId, 'a', '1', 1000)).toEqual({ until: clock + 1000, revision: '1' });
        clock += 900;
        expect((await claim('a')).claimed).toEqual([]);
        expect(await claim('b')).toEqual({ claimed: [], nextDueAt: clock + 100 });
        await ledger.releaseLease(operationId, 'b', '1', null, '1');
        expect(await ledger.load(operationId)).toMatchObject({ lease: { owner: 'a' } });
        await ledger.releaseLease(operationId, 'a', '1', null, '1');
        await ledger.releaseLease(operationId, 'a', '1', 5, '1');
        expect(await ledger.load(operationId)).toMatchObject({ lease: null, dueAt: null });
        expect(await claim('b')).toEqual({ claimed: [], nextDueAt: null });
        expect(await ledger.renewLease(newOperation(ledger), 'a', '1', 1000)).toBeNull();
        await ledger.releaseLease(newOperation(ledger), 'a', '1', 5, '1');
        // Purged between the look at its scope and the script.
        const keys = new Keys(NAMESPACE).partition(0);
        const gone = [keys.operation('gone'), keys.due('endpoint:e')];
        const host = await store.host();
        expect(await host.run('renew', gone, [String(clock), 'gone', 'a', '1', '1000'])).toEqual(['lost']);
        expect(await host.run('release', gone, [String(clock), 'gone', 'a', '1', '5', '1'])).toEqual(['lost']);
        await host.close();
      });
    });

    describe('accept', () => {
      it('writes record, receipt and one ready row, and ends lease and due time', async () => {
        const operationId = await create();
        await claim('a');
        const terminal = acceptStep(operationId, '1');
        expect(await ledger.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
        expect(await ledger.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
        expect(await ledger.readReceipt(operationId)).toBe(terminal.receipt);
        expect(await ledger.load(operationId)).toMatchObject({ state: 'ACCEPTED', dueAt: null, lease: null });
        clock += 5000;
        expect(await claim('b')).toEqual({ claimed: [], nextDueAt: null });
        expect(await ledger.audit()).toEqual([]);
      });

      it('answers a second acceptance with the one receipt', async () => {
        const operationId = await create();
        const terminal = acceptStep(operationId, '1');
        await ledger.acceptTerminal(terminal);
        expect(await ledger.acceptTerminal({ ...acceptStep(operationId, '2'), receipt: 'other' })).toEqual({
          kind: 'duplicate',
          receipt: terminal.receipt,
        });
      });

      it.each(Object.keys(fields) as (keyof AcceptFields)[])('names %s when it contradicts', async (field) => {
        const operationId = await create();
        const terminal = acceptStep(operationId, '1');
        const expected = { ...fields, [field]: 'other' };
        expect(await ledger.acceptTerminal({ ...terminal, expected })).toEqual({ kind: 'mismatch', field });
        expect(await ledger.load(operationId)).toMatchObject({ revision: '1', state: 'WORKING' });
        expect(await ledger.acceptTerminal(terminal)).toMatchObject({ kind: 'accepted' });
      });

      it('refuses to move a record to another scope', async () => {
        const operationId = await create();
        const moved = acceptStep(operationId, '1', { scope: 'process:1' });
        await expect(ledger.acceptTerminal(moved)).rejects.toThrow(/endpoint:e.*for good/);
        expect(await ledger.readReceipt(operationId)).toBeNull();
        expect(await ledger.acceptTerminal(acceptStep(operationId, '1'))).toMatchObject({ kind: 'accepted' });
      });

      it('compares the revision', async () => {
        const operationId = await create();
        await ledger.commit({ ...step(operationId), expectedRevision: '1' });
        expect(await ledger.acceptTerminal(acceptStep(operationId, '1'))).toEqual({ kind: 'conflict', revision: '2' });
        expect(await ledger.acceptTerminal(acceptStep(newOperation(ledger), '1'))).toEqual({ kind: 'missing' });
      });

      it('makes one ready row when eight accept at once', async () => {
        const operationIds = await Promise.all(Array.from({ length: 10 }, () => create()));
        const answers = await Promise.all(
          operationIds.flatMap((operationId) =>
            Array.from({ length: 8 }, () => ledger.acceptTerminal(acceptStep(operationId, '1'))),
          ),
        );
        expect(answers.filter(({ kind }) => kind === 'accepted').length).toBe(10);
        expect(answers.filter(({ kind }) => kind === 'duplicate').length).toBe(70);
        const rows = await ledger.leaseReady('c', 100, 1000);
        expect(rows.map((row) => row.operationId).sort()).toEqual(operationIds.sort());
        expect(await ledger.audit()).toEqual([]);
      });
    });

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
        const answer = await ledger.commit({ ...step(operationId, change), expectedRevision });
        expect(answer.kind).toBe('committed');
        revisions.set(operationId, revision + 1);
      };

      it('G5: says since when the oldest outcome is unknown, however often the step is repeated', async () => {
        expect(await ledger.vitals()).toEqual({ open: NONE, parked: NONE, readyAgeMs: 0 });
        const [first, second] = [await create(), await create()];
        await moves(first, 'SUBMISSION_UNKNOWN', { before: null, after: 'open' });
        clock += 500;
        await moves(second, 'CLASSIFYING_NOT_FOUND', { before: null, after: 'open' });
        await moves(first, 'SUBMISSION_UNKNOWN', { before: 'open', after: 'open' });
        clock += 200;
        expect(await ledger.vitals()).toMatchObject({ open: { count: 2, oldestAgeMs: 700 }, parked: NONE });
        await moves(first, 'PARKED.watching', { before: 'open', after: 'parked' });
        clock += 100;
        expect(await ledger.vitals()).toMatchObject({
          open: { count: 1, oldestAgeMs: 300 },
          parked: { count: 1, oldestAgeMs: 100 },
        });
        await moves(second, 'WORKING.polling', { before: 'open', after: null });
        await moves(first, 'CLASSIFYING_NOT_FOUND', { before: 'parked', after: 'open' });
        expect(await ledger.vitals()).toMatchObject({ open: { count: 1, oldestAgeMs: 0 }, parked: NONE });
        await moves(first, 'PARKED.idle', { before: 'open', after: 'parked' });
        await moves(first, 'CONCLUDING.givenUp', { before: 'parked', after: null });
        expect(await ledger.vitals()).toMatchObject({ open: NONE, parked: NONE });
      });

      it('G5: a mark that an older executor left behind is cleared away, and no other', async () => {
        const operations = [await create(), await create(), await create()] as const;
        for (const operationId of operations.slice(0, 2)) {
          await moves(operationId, 'PARKED.idle', { before: null, after: 'parked' });
          clock += 100;
        }
        await moves(operations[2], 'SUBMISSION_UNKNOWN', { before: null, after: 'open' });
        await moves(operations[0], 'WORKING.polling');
        await moves(operations[2], 'WORKING.polling');
        expect(await ledger.vitals()).toMatchObject({ open: NONE, parked: { count: 1, oldestAgeMs: 100 } });
        const keys = new Keys(NAMESPACE).partition(Number(operations[1].slice(1, 3)));
        const host = await store.host();
        const cleared = [keys.operation(operations[1]), keys.unknown, keys.parked];
        expect(await host.run('certain', cleared, [String(clock), operations[1], '1'])).toBe(0);
        expect(await ledger.vitals()).toMatchObject({ parked: { count: 1, oldestAgeMs: 100 } });
        await host.close();
        // Nothing is unknown of an operation that is gone.
        await store.replace(keys.operation(operations[1]), null);
        expect(await ledger.vitals()).toMatchObject({ open: NONE, parked: NONE });
      });

      it('G6: says how long the oldest row waits, also while it is leased again and again', async () => {
        const [first, second] = [await create(), await create()];
        await ledger.acceptTerminal(acceptStep(first, '1'));
        clock += 400;
        await ledger.acceptTerminal(acceptStep(second, '1'));
        clock += 100;
        expect((await ledger.vitals()).readyAgeMs).toBe(500);
        for (const consumer of ['a', 'b']) {
          expect(await ledger.leaseReady(consumer, 10, 1000)).toHaveLength(2);
          expect((await ledger.vitals()).readyAgeMs).toBe(consumer === 'a' ? 500 : 2500);
          clock += 2000;
        }
        const rows = await ledger.leaseReady('c', 10, 1000);
        for (const row of rows.filter(({ operationId }) => operationId === first)) await ledger.ackReady(row, 'c');
        expect((await ledger.vitals()).readyAgeMs).toBe(4100);
        for (const row of rows.filter(({ operationId }) => operationId === second)) await ledger.ackReady(row, 'c');
        expect((await ledger.vitals()).readyAgeMs).toBe(0);
      });

      it('G6: a row that a consumer of the release before acknowledged waits no more', async () => {
        const operationId = await create();
        await ledger.acceptTerminal(acceptStep(operationId, '1'));
        const [row] = (await ledger.leaseReady('c', 10, 1000)) as [ReadyRow];
        const keys = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));
        const host = await store.host();
        const before = [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumed, keys.settled, keys.gone];
        const args = [String(clock), 'c', operationId, row.token];
        expect(await runOnHistory(host, keys, 'ack-ready', before, args)).toEqual(['1']);
        clock += 1000;
        expect((await ledger.vitals()).readyAgeMs).toBe(0);
        await host.close();
      });

      it('G6: nobody waits for an entry of the queue whose row is gone', async () => {
        const operationId = await create();
        await ledger.acceptTerminal(acceptStep(operationId, '1'));
        await store.plant(partitionKey(operationId, 'ready'), operationId, null);
        clock += 1000;
        expect((await ledger.vitals()).readyAgeMs).toBe(0);
      });

      it('G6: the oldest row is the oldest also where the clock of the store went back', async () => {
        const namespace = unique('clock');
        const one = await open({ namespace, partitions: 1 });
        const accept = async () => {
          const operationId = one.operationIdOf({ namespace, principal: 'p', callNodeId: unique('node') });
          await one.create(step(operationId), null);
          await one.acceptTerminal(acceptStep(operationId, '1'));
        };
        await accept();
        expect(await one.leaseReady('c', 1, 1000)).toHaveLength(1);
        clock -= 300;
        await accept();
        clock += 400;
        expect((await one.vitals()).readyAgeMs).toBe(400);
      });
    });

    describe('outbox', () => {
      const accept = async (): Promise<string> => {
        const operationId = await create();
        await ledger.acceptTerminal(acceptStep(operationId, '1'));
        return operationId;
      };

      it('leases a row to one consumer and forgets it when it is acknowledged', async () => {
        const operationId = await accept();
        const [row] = (await ledger.leaseReady('c1', 5, 1000)) as [ReadyRow];
        expect(row).toMatchObject({ operationId, receipt: await ledger.readReceipt(operationId) });
        expect(await ledger.leaseReady('c2', 5, 1000)).toEqual([]);
        expect(await ledger.ackReady(row, 'c2')).toBe(false);
        expect(await ledger.ackReady(row, 'c1')).toBe(true);
        expect(await ledger.ackReady(row, 'c1')).toBe(true);
        clock += 5000;
        expect(await ledger.leaseReady('c2', 5, 1000)).toEqual([]);
        expect(await ledger.readReceipt(operationId)).not.toBeNull();
        expect(await ledger.audit()).toEqual([]);
      });

      it('gives a row to somebody else when the lease is over', async () => {
        await accept();
        const [row] = (await ledger.leaseReady('c1', 5, 1000)) as [ReadyRow];
        clock += 1001;
        const [again] = (await ledger.leaseReady('c2', 5, 1000)) as [ReadyRow];
        expect(again.operationId).toBe(row.operationId);
        expect(await ledger.ackReady(row, 'c1')).toBe(false);
        expect(await ledger.ackReady(again, 'c2')).toBe(true);
        expect(await ledger.ackReady(row, 'c1')).toBe(false);
      });

      it('acknowledges many rows at once, each by its own lease', async () => {
        for (let row = 0; row < 12; row++) await accept();
        const rows = await ledger.leaseReady('c', 100, 1000);
        expect(rows).toHaveLength(12);
        const [lost, ...kept] = rows as [ReadyRow, ...ReadyRow[]];
        const acks = [
          ledger.ackReady({ ...lost, token: 'another' }, 'c'),
          ...kept.map((row) => ledger.ackReady(row, 'c')),
        ];
        expect(await Promise.all(acks)).toEqual([false, ...kept.map(() => true)]);
        clock += 1001;
        expect((await ledger.leaseReady('d', 100, 1000)).map((row) => row.operationId)).toEqual([lost.operationId]);
        expect(await ledger.audit()).toEqual([]);
      });

      it('leases in the partitions that it is told, and in no other', async () => {
        const ids = await Promise.all(Array.from({ length: 12 }, () => accept()));
        const partition = ledger.partitionOf(ids[0] as string) as number;
        const there = ids.filter((id) => ledger.partitionOf(id) === partition);
        const rows = await ledger.leaseReady('c', 100, 1000, [partition]);
        expect(rows.map((row) => row.operationId).sort()).toEqual(there.sort());
        expect(await ledger.leaseReady('c', 100, 1000, [])).toEqual([]);
        await expect(ledger.leaseReady('c', 100, 1000, [ledger.partitions])).rejects.toThrow(RangeError);
        expect(await ledger.leaseReady('c', 100, 1000)).toHaveLength(12 - there.length);
      });

      it('gives a consumer what is new while it still has something', async () => {
        // Two of four share a partition.
        for (let row = 0; row < 4; row++) {
          const operationId = await accept();
          const leased = await ledger.leaseReady('c', 5, 1000);
          expect(leased.map((each) => each.operationId)).toEqual([operationId]);
        }
      });

      it('answers a repeated lease with the same rows', async () => {
        const operationId = await accept();
        const keys = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));
        const host = await store.host();
        const lease = (token: string) =>
          runOnHistory(
            host,
            keys,
            'lease-ready',
            [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumers, keys.receipts, keys.delivering],
            [String(clock), token, 'c', '5', '1000'],
          );
        const first = await lease('token-1');
        expect(first).toEqual([operationId, await ledger.readReceipt(operationId)]);
        expect(await lease('token-1')).toEqual(first);
        expect(await lease('token-2')).toEqual([]);
        await host.close();
      });

      it('repeats of a lease what is still leased so', async () => {
        const operationId = await accept();
        const keys = new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));
        const host = await store.host();
        const lease = () =>
          runOnHistory(
            host,
            keys,
            'lease-ready',
            [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumers, keys.receipts, keys.delivering],
            [String(clock), 'token', 'c', '5', '1000'],
          );
        expect(await lease()).toHaveLength(2);
        const acknowledged = await runOnHistory(
          host,
          keys,
          'ack-ready',
          [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumed, keys.settled, keys.delivering],
          [String(clock), 'c', operationId, 'token'],
        );
        expect(acknowledged).toEqual(['1']);
        expect(await lease()).toEqual([]);
        await host.close();
      });

      it('keeps nothing for a consumer that got nothing', async () => {
        const keys = new Keys(NAMESPACE).partition(0);
        const host = await store.host();
        const leased = await runOnHistory(
          host,
          keys,
          'lease-ready',
          [keys.readyRows, keys.readyQueue, keys.readyLeases, keys.consumers, keys.receipts, keys.delivering],
          [String(clock), 'token', 'idle', '5', '1000'],
        );
        expect(leased).toEqual([]);
        expect(await host.run('entries', [keys.consumers], [String(clock)])).toEqual([]);
        await host.close();
      });

      it('leases nothing without a receipt or without a row, and acknowledges nothing whose row is gone', async () => {
        const [lost, unready, leased] = [await accept(), await accept(), await accept()];
        await store.plant(partitionKey(lost, 'rc'), lost, null);
        await store.plant(partitionKey(unready, 'ready'), unready, null);
        const rows = await ledger.leaseReady('c', 5, 1000);
        expect(rows.map(({ operationId }) => operationId)).toEqual([leased]);
        await store.plant(partitionKey(leased, 'ready'), leased, null);
        expect(await ledger.ackReady(rows[0] as ReadyRow, 'c')).toBe(false);
      });

      it('hands out each row once to many consumers', async () => {
        const all = await Promise.all(Array.from({ length: 20 }, accept));
        const leased = await Promise.all(['a', 'b', 'c', 'd'].map((consumer) => ledger.leaseReady(consumer, 8, 1000)));
        const rows = leased.flat();
        expect(Math.max(...leased.map((each) => each.length))).toBeLessThanOrEqual(8);
        expect(new Set(rows.map((row) => row.operationId)).size).toBe(rows.length);
        clock += 1001;
        expect((await ledger.leaseReady('e', 100, 1000)).map((row) => row.operationId).sort()).toEqual(all.sort());
      });
    });

    describe('audit', () => {
      it('finds a ready row that no consumer can lease', async () => {
        const operationId = await create();
        await ledger.acceptTerminal(acceptStep(operationId, '1'));
        const [row] = (await ledger.leaseReady('c', 5, 1000)) as [ReadyRow];
        await ledger.ackReady(row, 'c');
        await store.plant(partitionKey(operationId, 'consumed'), operationId, null);
        await store.plant(partitionKey(operationId, 'ready'), operationId, sha256(row.receipt));
        expect(await ledger.audit()).toEqual([{ operationId, problem: 'a ready row that no consumer can lease' }]);
      });

      it('finds what is not one-to-one', async () => {
        const [lost, unready, twice, changed] = (await Promise.all(
          Array.from({ length: 4 }, async () => {
            const operationId = await create();
            await ledger.acceptTerminal(acceptStep(operationId, '1'));
            return operationId;
          }),
        )) as [string, string, string, string];
        const orphan = newOperation(ledger);
        expect(await ledger.audit()).toEqual([]);
        await store.plant(partitionKey(lost, 'rc'), lost, null);
        await store.plant(partitionKey(unready, 'ready'), unready, null);
        await store.plant(partitionKey(twice, 'consumed'), twice, `${'0'.repeat(64)} c t`);
        await store.plant(partitionKey(changed, 'rc'), changed, 'another receipt');
        await store.plant(partitionKey(orphan, 'rc'), orphan, 'a receipt from nowhere');
        const findings = await ledger.audit();
        const of = (operationId: string) =>
          findings.filter((each) => each.operationId === operationId).map(({ problem }) => problem);
        expect(of(lost)).toEqual([expect.stringContaining('gone'), 'a ready row without a receipt']);
        expect(of(unready)).toContain('a receipt with neither a ready row nor a consumed mark');
        expect(of(twice)).toContain('a ready row of something already consumed');
        expect(of(changed)).toEqual(['a ready row of another receipt']);
        expect(of(orphan)).toContain('a receipt without a record');
      });
    });

    describe('list', () => {
      it('walks all operations in pages', async () => {
        const all = await Promise.all(Array.from({ length: 11 }, () => create()));
        const seen: string[] = [];
        let cursor: string | null | undefined;
        do {
          const page = await ledger.list({ limit: 4, ...(cursor ? { cursor } : {}) });
          expect(page.operations.length).toBeLessThanOrEqual(4);
          seen.push(...page.operations.map(({ operationId }) => operationId));
          cursor = page.cursor;
        } while (cursor !== null);
        expect(seen.sort()).toEqual(all.sort());
        await expect(ledger.list({ limit: 1, cursor: 'x' })).rejects.toThrow(/no cursor/);
      });
    });

    describe('switches', () => {
      const creates = 'mcp-test';
      afterEach(() => ledger.setAdapter(creates, 'active'));

      it('R4: an adapter that was never switched is active', async () => {
        const operationId = newOperation(ledger);
        expect(await ledger.adapterState('never-set', operationId)).toBe('active');
        expect(await ledger.create(step(operationId, { creates: 'never-set' }), null)).toMatchObject({
          kind: 'created',
        });
      });

      it.each(['draining', 'disabled'] as const)('R4: %s: nothing is created, and nothing is sent', async (state) => {
        const before = newOperation(ledger);
        await ledger.create(step(before, { creates }), null);
        await ledger.setAdapter(creates, state);
        const after = newOperation(ledger);
        expect(await ledger.create(step(after, { creates }), null)).toEqual({ kind: 'switchedOff', state });
        expect(await ledger.load(after)).toBeNull();
        const sending = { ...step(before, { creates }), expectedRevision: '1' };
        expect(await ledger.commit(sending)).toEqual({ kind: 'switchedOff', state });
        expect((await ledger.load(before))?.revision).toBe('1');
        // Everything else goes on.
        expect(await ledger.commit({ ...step(before), expectedRevision: '1' })).toMatchObject({ kind: 'committed' });
        expect(await ledger.create(step(newOperation(ledger), { creates: 'other' }), null)).toMatchObject({
          kind: 'created',
        });
      });

      it('R4: a step that was taken before is answered as taken, also when its adapter is off by now', async () => {
        const operationId = newOperation(ledger);
        const first = step(operationId, { creates });
        const second = { ...step(operationId, { creates }), expectedRevision: '1' };
        await ledger.create(first, null);
        await ledger.commit(second);
        await ledger.setAdapter(creates, 'draining');
        expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
        expect(await ledger.commit(second)).toEqual({ kind: 'committed', revision: '2' });
      });

      it('R4: a change is in every partition when it is complete, and can be taken back', async () => {
        await ledger.setAdapter(creates, 'draining');
        const states = (await ledger.adapters())[creates];
        expect(states?.length).toBeGreaterThan(1);
        expect(new Set(states)).toEqual(new Set(['draining']));
        const operationId = newOperation(ledger);
        expect(await ledger.adapterState(creates, operationId)).toBe('draining');
        await ledger.setAdapter(creates, 'active');
        expect(await ledger.create(step(operationId, { creates }), null)).toMatchObject({ kind: 'created' });
      });
    });

    describe('rollout', () => {
      it('R2: rules that were never set, then a change in every partition, then the next', async () => {
        expect(await ledger.rollouts()).toEqual(Array.from({ length: 3 }, () => ({ version: '0', text: '' })));
        const first = await ledger.setRollout('one', '0');
        expect(first).toEqual({ kind: 'set', version: expect.stringMatching(/^1\.[0-9a-f]{12}$/) });
        expect(await ledger.rollouts()).toEqual(
          Array.from({ length: 3 }, () => ({ version: first.version, text: 'one' })),
        );
        const second = await ledger.setRollout('two with blanks', first.version);
        expect(second.version).toMatch(/^2\./);
        expect(await ledger.rolloutOf(newOperation(ledger))).toEqual({
          version: second.version,
          text: 'two with blanks',
        });
        await expect(ledger.setRollout('x'.repeat(65_537), second.version)).rejects.toThrow(/65537 bytes.*65536/);
      });

      it('R2: of two changes at once one wins, everywhere', async () => {
        const answers = await Promise.all(['a', 'b', 'c', 'd'].map((rules) => ledger.setRollout(rules, '0')));
        const won = answers.filter(({ kind }) => kind === 'set');
        expect(won.length).toBe(1);
        expect(new Set((await ledger.rollouts()).map(({ version }) => version))).toEqual(new Set([won[0]?.version]));
        // The losers are told what stands there.
        expect(new Set(answers.map(({ version }) => version)).size).toBe(1);
      });

      it('R2: a change that was interrupted is visible, and the next one completes it', async () => {
        const old = `1.${'0'.repeat(12)}`;
        const newer = `5.${'1'.repeat(12)}`;
        await store.plant(`toolop:1:{${NAMESPACE}/p00}:switches`, 'rollout', `${newer} new`);
        await store.plant(`toolop:1:{${NAMESPACE}/p01}:switches`, 'rollout', `${old} old`);
        expect((await ledger.rollouts()).map(({ text }) => text)).toEqual(['new', 'old', '']);
        expect(await ledger.setRollout('again', old)).toEqual({ kind: 'conflict', version: newer });
        expect((await ledger.rollouts()).map(({ text }) => text)).toEqual(['new', 'old', '']);
        expect(await ledger.setRollout('again', newer)).toMatchObject({
          kind: 'set',
          version: expect.stringMatching(/^6\./),
        });
        expect(new Set((await ledger.rollouts()).map(({ text }) => text))).toEqual(new Set(['again']));
      });

      it('R2: a slow change does not overtake a newer one, and equal numbers are settled by the next change', async () => {
        const host = await store.host();
        const switches = `toolop:1:{${NAMESPACE}/p02}:switches`;
        const partition = new Keys(NAMESPACE).partition(2);
        const set = (version: string, rules: string) =>
          runOnHistory(host, partition, 'rollout', [switches], ['', version, rules, '']);
        try {
          expect(await set('9.bbbbbbbbbbbb', 'newer')).toBe('9.bbbbbbbbbbbb');
          expect(await set('8.aaaaaaaaaaaa', 'slow')).toBe('9.bbbbbbbbbbbb');
          expect(await set('10.cccccccccccc', 'newest')).toBe('10.cccccccccccc');
          expect(await set('10.dddddddddddd', 'other')).toBe('10.dddddddddddd');
        } finally {
          await host.close();
        }
        expect((await ledger.rollouts())[2]).toEqual({ version: '10.dddddddddddd', text: 'other' });
        // The number goes on from the highest of all partitions.
        expect((await ledger.setRollout('x', '0')).version).toMatch(/^11\./);
      });

      it('R2: rules without a version are refused, with what can be done', async () => {
        await store.plant(`toolop:1:{${NAMESPACE}/p00}:switches`, 'rollout', 'nonsense');
        await expect(ledger.rollouts()).rejects.toThrow(LedgerIncompatible);
      });
    });

    describe('sides', () => {
      const side = (operationId: string, change: Partial<Parameters<OperationLedger['takeSide']>[0]> = {}) =>
        ledger.takeSide({ operationId, version: '0', side: 'ordinary', why: 'tool 5%', ...change });

      it('R2: the side of first contact is recorded and stays, whatever is decided later', async () => {
        const operationId = newOperation(ledger);
        const recorded = { kind: 'side', side: 'ordinary', recordedAt: clock, version: '0', why: 'tool 5%' };
        expect(await side(operationId)).toEqual(recorded);
        clock += 5000;
        expect(await side(operationId, { side: 'operation', why: 'default on' })).toEqual(recorded);
        const { version } = await ledger.setRollout('other rules', '0');
        expect(await side(operationId, { side: 'shadow', version })).toEqual(recorded);
        const again = await open();
        expect(await again.takeSide({ operationId, version: '0', side: null, why: '' })).toEqual(recorded);
      });

      it('R2: one of eight who decide otherwise at once is recorded', async () => {
        const operationId = newOperation(ledger);
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, i) => side(operationId, { side: i % 2 ? 'operation' : 'shadow', why: `${i}` })),
        );
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      });

      it('R2: nobody decides by rules that the partition does not have', async () => {
        const { version } = await ledger.setRollout('the rules', '0');
        const operationId = newOperation(ledger);
        expect(await side(operationId)).toEqual({ kind: 'rules', rollout: { version, text: 'the rules' } });
        expect(await side(operationId, { version: '1.000000000000' })).toMatchObject({ kind: 'rules' });
        expect(await side(operationId, { version })).toMatchObject({ kind: 'side', version });
        // Rules that are gone (a failover) are known to be gone.
        await ledger.setRollout('more', version);
        await store.clear();
        const fresh = await open({ partitions: 3 });
        expect(await fresh.takeSide({ operationId: newOperation(fresh), version, side: 'shadow', why: '' })).toEqual({
          kind: 'rules',
          rollout: { version: '0', text: '' },
        });
      });

      it('where no side is decided none is recorded', async () => {
        const operationId = newOperation(ledger);
        expect(await side(operationId, { side: null })).toEqual({ kind: 'none' });
        expect(await side(operationId, { side: 'operation' })).toMatchObject({ kind: 'side', side: 'operation' });
      });

      it('R2: an operation record wins over a recorded side', async () => {
        const operationId = await create();
        expect(await side(operationId)).toEqual({ kind: 'record', record: await ledger.load(operationId) });
        await store.plant(partitionKey(operationId, 'sides'), operationId, 'ordinary 1 0 tool 5%');
        expect(await side(operationId)).toMatchObject({ kind: 'record' });
        expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'exists' });
      });

      it.each(['ordinary', 'shadow'] as const)(
        'R2: nothing is created for a call node that took the side %s',
        async (taken) => {
          const operationId = newOperation(ledger);
          await side(operationId, { side: taken });
          expect(await ledger.create(step(operationId), null)).toEqual({ kind: 'otherSide', side: taken });
          expect(await ledger.load(operationId)).toBeNull();
          expect((await ledger.list({ limit: 5 })).operations).toEqual([]);
        },
      );

      it('R2: what took the side of operations is created', async () => {
        const operationId = newOperation(ledger);
        await side(operationId, { side: 'operation' });
        expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'created' });
      });

      it('a side that is none is not believed', async () => {
        const operationId = newOperation(ledger);
        await store.plant(partitionKey(operationId, 'sides'), operationId, 'sideways 1 0 x');
        await expect(side(operationId)).rejects.toThrow(/unknown answer/);
      });
    });

    describe('shadows', () => {
      const openShadows = () => open({ kind: 'shadow', partitions: 3 });
      const shadowIn = (shadows: OperationLedger): string =>
        shadows.operationIdOf({ namespace: `${NAMESPACE}/shadow`, principal: 'alice', callNodeId: unique('node') });
      const shadowKey = (operationId: string, name: string): string =>
        `toolop:1:{${encodeURIComponent(`${NAMESPACE}/shadow`)}/${operationId.slice(0, 3)}}:${name}`;

      it('R1: an acceptance in a ledger of shadows writes record and receipt, and no ready row', async () => {
        const shadows = await openShadows();
        expect([shadows.kind, ledger.kind]).toEqual(['shadow', 'operations']);
        const operationId = shadowIn(shadows);
        await shadows.create(step(operationId), null);
        const terminal = acceptStep(operationId, '1');
        expect(await shadows.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
        expect(await shadows.acceptTerminal(acceptStep(operationId, '2'))).toMatchObject({ kind: 'duplicate' });
        expect(await shadows.readReceipt(operationId)).toBe(terminal.receipt);
        expect(await shadows.leaseReady('c', 10, 1000)).toEqual([]);
        expect(await shadows.audit()).toEqual([]);
        // Nothing of it is seen in the ledger of operations.
        expect(await ledger.leaseReady('c', 10, 1000)).toEqual([]);
        expect((await ledger.list({ limit: 5 })).operations).toEqual([]);
        expect(await ledger.audit()).toEqual([]);
      });

      it('R1: the script itself looks at the kind, whoever runs it', async () => {
        const shadows = await openShadows();
        const operationId = shadowIn(shadows);
        await shadows.create(step(operationId), null);
        const key = (name: string) => shadowKey(operationId, name);
        const { fields: claimed, commandId, snapshot } = step(operationId);
        const compared = fieldsDigest(claimed);
        const host = await store.host();
        try {
          const partition = new Keys(`${NAMESPACE}/shadow`).partition(Number(operationId.slice(1, 3)));
          const answer = await runOnHistory(
            host,
            partition,
            'accept',
            [
              `op:${operationId}`,
              `hist:${operationId}`,
              `pay:${operationId}`,
              'due:endpoint:e',
              'scopes',
              'rc',
              'ready',
              'readyq',
              'switches',
            ].map(key),
            [
              '',
              operationId,
              shortCommand(`${commandId} once more`),
              packBody({ state: 'ACCEPTED', fields: claimed, snapshot }, operationId),
              'endpoint:e',
              '',
              '',
              compared,
              '1',
              '1',
              compared,
              '{}',
              'r',
              sha256('{}'),
              claimed.requestDigest,
              claimed.terminalState,
              ...Object.values(claimed),
            ],
          );
          expect(answer).toEqual(['accepted', '2']);
          const ready = await host.run('accepted', ['nothing', 'ready', 'nothing', 'readyq'].map(key), ['']);
          expect(ready).toEqual([]);
        } finally {
          await host.close();
        }
        expect(await shadows.readReceipt(operationId)).toBe('{}');
        expect(await shadows.leaseReady('c', 10, 1000)).toEqual([]);
      });

      it('R1: the audit of a ledger of shadows finds what could be consumed', async () => {
        const shadows = await openShadows();
        const [ready, queued, consumed] = (await Promise.all(
          Array.from({ length: 3 }, async () => {
            const operationId = shadowIn(shadows);
            await shadows.create(step(operationId), null);
            await shadows.acceptTerminal(acceptStep(operationId, '1'));
            return operationId;
          }),
        )) as [string, string, string];
        expect(await shadows.audit()).toEqual([]);
        const digest = sha256((await shadows.readReceipt(ready)) as string);
        await store.plant(shadowKey(ready, 'ready'), ready, digest);
        await store.plant(
          shadowKey(consumed, 'consumed'),
          consumed,
          `${sha256((await shadows.readReceipt(consumed)) as string)} c t`,
        );
        const findings = await shadows.audit();
        expect(findings).toHaveLength(2);
        expect(findings).toContainEqual({ operationId: ready, problem: 'a shadow that waits to be consumed' });
        expect(findings).toContainEqual({ operationId: consumed, problem: 'a shadow that was consumed' });
        await store.plant(shadowKey(queued, 'rc'), queued, null);
        expect(await shadows.audit()).toContainEqual({ operationId: queued, problem: expect.stringContaining('gone') });
      });

      it('R1: the kind is fixed when the namespace is made', async () => {
        await openShadows();
        await expect(open({ namespace: `${NAMESPACE}/shadow` })).rejects.toThrow(LedgerIncompatible);
        await expect(open({ namespace: `${NAMESPACE}/shadow` })).rejects.toThrow(
          /made for shadow.*operations.*untouched/,
        );
        await open({ namespace: 'plain/shadow' });
        await expect(open({ namespace: 'plain', kind: 'shadow' })).rejects.toThrow(/made for operations.*shadow/);
        // Made before there were kinds.
        await store.plant(`toolop:{${NAMESPACE}/meta}`, 'kind', null);
        expect((await open()).kind).toBe('operations');
      });

      it('R1: a partition that lost its mark is found, and marked before anybody has the ledger in hand', async () => {
        const shadows = await openShadows();
        const switches = `toolop:1:{${encodeURIComponent(`${NAMESPACE}/shadow`)}/p01}:switches`;
        await store.plant(switches, 'kind', null);
        expect(await shadows.audit()).toEqual([
          { operationId: 'p01', problem: expect.stringContaining('marked for operations') },
        ]);
        await openShadows();
        expect(await shadows.audit()).toEqual([]);
      });

      it('G3 F9: shares with its namespace what is known of servers', async () => {
        const shadows = await openShadows();
        expect((await ledger.takePermit('server', 1, 1)).waitMs).toBe(0);
        expect((await shadows.takePermit('server', 1, 1)).waitMs).toBe(1000);
        expect(await ledger.ownTask('e', 't', 'op-a')).toBe('op-a');
        expect(await shadows.ownTask('e', 't', 'op-b')).toBe('op-a');
      });

      it('keeps what is known of a comparison, and replaces only what was seen', async () => {
        const shadows = await openShadows();
        const all = async () => {
          const found: [string, string][] = [];
          for await (const { operationId, text } of shadows.comparisons()) found.push([operationId, text]);
          return found;
        };
        const operationId = shadowIn(shadows);
        expect([await shadows.comparison(operationId), await all()]).toEqual([null, []]);
        expect(await shadows.setComparison(operationId, null, 'first')).toBe('first');
        expect(await shadows.setComparison(operationId, null, 'another')).toBe('first');
        expect(await shadows.setComparison(operationId, 'other', 'third')).toBe('first');
        expect(await shadows.setComparison(operationId, 'first', 'second')).toBe('second');
        expect([await shadows.comparison(operationId), await all()]).toEqual(['second', [[operationId, 'second']]]);
        expect(await shadows.setComparison(shadowIn(shadows), 'gone', 'x')).toBe('');
        await expect(shadows.setComparison(operationId, null, 'x'.repeat(65_537))).rejects.toThrow(/limit is 65536/);
      });
    });

    describe('switches: the execution epoch', () => {
      const creates = 'mcp-test';
      const under = (executionEpoch: number) => ({ fields: { ...fields, executionEpoch: String(executionEpoch) } });

      it('R3: a ledger begins under epoch 1, and raising is written into every partition', async () => {
        expect([await ledger.epoch(), await ledger.epochs()]).toEqual([1, [1, 1, 1]]);
        expect(await ledger.raiseEpoch()).toBe(2);
        expect([await ledger.epoch(), await ledger.epochs()]).toEqual([2, [2, 2, 2]]);
        expect(await ledger.raiseEpoch(12)).toBe(12);
        expect(await ledger.creationOf(newOperation(ledger))).toEqual({ allowed: true, epoch: 12 });
      });

      it('R3: raising to the same epoch changes nothing; nothing ever goes back', async () => {
        await ledger.raiseEpoch(12);
        expect(await ledger.raiseEpoch(12)).toBe(12);
        await expect(ledger.raiseEpoch(9)).rejects.toThrow(/is 12 and never goes back: 9/);
        await expect(ledger.raiseEpoch(12.5)).rejects.toThrow(RangeError);
        expect(await ledger.epochs()).toEqual([12, 12, 12]);
        // Two who raise at once: whoever comes later with less leaves more alone.
        const host = await store.host();
        const keys = new Keys(NAMESPACE).partition(1);
        const raise = (epoch: number) =>
          runOnHistory(host, keys, 'raise', [keys.switches], [String(clock), String(epoch)]);
        expect(await raise(9)).toBe('12');
        expect(await raise(13)).toBe('13');
        await host.close();
        expect(await ledger.epochs()).toEqual([12, 13, 12]);
      });

      it('R3: a raise that was interrupted is seen, and raising again completes it', async () => {
        const host = await store.host();
        let raised = 0;
        const dying: ScriptHost = {
          run: async (script, ...ask) => {
            if (script === 'raise' && raised++ > 0) throw new LedgerUnavailable('gone in the middle');
            return host.run(script, ...ask);
          },
          subscribe: () => () => undefined,
          durability: () => host.durability(),
          close: () => host.close(),
        };
        const interrupted = new Switches(
          new Store(dying, 3, { namespace: NAMESPACE, definiteWithinMs: 100, seen: new SeenHistory('', null) }),
        );
        await expect(interrupted.raiseEpoch(2)).rejects.toThrow(LedgerUnavailable);
        await host.close();
        expect([await ledger.epoch(), await ledger.epochs()]).toEqual([2, [2, 1, 1]]);
        expect(await ledger.raiseEpoch(2)).toBe(2);
        expect(await ledger.epochs()).toEqual([2, 2, 2]);
        await store.plant(new Keys(NAMESPACE).partition(2).switches, 'epoch', '7');
        expect(await ledger.raiseEpoch()).toBe(8);
        expect(await ledger.epochs()).toEqual([8, 8, 8]);
      });

      it('R3: under an epoch that is over nothing is created and nothing is sent; evidence is still written down', async () => {
        const before = await create(under(1));
        await ledger.raiseEpoch(10);
        const operationId = newOperation(ledger);
        // As numbers, not as texts.
        expect(await ledger.create(step(operationId, under(9)), null)).toEqual({ kind: 'epochOver', epoch: 10 });
        expect(await ledger.load(operationId)).toBeNull();
        const sending = { ...step(before, { creates, ...under(9) }), expectedRevision: '1' };
        expect(await ledger.commit(sending)).toEqual({ kind: 'epochOver', epoch: 10 });
        expect(await ledger.load(before)).toMatchObject({ revision: '1' });
        const evidence = { ...step(before, under(1)), expectedRevision: '1' };
        expect(await ledger.commit(evidence)).toEqual({ kind: 'committed', revision: '2' });

        // Adopted, it may be sent; a newer epoch than the partition's may do everything.
        const adopted = { ...step(before, { creates, ...under(10) }), expectedRevision: '2' };
        expect(await ledger.commit(adopted)).toEqual({ kind: 'committed', revision: '3' });
        expect(await ledger.create(step(operationId, under(11)), null)).toMatchObject({ kind: 'created' });
      });

      it('R3: what was done before the raise is answered as done', async () => {
        const operationId = newOperation(ledger);
        const first = step(operationId, under(1));
        const second = { ...step(operationId, { creates, ...under(1) }), expectedRevision: '1' };
        await ledger.create(first, null);
        await ledger.commit(second);
        await ledger.raiseEpoch();
        expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
        expect(await ledger.create(step(operationId, under(1)), null)).toMatchObject({ kind: 'exists' });
        expect(await ledger.commit(second)).toEqual({ kind: 'committed', revision: '2' });
      });

      it('R3: whoever asks under an older epoch gets nothing any more, and is told', async () => {
        await create(under(1));
        await ledger.raiseEpoch(10);
        expect(await claim('old', 10, ['endpoint:e'], 9)).toEqual({ claimed: [], nextDueAt: null, epochOver: 10 });
        const { claimed } = await claim('new', 10, ['endpoint:e'], 10);
        expect(claimed).toMatchObject([{ lease: { owner: 'new' } }]);
        clock += 1001;
        // Ahead of the ledger, as an executor whose epoch was chosen for it.
        expect((await claim('ahead', 10, ['endpoint:e'], 11)).claimed).toMatchObject([{ lease: { owner: 'ahead' } }]);
      });

      it('R3: a raise is announced to every process', async () => {
        const heard: string[] = [];
        const other = await open();
        const unsubscribe = other.onChange((name) => heard.push(name));
        while (heard.length === 0) {
          await ledger.raiseEpoch();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        unsubscribe();
        expect(new Set(heard)).toEqual(new Set([EPOCH_RAISED]));
      });
    });

    describe('switches: creating', () => {
      const creates = 'mcp-test';

      it('R3: is on until it is switched off, for every partition', async () => {
        expect(await ledger.creation()).toEqual([true, true, true]);
        await ledger.setCreation(false);
        expect(await ledger.creation()).toEqual([false, false, false]);
        expect(await ledger.creationOf(newOperation(ledger))).toEqual({ allowed: false, epoch: 1 });
        await ledger.setCreation(true);
        expect(await ledger.creation()).toEqual([true, true, true]);
      });

      it('R3: switched off, nothing is created and nothing is sent; everything else goes on', async () => {
        const before = await create({ creates });
        await ledger.setCreation(false);
        const operationId = newOperation(ledger);
        const first = step(operationId, { creates });
        expect(await ledger.create(first, null)).toEqual({ kind: 'creationOff' });
        expect(await ledger.create(step(operationId), null)).toEqual({ kind: 'creationOff' });
        expect(await ledger.load(operationId)).toBeNull();
        const sending = { ...step(before, { creates }), expectedRevision: '1' };
        expect(await ledger.commit(sending)).toEqual({ kind: 'creationOff' });
        expect(await ledger.commit({ ...step(before), expectedRevision: '1' })).toMatchObject({ kind: 'committed' });
        expect((await claim('a')).claimed).toMatchObject([{ operationId: before }]);

        await ledger.setCreation(true);
        expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
        expect(await ledger.commit({ ...sending, expectedRevision: '2' })).toMatchObject({ kind: 'committed' });
      });

      it('R3 R4: each switch says no for itself, the epoch first', async () => {
        const asks = () => ledger.create(step(newOperation(ledger), { creates }), null);
        await ledger.setAdapter(creates, 'draining');
        expect(await asks()).toMatchObject({ kind: 'switchedOff' });
        await ledger.setCreation(false);
        expect(await asks()).toEqual({ kind: 'creationOff' });
        await ledger.raiseEpoch();
        expect(await asks()).toEqual({ kind: 'epochOver', epoch: 2 });
        expect(Object.keys(await ledger.adapters())).toEqual([creates]);
      });
    });

    describe('history', () => {
      const PARTITION = 'p01';
      /** A new operation of that partition. */
      const operationHere = (): string => {
        for (;;) {
          const operationId = newOperation(ledger);
          if (operationId.startsWith(PARTITION)) return operationId;
        }
      };
      const createHere = async (target = ledger): Promise<string> => {
        const operationId = operationHere();
        await target.create(step(operationId), null);
        return operationId;
      };
      const historyOf = async (target = ledger) =>
        (await target.histories()).find(({ partition }) => partition === PARTITION);
      const setMark = (mark: string) => store.plant(new Keys(NAMESPACE).partition(1).mark, 'mark', mark);
      /** The partition forgets its steps down to this one. */
      const forgetTo = (number: number, epoch = 1) => setMark(`${epoch} ${number}`);

      it('G6: a look at what is being written finds nothing forgotten', async () => {
        const looks: unknown[] = [];
        for (let round = 0; round < 20; round++) {
          const [, look] = await Promise.all([createHere(), historyOf(), createHere()]);
          looks.push(look?.regressed);
        }
        expect(looks).toEqual(looks.map(() => false));
        expect(await ledger.audit()).toEqual([]);
      });

      it('counts the steps that write, and no others', async () => {
        const operationId = await createHere();
        expect(await historyOf()).toEqual({
          partition: PARTITION,
          shown: { epoch: 1, number: 1 },
          seen: { epoch: 1, number: 1 },
          regressed: false,
          acknowledged: null,
        });
        const next = { ...step(operationId), expectedRevision: '1' };
        await ledger.commit(next);
        await ledger.commit(next);
        await ledger.commit({ ...step(operationId), expectedRevision: '1' });
        await claim('a');
        await ledger.create(step(operationId), null);
        expect((await historyOf())?.shown.number).toBe(2);
        await ledger.acceptTerminal(acceptStep(operationId, '2'));
        expect((await historyOf())?.shown.number).toBe(3);
        const [row] = (await ledger.leaseReady('c', 5, 1000)) as [ReadyRow];
        expect((await historyOf())?.shown.number).toBe(3);
        await ledger.ackReady(row, 'c');
        expect((await historyOf())?.shown.number).toBe(4);
        await ledger.setAdapter('any', 'active');
        expect((await historyOf())?.shown.number).toBe(5);
        const { version } = await ledger.setRollout('rules', '0');
        expect((await historyOf())?.shown.number).toBe(6);
        await ledger.setRollout('other rules', '0');
        const ask = { operationId: operationHere(), version, side: 'ordinary', why: 'default off' } as const;
        await ledger.takeSide({ ...ask, version: '0' });
        await ledger.takeSide({ ...ask, side: null });
        await ledger.takeSide({ ...ask, operationId });
        expect((await historyOf())?.shown.number).toBe(6);
        await ledger.takeSide(ask);
        await ledger.takeSide(ask);
        expect((await historyOf())?.shown.number).toBe(7);
        expect((await ledger.histories()).map(({ partition }) => partition)).toEqual(['p00', PARTITION, 'p02']);
      });

      it('B4 B12: refuses every step where it shows less than was seen, and only there', async () => {
        const [first, second, third] = [await createHere(), await createHere(), await createHere()];
        await ledger.acceptTerminal(acceptStep(third, '1'));
        const [row] = (await ledger.leaseReady('c', 5, 1)) as [ReadyRow];
        clock += 2;
        await forgetTo(3);
        const seen = { epoch: 1, number: 4 };
        const shown = { epoch: 1, number: 3 };
        const refused = { name: 'LedgerRegressed', partition: PARTITION, seen, shown };
        const steps: (() => Promise<unknown>)[] = [
          () => ledger.create(step(operationHere()), null),
          () => ledger.commit({ ...step(first), expectedRevision: '1' }),
          () => ledger.acceptTerminal(acceptStep(second, '1')),
          () => ledger.ackReady(row, 'c'),
          () => ledger.setAdapter('any', 'draining'),
          () => ledger.setRollout('rules', '0'),
          // R2: a side that was recorded may be among what is forgotten.
          () => ledger.takeSide({ operationId: operationHere(), version: '0', side: 'ordinary', why: '' }),
        ];
        for (const refusedStep of steps) await expect(refusedStep()).rejects.toMatchObject(refused);
        await expect(steps[0]?.()).rejects.toThrow(/p01.*epoch 1, step 3.*epoch 1, step 4.*toolop history/);
        expect(await ledger.leaseReady('c', 5, 1000)).toEqual([]);
        expect(await ledger.load(first)).toMatchObject({ revision: '1', lease: null });
        expect(await historyOf()).toMatchObject({ shown, seen, regressed: true });
        expect(await ledger.audit()).toEqual([
          { operationId: PARTITION, problem: expect.stringMatching(/step 3 of epoch 1, and step 4/) },
        ]);
        // The others go on, and what can be claimed is.
        const elsewhere = await Promise.all(Array.from({ length: 12 }, () => createElsewhere()));
        const ask = { owner: 'a', scopes: ['endpoint:e'], limit: 20, leaseMs: 1000, executionEpoch: 1 };
        const { claimed, regressed } = await ledger.claimDue(ask);
        expect(claimed.map(({ operationId }) => operationId).sort()).toEqual(elsewhere.sort());
        expect([...regressed.values()]).toMatchObject([refused]);
      });
      const createElsewhere = async (): Promise<string> => {
        for (;;) {
          const operationId = newOperation(ledger);
          if (operationId.startsWith(PARTITION)) continue;
          await ledger.create(step(operationId), null);
          return operationId;
        }
      };

      it('tells everybody, also those who have seen nothing', async () => {
        const operationId = await createHere();
        await createHere();
        await forgetTo(1);
        const other = await open();
        await expect(ledger.commit({ ...step(operationId), expectedRevision: '1' })).rejects.toThrow(/older history/);
        await expect(createHere(other)).rejects.toMatchObject({ seen: { number: 2 }, shown: { number: 1 } });
        expect(await historyOf(other)).toMatchObject({ regressed: true });
      });

      it('keeps the highest mark that anybody has seen', async () => {
        const other = await open();
        await createHere();
        await createHere(other);
        await createHere();
        const behind = await open();
        await forgetTo(2);
        await createHere(behind);
        await forgetTo(1);
        const seenBy = async (target: OperationLedger) =>
          (await createHere(target).catch((error: unknown) => error)) as { seen: unknown };
        // One has seen the second step, the next the third.
        expect((await seenBy(other)).seen).toEqual({ epoch: 1, number: 2 });
        expect((await seenBy(behind)).seen).toEqual({ epoch: 1, number: 3 });
        expect((await seenBy(other)).seen).toEqual({ epoch: 1, number: 3 });
      });

      it('goes on in a new epoch once somebody has acknowledged it', async () => {
        const witness = await open();
        await createHere();
        await createHere(witness);
        await createHere();
        await forgetTo(1);
        await expect(createHere()).rejects.toThrow(/older history/);
        const [now] = await ledger.acknowledgeRegress('operator', [PARTITION]);
        expect(now).toEqual({
          partition: PARTITION,
          shown: { epoch: 2, number: 1 },
          seen: { epoch: 2, number: 1 },
          regressed: false,
          acknowledged: { by: 'operator', at: clock },
        });
        await createHere();
        const fresh = await open();
        await createHere(fresh);
        expect(await historyOf()).toMatchObject({ shown: { epoch: 2, number: 3 }, regressed: false });
        // More steps of the epoch before are no objection.
        await forgetTo(1, 2);
        expect(await createHere(witness)).toContain(PARTITION);
        await forgetTo(3, 2);
        // And backwards once more, into the epoch before.
        await forgetTo(9);
        await expect(createHere()).rejects.toMatchObject({ seen: { epoch: 2 }, shown: { epoch: 1, number: 9 } });
        const [later] = await fresh.acknowledgeRegress('operator', [PARTITION]);
        expect(later?.shown).toEqual({ epoch: 3, number: 9 });
        await expect(ledger.acknowledgeRegress('operator', ['p77'])).rejects.toThrow(/no partition.*p00 to p02/);
      });

      it('can be acknowledged where nobody saw a loss', async () => {
        await createHere();
        expect(await ledger.acknowledgeRegress('operator', [PARTITION])).toMatchObject([
          { shown: { epoch: 2, number: 1 }, regressed: false },
        ]);
      });

      it('counts one acknowledgement once, however often it is sent, and goes beyond every epoch that was seen', async () => {
        const host = await store.host();
        const { mark } = new Keys(NAMESPACE).partition(1);
        const acknowledge = (shown: string, seen: string) =>
          host.run('acknowledge', [mark], [String(clock), shown, seen, 'operator']);
        expect(await acknowledge('1', '1')).toEqual(['2', '0']);
        expect(await acknowledge('1', '1')).toEqual(['2', '0']);
        expect(await acknowledge('2', '6')).toEqual(['7', '0']);
        await setMark('2 5 9 1');
        expect(await acknowledge('2', '4')).toEqual(['10', '5']);
        await host.close();
      });

      it('B4 G2: refuses the steps of a record of an older history, until it is taken over', async () => {
        const creates = 'mcp-test';
        const [kept, taken] = [await createHere(), await createHere()];
        await ledger.acknowledgeRegress('operator', [PARTITION]);
        const older = { kind: 'olderHistory' };
        const commit = (operationId: string, revision: string, olderHistory?: 'keep' | 'adopt') =>
          ledger.commit({
            ...step(operationId, { creates }),
            expectedRevision: revision,
            ...(olderHistory ? { olderHistory } : {}),
          });
        expect(await commit(kept, '1')).toEqual(older);
        expect(await ledger.load(kept)).toMatchObject({ revision: '1' });
        expect(await commit(kept, '1', 'keep')).toEqual({ kind: 'committed', revision: '2' });
        expect(await commit(kept, '2')).toEqual(older);
        expect(await commit(taken, '1', 'adopt')).toEqual({ kind: 'committed', revision: '2' });
        expect(await commit(taken, '2')).toEqual({ kind: 'committed', revision: '3' });
        // One that was made before there were epochs is of the first.
        const { operation } = new Keys(NAMESPACE).partition(1);
        await store.replace(operation(taken), withLine('epoch', ''));
        expect(await commit(taken, '3')).toEqual(older);
        expect(await commit(taken, '3', 'adopt')).toMatchObject({ revision: '4' });
        // Who is late is told so first.
        expect(await commit(kept, '1')).toEqual({ kind: 'conflict', revision: '2' });
        // What is made now is of this history, and of an older one after the next regress.
        const fresh = await createHere();
        expect(await commit(fresh, '1')).toMatchObject({ kind: 'committed' });
        await ledger.acknowledgeRegress('operator', [PARTITION]);
        expect(await commit(fresh, '2')).toEqual(older);
        expect(await commit(taken, '4')).toEqual(older);
      });

      it('a record that was made before there were epochs is of the first', async () => {
        const operationId = await createHere();
        await store.replace(new Keys(NAMESPACE).partition(1).operation(operationId), withLine('epoch', ''));
        expect(await ledger.commit({ ...step(operationId), expectedRevision: '1' })).toMatchObject({ revision: '2' });
      });
    });

    describe('processes', () => {
      it('answers a sign of life with who is alive and whom each serves', async () => {
        expect(await ledger.heartbeat('1', 1000, ['endpoint:a', 'endpoint:b'])).toEqual([
          { processId: '1', scopes: ['endpoint:a', 'endpoint:b'] },
        ]);
        await ledger.heartbeat('2', 5000, ['endpoint:a']);
        clock += 999;
        await ledger.heartbeat('2', 5000, ['endpoint:c']);
        const third = await ledger.heartbeat('3', 1000);
        expect(third).toEqual([
          { processId: '1', scopes: ['endpoint:a', 'endpoint:b'] },
          { processId: '3', scopes: [] },
          { processId: '2', scopes: ['endpoint:c'] },
        ]);
        clock += 1;
        expect((await ledger.heartbeat('3', 1000)).map(({ processId }) => processId)).toEqual(['3', '2']);
        const host = await store.host();
        const keys = new Keys(NAMESPACE);
        expect(((await host.run('entries', [keys.served], [String(clock)])) as string[]).length).toBe(4);
        await host.close();
        // An older program says nothing, a newer one perhaps something else: both are alive.
        await store.plant(keys.served, '2', null);
        await store.plant(keys.served, '3', '{');
        expect(await ledger.heartbeat('4', 1)).toEqual([
          { processId: '4', scopes: [] },
          { processId: '3', scopes: [] },
          { processId: '2', scopes: [] },
        ]);
      });

      it('names the dead of the partitions that it is asked about', async () => {
        const operationId = await create({ scope: 'process:1' });
        const partition = ledger.partitionOf(operationId) as number;
        const others = [...Array(ledger.partitions).keys()].filter((other) => other !== partition);
        expect(await ledger.deadScopes(others)).toEqual([]);
        expect(await ledger.deadScopes([partition])).toEqual(['process:1']);
      });

      it('names the scopes that dead processes left waiting', async () => {
        await ledger.heartbeat('1', 1000);
        await ledger.heartbeat('2', 5000);
        const operationId = await create({ scope: 'process:1' });
        await create({ scope: 'process:2' });
        await create();
        expect(await ledger.deadScopes()).toEqual([]);
        clock += 1001;
        expect(await ledger.deadScopes()).toEqual(['process:1']);
        await ledger.commit({ ...step(operationId, { scope: 'process:1', dueAt: null }), expectedRevision: '1' });
        expect(await ledger.deadScopes()).toEqual([]);
        await ledger.commit({ ...step(operationId, { scope: 'process:1', dueAt: 1 }), expectedRevision: '2' });
        expect(await ledger.deadScopes()).toEqual(['process:1']);
        await ledger.heartbeat('1', 1000);
        expect(await ledger.deadScopes()).toEqual([]);
      });
    });

    describe('shared facts', () => {
      it('gives a task id to the first operation that names it', async () => {
        expect(await ledger.ownTask('e{1}', 't', 'op-a')).toBe('op-a');
        expect(await ledger.ownTask('e{1}', 't', 'op-b')).toBe('op-a');
        expect(await ledger.ownTask('e{1}', 't', 'op-a')).toBe('op-a');
        expect(await ledger.ownTask('e2', 't', 'op-b')).toBe('op-b');
      });

      it('keeps a rate over all executors, and a refused request reserves nothing', async () => {
        const other = await open();
        const take = async (from = ledger) => (await from.takePermit('server', 2, 2)).waitMs;
        expect([await take(), await take(other)]).toEqual([0, 0]);
        expect([await take(), await take(other), await take()]).toEqual([500, 500, 500]);
        clock += 499;
        expect(await take()).toBe(1);
        clock += 1;
        expect([await take(), await take(other)]).toEqual([0, 500]);
        clock += 60_000;
        expect([await take(), await take(), await take()]).toEqual([0, 0, 500]);
        expect((await ledger.takePermit('another', 0.1, 1)).waitMs).toBe(0);
        expect((await ledger.takePermit('another', 0.1, 1)).waitMs).toBe(10_000);
      });

      it('a request that is refused writes nothing', async () => {
        const limiter = new Keys(NAMESPACE).limiter('full');
        expect((await ledger.takePermit('full', 2, 1)).waitMs).toBe(0);
        // The same number, written as no script writes it.
        const held = `0${(clock + 500) * 1000}`;
        await store.plant(limiter, 'tat', held);
        expect((await ledger.takePermit('full', 2, 1)).waitMs).toBe(500);
        const host = await store.host();
        expect(await host.run('entries', [limiter], [String(clock)])).toEqual(['tat', held]);
        await host.close();
      });

      it('B8 G3: places asked for at once are as many as the rate has, over all who ask', async () => {
        const other = await open();
        const all = async (count: number) =>
          (
            await Promise.all(
              Array.from({ length: count }, (_, i) => (i % 2 ? other : ledger).takePermit('many', 2, 5)),
            )
          ).map(({ waitMs }) => waitMs);
        const first = await all(12);
        expect(first.filter((waitMs) => waitMs === 0)).toHaveLength(5);
        expect(first.filter((waitMs) => waitMs === 500)).toHaveLength(7);
        clock += 1_000;
        expect((await all(4)).sort()).toEqual([0, 0, 500, 500]);
      });

      it('F9: task ids taken at once have one owner each', async () => {
        const other = await open();
        const take = (from: OperationLedger, who: string) =>
          Promise.all(Array.from({ length: 8 }, (_, nth) => from.ownTask('many', `task-${nth}`, `${who}-${nth}`)));
        const [mine, theirs] = await Promise.all([take(ledger, 'a'), take(other, 'b')]);
        expect(theirs).toEqual(mine);
        for (const [nth, owner] of mine.entries()) expect(owner).toMatch(new RegExp(`^[ab]-${nth}$`));
      });

      it('G4: a cancel takes the next free place, everybody else waits until after it, and the rate stays what it is', async () => {
        const other = await open();
        const take = async (lane?: 'next', from = ledger) => (await from.takePermit('busy', 2, 2, lane)).waitMs;
        expect([await take(), await take('next'), await take()]).toEqual([0, 0, 500]);
        expect([await take('next'), await take('next', other), await take()]).toEqual([500, 1_000, 1_500]);
        clock += 1_000;
        // Both places are the cancels'.
        expect([await take(), await take(undefined, other)]).toEqual([500, 500]);
        clock += 500;
        expect([await take(), await take()]).toEqual([0, 500]);
        clock += 60_000;
        expect([await take('next'), await take('next'), await take('next'), await take()]).toEqual([0, 0, 500, 1_000]);
      });

      it('has a clock', async () => {
        expect(await ledger.now()).toBe(clock);
        const real = await openLedger(store.address, { namespace: NAMESPACE });
        opened.push(real);
        expect(Math.abs((await real.now()) - Date.now())).toBeLessThan(1000);
      });

      it('nudges with each step of many at once, and says what became ready; nobody hears of a quiet step', async () => {
        const other = await open();
        const heard: string[] = [];
        const stop = other.onChange((operationId, news) => heard.push(`${operationId} ${news}`));
        await expect
          .poll(async () => {
            await create();
            return heard.length;
          })
          .toBeGreaterThan(0);
        const ids = await Promise.all(Array.from({ length: 6 }, () => create()));
        const quiet = ids[0] as string;
        await ledger.commit({ ...step(quiet), expectedRevision: '1', quiet: true });
        await Promise.all(ids.slice(1).map((id) => ledger.acceptTerminal(acceptStep(id, '1'))));
        await expect.poll(() => ids.slice(1).every((id) => heard.includes(`${id} ready`))).toBe(true);
        for (const id of ids) expect(heard.filter((line) => line === `${id} step`)).toHaveLength(1);
        stop();
      });

      it('nudges every process', async () => {
        const other = await open();
        const seen = new Set<string>();
        const stop = other.onChange((operationId) => seen.add(operationId));
        await expect
          .poll(async () => {
            await create();
            return seen.size;
          })
          .toBeGreaterThan(0);
        stop();
        await ledger.durability();
        const before = seen.size;
        await create();
        await new Promise((resolve) => setTimeout(resolve, 150));
        expect(seen.size).toBe(before);
      });

      it('states its durability', async () => {
        const { acceptable, statement } = await ledger.durability();
        expect(acceptable).toBe(true);
        expect(statement).toContain('loses nothing acknowledged');
      });
    });

    const lent = (): Lent => ({
      store,
      ledger,
      now: () => clock,
      pass: (ms) => {
        clock += ms;
      },
      open,
    });
    overviewContract(lent);
    recordsContract(lent);
    oldRecordsContract(lent);
    retentionContract(lent);

    describe('opening', () => {
      it('keeps the number of partitions that the namespace was made with', async () => {
        const again = await open();
        expect(newOperation(again, 'x')).toBe(newOperation(ledger, 'x'));
        await expect(open({ partitions: 4 })).rejects.toThrow(LedgerIncompatible);
        await expect(open({ partitions: 4 })).rejects.toThrow(/made with 3 partitions, not 4.*untouched/);
      });

      it('leaves a namespace untouched that does not say its number of partitions', async () => {
        await store.plant(`toolop:{${NAMESPACE}/meta}`, 'partitions', null);
        await expect(open()).rejects.toThrow(LedgerIncompatible);
        await expect(open()).rejects.toThrow(/"" partitions.*untouched/);
      });

      it('leaves a newer schema untouched', async () => {
        const meta = `toolop:{${NAMESPACE}/meta}`;
        await store.plant(meta, 'schema', '2');
        await expect(open()).rejects.toThrow(LedgerIncompatible);
        await expect(open()).rejects.toThrow(/schema 2.*reads schema 1.*untouched/);
      });

      it('keeps namespaces apart', async () => {
        const other = await open({ namespace: 'other{}' });
        const node = { principal: 'a', callNodeId: 'n' };
        const here = ledger.operationIdOf({ namespace: NAMESPACE, ...node });
        const there = other.operationIdOf({ namespace: 'other{}', ...node });
        expect(here.slice(4)).not.toBe(there.slice(4));
        await ledger.create(step(here), null);
        expect((await other.list({ limit: 5 })).operations).toEqual([]);
      });

      it('refuses addresses it does not know', async () => {
        await expect(openLedger('postgres://x', { namespace: 'n' })).rejects.toThrow(/redis:\/\//);
      });
    });
  });
}
