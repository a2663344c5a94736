/**
 * What every host must do alike about records of layout 2, which are hashes: they are met while a migration is under way, and
 * go on as they are until a step or the migration makes them texts (B3).
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../machines/digest.ts';
import type { AcceptFields, HistoryEntry, ReadyRow } from '../../../machines/operation-ledger.ts';
import { acceptStep, fields, newOperation, step } from '../steps.ts';
import { entriesUnder, keysOf, META, runScript, type StoreBench, textUnder } from './bench.ts';

const HOUR = 3_600_000;
const PAYLOAD = { digest: sha256('p'), text: 'a payload' };
const ENTRY: HistoryEntry = { at: 1, event: 'e', from: 'A', to: 'B', executor: 'x' };

export function oldRecordsInStore(bench: StoreBench): void {
  /** Makes of a record what the release before left of it: a hash, and keys of its own for its history and its payloads. */
  const asHash = async (operationId: string, changed: Readonly<Record<string, string>> = {}): Promise<void> => {
    const { store, ledger } = bench;
    const keys = keysOf(operationId);
    const op = keys.operation(operationId);
    const record = await ledger.load(operationId);
    const history = await ledger.readHistory(operationId);
    const text = (await textUnder(store, op)).toString('latin1');
    const [rev = '', own = '', lep = '', unt = '', due = '', scope = '', hep = '', rid = ''] = text.split('\n');
    await store.replace(op, null);
    const hash = {
      rev,
      own,
      lep,
      unt,
      due,
      scope,
      hep,
      rid: rid.split(' ')[0] ?? '',
      cmds: `of-another-${operationId} 1`,
    };
    const told = { snap: record?.snapshot ?? '', state: record?.state ?? '' };
    for (const [name, value] of Object.entries({ ...hash, ...told, ...fields, ...changed }))
      await store.plant(op, name, value);
    for (const [i, entry] of history.entries())
      await store.plant(keys.history(operationId), String(i + 1), JSON.stringify(entry));
    await store.plant(keys.payloads(operationId), PAYLOAD.digest, PAYLOAD.text);
  };
  const create = async (): Promise<string> => {
    const operationId = newOperation(bench.ledger);
    await bench.ledger.create(step(operationId, { history: ENTRY, payloads: [PAYLOAD] }), null);
    return operationId;
  };
  const old = async (changed?: Readonly<Record<string, string>>): Promise<string> => {
    const operationId = await create();
    await asHash(operationId, changed);
    return operationId;
  };
  const consumed = async (): Promise<string> => {
    const { ledger } = bench;
    const operationId = await create();
    await ledger.acceptTerminal(acceptStep(operationId, '1'));
    const [row] = (await ledger.leaseReady('c', 1, 1000)) as [ReadyRow];
    await ledger.ackReady(row, 'c');
    return operationId;
  };
  /** Every partition stands at layout 2. */
  const migrate = async (): Promise<void> => {
    const { store, ledger } = bench;
    for (let partition = 0; partition < 3; partition++)
      await store.plant(keysOf(`p0${partition}.`).migration, 'at', '2');
    await store.plant(META, 'layout', '2');
    await ledger.migrate();
  };
  const linesOf = async (operationId: string): Promise<readonly string[]> =>
    (await textUnder(bench.store, keysOf(operationId).operation(operationId))).toString('latin1').split('\n');
  const purge = (dryRun = false) =>
    bench.ledger.purge({ policy: { recordsMs: HOUR, receiptsMs: null, tombstonesMs: null }, dryRun });

  describe('old records', () => {
    it('B11 B12: one is accepted as any other, compared field by field', async () => {
      const { ledger } = bench;
      const operationId = await old();
      const terminal = acceptStep(operationId, '1');
      for (const field of Object.keys(fields) as (keyof AcceptFields)[]) {
        const expected = { ...fields, [field]: 'other' };
        expect(await ledger.acceptTerminal({ ...terminal, expected })).toEqual({ kind: 'mismatch', field });
      }
      expect(await ledger.readReceipt(operationId)).toBeNull();
      expect(await ledger.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
      expect(await ledger.load(operationId)).toMatchObject({ state: 'ACCEPTED', snapshot: terminal.snapshot });
      expect(await ledger.readHistory(operationId)).toEqual([ENTRY, terminal.history]);
      expect(await ledger.readPayload(operationId, PAYLOAD.digest)).toBe(PAYLOAD.text);
      expect(await ledger.audit()).toEqual([]);
    });

    it('a list shows it as any other', async () => {
      const { ledger } = bench;
      const operationId = await old();
      const { snapshot, state, dueAt } = (await ledger.load(operationId)) ?? expect.fail();
      expect(await ledger.summaries([{ operationId, revision: null }])).toMatchObject([
        { kind: 'summary', summary: { operationId, revision: '1', state, snapshot, dueAt } },
      ]);
      expect(await ledger.summaries([{ operationId, revision: '1' }])).toEqual([{ kind: 'known', dueAt }]);
    });

    it('a lease leaves what it says as it was', async () => {
      const { ledger, now } = bench;
      const operationId = await old();
      const before = await ledger.load(operationId);
      const ask = { owner: 'a', scopes: ['endpoint:e'], limit: 5, leaseMs: 1000, executionEpoch: 1 };
      const lease = { owner: 'a', epoch: '1', until: now() + 1000 };
      expect((await ledger.claimDue(ask)).claimed).toEqual([{ ...before, lease }]);
      expect(await ledger.load(operationId)).toEqual({ ...before, lease });
      expect(await ledger.renewLease(operationId, 'a', '1', 5000)).toEqual({ until: now() + 5000, revision: '1' });
      await ledger.releaseLease(operationId, 'a', '1', 7, '1');
      expect(await ledger.load(operationId)).toEqual({ ...before, dueAt: 7 });
    });

    it('G2: one is of the history that it says, or of the first', async () => {
      const { ledger } = bench;
      const first = await old({ hep: '' });
      const commit = (operationId: string) => ledger.commit({ ...step(operationId), expectedRevision: '1' });
      expect(await commit(first)).toMatchObject({ kind: 'committed' });
      const [of1, of2] = [await old(), await old({ hep: '2' })];
      await ledger.acknowledgeRegress('operator', ['p00', 'p01', 'p02']);
      expect(await commit(of1)).toEqual({ kind: 'olderHistory' });
      expect(await commit(of2)).toEqual({ kind: 'committed', revision: '2' });
    });

    it('B4: one that is over is purged, and counted before as it is then', async () => {
      const { ledger, pass } = bench;
      const operationId = await consumed();
      await asHash(operationId);
      expect(await ledger.audit()).toEqual([]);
      pass(HOUR);
      const dry = await purge(true);
      expect(dry.records).toEqual({ count: 1, bytes: expect.any(Number) });
      expect(dry.records.bytes).toBeGreaterThan(PAYLOAD.text.length + step(operationId).snapshot.length);
      expect((await purge()).records).toEqual(dry.records);
      const { requestDigest, terminalState } = fields;
      expect(await ledger.find(operationId)).toMatchObject({
        kind: 'purged',
        tombstone: { requestDigest, terminalState },
      });
    });

    it('2 → 3: one that is over is purged after its migration, one that is open has no receipt', async () => {
      const { ledger, pass } = bench;
      const [open, over] = [await create(), await consumed()];
      for (const operationId of [open, over]) await asHash(operationId);
      await migrate();
      expect((await linesOf(open))[7]).toBe('');
      expect(await ledger.audit()).toEqual([]);
      pass(HOUR);
      expect((await purge()).records.count).toBe(1);
      const { requestDigest, terminalState } = fields;
      expect(await ledger.find(over)).toMatchObject({ kind: 'purged', tombstone: { requestDigest, terminalState } });
    });

    it('2 → 3: what is short moves into the record, what is long stays where it is', async () => {
      const { store, ledger } = bench;
      const operationId = await old();
      const keys = keysOf(operationId);
      const long = { digest: sha256('long'), text: 'x'.repeat(2500) };
      await store.plant(keys.payloads(operationId), long.digest, long.text);
      const chatty = await old();
      const notes = Array.from({ length: 8 }, () => randomBytes(300).toString('base64'));
      for (const [i, note] of notes.entries())
        await store.plant(keysOf(chatty).history(chatty), String(i + 1), JSON.stringify({ ...ENTRY, note }));
      await migrate();
      expect([...(await entriesUnder(store, keys.payloads(operationId))).keys()]).toEqual([long.digest]);
      for (const { digest, text } of [PAYLOAD, long]) expect(await ledger.readPayload(operationId, digest)).toBe(text);
      expect(await entriesUnder(store, keys.history(operationId))).toEqual(new Map());
      expect(await ledger.readHistory(operationId)).toEqual([ENTRY]);
      expect(await ledger.readHistory(chatty)).toEqual(notes.map((note) => ({ ...ENTRY, note })));
    });

    it('2 → 3: an entry of the index without a record does not stop it', async () => {
      const { store, ledger } = bench;
      const [gone, stays] = [await create(), await create()];
      await store.replace(keysOf(gone).operation(gone), null);
      await asHash(stays);
      await migrate();
      expect(await ledger.layout()).toMatchObject({ layout: 3 });
      expect((await linesOf(stays))[0]).toBe('1');
    });

    it('2 → 3: a batch changes only what is as its sender saw it', async () => {
      const { store, ledger } = bench;
      const operationId = await old();
      const keys = keysOf(operationId);
      const op = keys.operation(operationId);
      const before = await ledger.load(operationId);
      const pack = (from: string, to: string, revision: string) =>
        runScript(
          store,
          'pack-records',
          [keys.migration, op, keys.history(operationId), keys.payloads(operationId)],
          ['', from, to, revision, 'body', 'digest', 'request', 'completed', '', '', ''],
        );
      await store.plant(keys.migration, 'at', '3:1:a');
      expect(await pack('3:0:a', '3:1:a', '1')).toBe('3:1:a');
      expect(await pack('3:1:a', '3:2:a', '2')).toBe('3:2:a');
      expect(await ledger.load(operationId)).toEqual(before);
      // A text already.
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      const text = await textUnder(store, op);
      expect(await pack('3:2:a', '3', '2')).toBe('3');
      expect(await textUnder(store, op)).toEqual(text);
      // One that comes late does not set it back.
      expect(await pack('3:2:a', '3:3:a', '2')).toBe('3');
    });
  });
}
