/** Migrations of what older releases left behind (B3). */
import { describe, expect, it } from 'vitest';
import { LedgerIncompatible } from '../../../machines/operation-ledger.ts';
import { Keys } from '../../../persistence/keys.ts';
import { HOUR, overIn, PAYLOAD, RECORDS } from '../../kit/ledger-contract/over.ts';
import { acceptStep, fields, newOperation, step } from '../steps.ts';
import { keysOf, META, type StoreBench } from './bench.ts';

export function layoutsInStore(bench: StoreBench): void {
  describe('layouts', () => {
    /** As release 0.1.0 leaves it: no layout, and no index of what was consumed. */
    const asBefore = async (...ids: readonly string[]): Promise<void> => {
      const { store } = bench;
      await store.plant(META, 'layout', null);
      for (const id of ids) await store.unrank(keysOf(id).settled, id);
    };
    const states = async (ledger = bench.ledger) => (await ledger.layout()).migrations[0]?.partitions;

    const { createOpen, accept, consumeAll, consumed, purge, counts } = overIn(bench);

    it('a new namespace has layout 3', async () => {
      const { ledger } = bench;
      expect(await ledger.layout()).toMatchObject({ layout: 3, newest: 3, writes: 1 });
      expect(await states()).toEqual(['done', 'done', 'done']);
    });

    it('1 → 2: what was consumed before ages from its end, as the history says', async () => {
      const { ledger, pass, now } = bench;
      const old = await createOpen();
      const end = now() - 5 * HOUR;
      const history = { at: end, event: 'e', from: 'A', to: 'B', executor: 'x' };
      await ledger.acceptTerminal(acceptStep(old, '1', { history }));
      const future = await createOpen();
      await ledger.acceptTerminal(acceptStep(future, '1', { history: { ...history, at: now() + 99 * HOUR } }));
      const open = await createOpen();
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
      const { ledger, pass } = bench;
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
      const { store, pass, open } = bench;
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
      const { store, now } = bench;
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
      const { ledger, store, pass } = bench;
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
      const { store, ledger, open } = bench;
      await store.plant(META, 'layout', '4');
      await expect(open()).rejects.toThrow(LedgerIncompatible);
      await expect(open()).rejects.toThrow(/layout 4.*knows up to 3.*untouched/);
      await expect(ledger.migrate()).rejects.toThrow(LedgerIncompatible);
      expect((await ledger.layout()).layout).toBe(4);
    });

    it('B3: 2 → 3: a record of layout 2 is read as it stands, and is made a packed text as it was', async () => {
      const { ledger, store, now } = bench;
      const operationId = await createOpen();
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
      await store.plant(keys.payloads(operationId), PAYLOAD.digest, PAYLOAD.text);
      await store.plant(keys.migration, 'at', '2');
      await store.plant(META, 'layout', '2');
      const read = async () => [
        await ledger.load(operationId),
        await ledger.readHistory(operationId),
        await ledger.readPayload(operationId, PAYLOAD.digest),
      ];
      const held = [{ ...before, dueAt: 1000 }, [history], PAYLOAD.text];
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
