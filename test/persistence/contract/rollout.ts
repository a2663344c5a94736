/** Versions of rollout rules, and changes that met (R2). */
import { describe, expect, it } from 'vitest';
import { LedgerIncompatible } from '../../../machines/operation-ledger.ts';
import { Keys } from '../../../persistence/keys.ts';
import { NAMESPACE } from '../steps.ts';
import { runOnHistory, type StoreBench } from './bench.ts';

export function rolloutInStore(bench: StoreBench): void {
  describe('rollout', () => {
    it('R2: a version is a number and a digest', async () => {
      const { ledger } = bench;
      const first = await ledger.setRollout('one', '0');
      expect(first).toEqual({ kind: 'set', version: expect.stringMatching(/^1\.[0-9a-f]{12}$/) });
      const second = await ledger.setRollout('two with blanks', first.version);
      expect(second.version).toMatch(/^2\./);
      await expect(ledger.setRollout('x'.repeat(65_537), second.version)).rejects.toThrow(/65537 bytes.*65536/);
    });

    it('R2: a change that was interrupted is visible, and the next one completes it', async () => {
      const { ledger, store } = bench;
      const old = `1.${'0'.repeat(12)}`;
      const newer = `5.${'1'.repeat(12)}`;
      await store.plant(`toolop:1:{${NAMESPACE}/p00}:switches`, 'rollout', `${newer} new`);
      await store.plant(`toolop:1:{${NAMESPACE}/p01}:switches`, 'rollout', `${old} old`);
      expect((await ledger.rollouts()).map(({ text }) => text)).toEqual(['new', 'old', '']);
      expect(await ledger.setRollout('again', old)).toEqual({ kind: 'conflict', version: newer });
      expect((await ledger.rollouts()).map(({ text }) => text)).toEqual(['new', 'old', '']);
      expect(await ledger.setRollout('again', newer)).toMatchObject({
        kind: 'set',
        version: expect.stringMatching(/^6\./),
      });
      expect(new Set((await ledger.rollouts()).map(({ text }) => text))).toEqual(new Set(['again']));
    });

    it('R2: a slow change does not overtake a newer one, and equal numbers are settled by the next change', async () => {
      const { ledger, store } = bench;
      const host = await store.host();
      const switches = `toolop:1:{${NAMESPACE}/p02}:switches`;
      const partition = new Keys(NAMESPACE).partition(2);
      const set = (version: string, rules: string) =>
        runOnHistory(host, partition, 'rollout', [switches], ['', version, rules, '']);
      try {
        expect(await set('9.bbbbbbbbbbbb', 'newer')).toBe('9.bbbbbbbbbbbb');
        expect(await set('8.aaaaaaaaaaaa', 'slow')).toBe('9.bbbbbbbbbbbb');
        expect(await set('10.cccccccccccc', 'newest')).toBe('10.cccccccccccc');
        expect(await set('10.dddddddddddd', 'other')).toBe('10.dddddddddddd');
      } finally {
        await host.close();
      }
      expect((await ledger.rollouts())[2]).toEqual({ version: '10.dddddddddddd', text: 'other' });
      // The number goes on from the highest of all partitions.
      expect((await ledger.setRollout('x', '0')).version).toMatch(/^11\./);
    });

    it('R2: rules without a version are refused, with what can be done', async () => {
      const { ledger, store } = bench;
      await store.plant(`toolop:1:{${NAMESPACE}/p00}:switches`, 'rollout', 'nonsense');
      await expect(ledger.rollouts()).rejects.toThrow(LedgerIncompatible);
    });
  });
}
