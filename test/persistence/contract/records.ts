/** What every host must do alike about where the parts of a record stand: in its text while they are short, else in keys of their own. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../machines/digest.ts';
import { newOperation, step } from '../steps.ts';
import { entriesUnder, keysOf, type StoreBench, textUnder } from './bench.ts';

/** Of so many characters, which packing makes hardly shorter. */
const noise = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
const payloadOf = (text: string) => ({ digest: sha256(text), text });

export function recordsInStore(bench: StoreBench): void {
  const recordOf = (operationId: string) => textUnder(bench.store, keysOf(operationId).operation(operationId));
  const historyOf = (operationId: string) => entriesUnder(bench.store, keysOf(operationId).history(operationId));
  const payloadsOf = (operationId: string) => entriesUnder(bench.store, keysOf(operationId).payloads(operationId));

  describe('records', () => {
    it('a short history and small payloads stand in the record itself', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const payload = payloadOf('a small payload');
      await ledger.create(step(operationId, { payloads: [payload] }), null);
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      expect((await historyOf(operationId)).size).toBe(0);
      expect((await payloadsOf(operationId)).size).toBe(0);
      expect(await ledger.readHistory(operationId)).toHaveLength(2);
      expect(await ledger.readPayload(operationId, payload.digest)).toBe(payload.text);
    });

    it('a history that becomes long leaves the record piece by piece, and is read in order', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      await ledger.create(step(operationId), null);
      for (let revision = 1; revision <= 12; revision++) {
        const history = { at: revision, event: 'e', from: 'A', to: 'B', executor: 'x', note: noise(400) };
        await ledger.commit({ ...step(operationId, { history }), expectedRevision: String(revision) });
        expect((await recordOf(operationId)).length).toBeLessThan(2048);
      }
      const pieces = (await historyOf(operationId)).size;
      expect(pieces).toBeGreaterThan(1);
      expect(pieces).toBeLessThan(6);
      const found = await ledger.readHistory(operationId);
      expect(found.map(({ at }) => at)).toEqual([1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    });

    it('a payload for which the record has no room has a key of its own, as one that is not small', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const small = Array.from({ length: 4 }, () => payloadOf(noise(320)));
      const large = payloadOf(noise(600));
      await ledger.create(step(operationId, { payloads: [large, ...small] }), null);
      expect([...(await payloadsOf(operationId)).keys()].sort()).toEqual(
        [large, ...small.slice(2)].map(({ digest }) => digest).sort(),
      );
      for (const { digest, text } of [large, ...small])
        expect(await ledger.readPayload(operationId, digest)).toBe(text);
    });

    it('a payload that is given again stands once', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const payloads = [payloadOf(noise(200))];
      await ledger.create(step(operationId, { payloads, history: null }), null);
      const before = (await recordOf(operationId)).length;
      await ledger.commit({ ...step(operationId, { payloads, history: null }), expectedRevision: '1' });
      // The second command is remembered now, and nothing else was added.
      expect((await recordOf(operationId)).length - before).toBeLessThan(40);
      expect((await payloadsOf(operationId)).size).toBe(0);
    });
  });
}
