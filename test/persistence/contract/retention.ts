/** What a purge meets where something is wrong, and its script (B12). */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../machines/digest.ts';
import { ALL, HOUR, overIn, PAYLOAD } from '../../kit/ledger-contract/over.ts';
import { step, withLine } from '../steps.ts';
import { keysOf, runScript, type StoreBench } from './bench.ts';

export function retentionInStore(bench: StoreBench): void {
  describe('retention', () => {
    const { createOpen, consumed, purge } = overIn(bench);
    const purgeDirectly = async (operationId: string, dryRun = '', age = HOUR): Promise<unknown> => {
      const keys = keysOf(operationId);
      return runScript(
        bench.store,
        'purge-records',
        [
          ...[keys.operations, keys.settled, keys.kept, keys.receipts, keys.readyRows, keys.consumed, keys.tombstones],
          ...[keys.operation(operationId), keys.history(operationId), keys.payloads(operationId)],
        ],
        [String(bench.now()), String(age), dryRun, operationId],
      );
    };

    it('B12: the tombstone has the SHA-256 sum of the receipt', async () => {
      const { ledger, pass } = bench;
      const operationId = await consumed();
      const receipt = (await ledger.readReceipt(operationId)) as string;
      pass(HOUR);
      await purge();
      expect(await ledger.find(operationId)).toMatchObject({ tombstone: { receiptDigest: sha256(receipt) } });
    });

    it('says how many bytes of names and values go', async () => {
      const { ledger, pass } = bench;
      const operationId = await consumed();
      pass(3 * HOUR);
      const { records } = await purge(ALL);
      expect(records.bytes).toBeGreaterThan(PAYLOAD.text.length + step(operationId).snapshot.length);
      const receipt = (await ledger.readReceipt(operationId)) as string;
      expect((await purge(ALL)).receipts.bytes).toBeGreaterThan(receipt.length);
      expect((await purge(ALL)).tombstones.bytes).toBeGreaterThan(100);
    });

    it('the script checks for itself, and a repetition is harmless', async () => {
      const { store, ledger, pass } = bench;
      const young = await consumed();
      expect(await purgeDirectly(young)).toEqual(['young']);
      expect(await purgeDirectly(await createOpen())).toEqual(['young']);
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
      const { store, pass } = bench;
      const operationId = await consumed();
      pass(HOUR);
      const record = keysOf(operationId).operation(operationId);
      await store.replace(record, null);
      expect(await purge()).toMatchObject({ records: { count: 0 }, staying: { open: 1 } });
    });

    it('what stays does not keep what comes after it from going', async () => {
      const { ledger, store, pass } = bench;
      const one = await consumed();
      await store.replace(keysOf(one).operation(one), withLine('receipt', ''));
      pass(1);
      const others = [await consumed(), await consumed(), await consumed(), await consumed()];
      pass(HOUR);
      expect(await purge()).toMatchObject({ records: { count: 4 }, staying: { open: 1 } });
      for (const id of others) expect((await ledger.find(id)).kind).toBe('purged');
      expect((await ledger.find(one)).kind).toBe('record');
    });

    it('the audit finds a purged operation that is not what its tombstone says', async () => {
      const { ledger, store, pass } = bench;
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
}
