/** A record stays in its scope. */
import { describe, expect, it } from 'vitest';
import { acceptStep } from '../steps.ts';
import type { StoreBench } from './bench.ts';

export function acceptInStore(bench: StoreBench): void {
  const { create } = bench;

  describe('accept', () => {
    it('refuses to move a record to another scope', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const moved = acceptStep(operationId, '1', { scope: 'process:1' });
      await expect(ledger.acceptTerminal(moved)).rejects.toThrow(/endpoint:e.*for good/);
      expect(await ledger.readReceipt(operationId)).toBeNull();
      expect(await ledger.acceptTerminal(acceptStep(operationId, '1'))).toMatchObject({ kind: 'accepted' });
    });
  });
}
