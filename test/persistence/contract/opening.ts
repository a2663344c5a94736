/** What is opened only by who knows it. */
import { describe, expect, it } from 'vitest';
import { LedgerIncompatible } from '../../../machines/operation-ledger.ts';
import { openLedger } from '../../../persistence/index.ts';
import { META, type StoreBench } from './bench.ts';

export function openingInStore(bench: StoreBench): void {
  const { open } = bench;

  describe('opening', () => {
    it('says with how many partitions a namespace was made', async () => {
      await expect(open({ partitions: 4 })).rejects.toThrow(/made with 3 partitions, not 4.*untouched/);
    });

    it('leaves a namespace untouched that does not say its number of partitions', async () => {
      const { store } = bench;
      await store.plant(META, 'partitions', null);
      await expect(open()).rejects.toThrow(LedgerIncompatible);
      await expect(open()).rejects.toThrow(/"" partitions.*untouched/);
    });

    it('leaves a newer schema untouched', async () => {
      const { store } = bench;
      await store.plant(META, 'schema', '2');
      await expect(open()).rejects.toThrow(LedgerIncompatible);
      await expect(open()).rejects.toThrow(/schema 2.*reads schema 1.*untouched/);
    });

    it('refuses addresses it does not know', async () => {
      await expect(openLedger('postgres://x', { namespace: 'n' })).rejects.toThrow(/redis:\/\//);
    });
  });
}
