/** Cursors of our own. */
import { describe, expect, it } from 'vitest';
import type { StoreBench } from './bench.ts';

export function listInStore(bench: StoreBench): void {
  describe('list', () => {
    it('refuses a cursor that is none, with clear words', async () => {
      await expect(bench.ledger.list({ limit: 1, cursor: 'x' })).rejects.toThrow(/no cursor/);
    });
  });
}
