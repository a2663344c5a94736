/** Limits, and texts as they stand. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../machines/digest.ts';
import { newOperation, step } from '../steps.ts';
import type { StoreBench } from './bench.ts';

export function createInStore(bench: StoreBench): void {
  const { open } = bench;

  describe('create', () => {
    it('keeps a payload as it is, with NUL', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const payload = { digest: sha256('p'), text: 'payload\u0000with NUL ✓' };
      await ledger.create(step(operationId, { payloads: [payload] }), null);
      expect(await ledger.readPayload(operationId, payload.digest)).toBe(payload.text);
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
}
