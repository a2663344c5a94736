/** One record for each call node, whoever asks for it and however often (B3, B4, G2). */
import type { Bench } from './bench.ts';
import { fields, newOperation, recordOf, step } from './steps.ts';

export function createTopic(bench: Bench): void {
  const { describe, it, expect, open, create, claim, now } = bench;

  describe('create', () => {
    it('writes record, payloads, history and index', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const snapshot = '{"text":"ünï 😀 \\u0000","list":[],"n":12345678901234567890,"x":1.10}';
      const payload = { digest: 'a'.repeat(64), text: '{"text":"ünï 😀 \\u0000 ✓"}' };
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
      const { ledger } = bench;
      const operationId = await create({ snapshot: '"first"' });
      const other = step(operationId, { snapshot: '"second"', fields: { ...fields, requestDigest: 'other' } });
      expect(await ledger.create(other, null)).toMatchObject({ kind: 'exists', record: { snapshot: '"first"' } });
      expect((await ledger.readHistory(operationId)).length).toBe(1);
    });

    it('answers a repetition as the first time, also after later steps', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const first = step(operationId);
      await ledger.create(first, null);
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      expect(await ledger.create(first, null)).toMatchObject({ kind: 'created', record: { revision: '2' } });
    });

    it('lets one of eight creators win', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const answers = await Promise.all(Array.from({ length: 8 }, () => ledger.create(step(operationId), null)));
      expect(answers.filter(({ kind }) => kind === 'created').length).toBe(1);
    });

    it('can start with a lease', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const record = recordOf(await ledger.create(step(operationId), { owner: 'a', ms: 1000 }));
      expect(record.lease).toEqual({ owner: 'a', epoch: '1', until: now() + 1000 });
      expect(await claim('b')).toEqual({ claimed: [], nextDueAt: now() + 1000 });
      expect((await claim('a')).claimed).toEqual([]);
    });

    it('refuses a snapshot or a payload above its limit, and writes nothing of that step', async () => {
      const small = await open({ maxSnapshotBytes: 100, maxPayloadBytes: 10 });
      expect(small.maxPayloadBytes).toBe(10);
      const operationId = newOperation(small);
      const snapshot = JSON.stringify('x'.repeat(99));
      await expect(small.create(step(operationId, { snapshot }), null)).rejects.toThrow(RangeError);
      const payloads = [{ digest: 'd', text: 'x'.repeat(11) }];
      await expect(small.create(step(operationId, { payloads }), null)).rejects.toThrow(RangeError);
      expect(await small.load(operationId)).toBeNull();
    });
  });
}
