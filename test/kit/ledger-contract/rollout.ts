/** The rollout rules (R2), which a ledger keeps and never reads. */
import type { Bench } from './bench.ts';
import { newOperation } from './steps.ts';

export function rolloutTopic(bench: Bench): void {
  const { describe, it, expect } = bench;

  describe('rollout', () => {
    it('R2: rules that were never set, then a change in every partition, then the next', async () => {
      const { ledger } = bench;
      expect(await ledger.rollouts()).toEqual(Array.from({ length: 3 }, () => ({ version: '0', text: '' })));
      const first = await ledger.setRollout('one', '0');
      expect(first.kind).toBe('set');
      expect(first.version).not.toBe('0');
      expect(await ledger.rollouts()).toEqual(
        Array.from({ length: 3 }, () => ({ version: first.version, text: 'one' })),
      );
      const second = await ledger.setRollout('two with blanks', first.version);
      expect(['0', first.version]).not.toContain(second.version);
      expect(await ledger.rolloutOf(newOperation(ledger))).toEqual({
        version: second.version,
        text: 'two with blanks',
      });
      await expect(ledger.setRollout('x'.repeat(65_537), second.version)).rejects.toThrow(RangeError);
    });

    it('R2: of two changes at once one wins, everywhere', async () => {
      const { ledger } = bench;
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map((rules) => ledger.setRollout(rules, '0')));
      const won = answers.filter(({ kind }) => kind === 'set');
      expect(won.length).toBe(1);
      expect(new Set((await ledger.rollouts()).map(({ version }) => version))).toEqual(new Set([won[0]?.version]));
      // The losers are told what stands there.
      expect(new Set(answers.map(({ version }) => version)).size).toBe(1);
    });
  });
}
