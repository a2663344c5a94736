/** Walking all operations. */
import type { Bench } from './bench.ts';

export function listTopic(bench: Bench): void {
  const { describe, it, expect, create } = bench;

  describe('list', () => {
    it('walks all operations in pages', async () => {
      const { ledger } = bench;
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
      await expect(ledger.list({ limit: 1, cursor: 'x' })).rejects.toThrow(RangeError);
    });
  });
}
