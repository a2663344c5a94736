/** The layout of the keys, and what executors may write (B3, R3). */
import type { Bench } from './bench.ts';

export function layoutsTopic(bench: Bench): void {
  const { describe, it, expect, open } = bench;

  describe('layouts', () => {
    it('a new namespace has the newest one, and nothing to migrate', async () => {
      const { ledger } = bench;
      const layout = await ledger.layout();
      expect(layout).toMatchObject({ layout: layout.newest, writes: 1 });
      for (const { partitions } of layout.migrations) expect(partitions).toEqual(['done', 'done', 'done']);
      expect(await ledger.migrate()).toEqual(layout);
      expect(await ledger.migrate({ again: true })).toEqual(layout);
    });

    it('B3, R3: what is to be written is raised for the whole fleet, and never goes back', async () => {
      const { ledger } = bench;
      expect(await ledger.writes()).toBe(1);
      expect(await ledger.raiseWrites(2)).toBe(2);
      expect(await ledger.raiseWrites(1)).toBe(2);
      expect(await ledger.raiseWrites(2)).toBe(2);
      expect(await ledger.raiseWrites(3)).toBe(3);
      const other = await open();
      expect(await other.writes()).toBe(3);
      expect(await other.layout()).toMatchObject({ writes: 3 });
    });
  });
}
