/** Raises that met, and one that was interrupted (R3). */
import { describe, expect, it } from 'vitest';
import { LedgerUnavailable } from '../../../machines/operation-ledger.ts';
import { SeenHistory } from '../../../persistence/history.ts';
import { Keys } from '../../../persistence/keys.ts';
import type { ScriptHost } from '../../../persistence/script-host.ts';
import { Store } from '../../../persistence/store.ts';
import { Switches } from '../../../persistence/switches.ts';
import { NAMESPACE } from '../steps.ts';
import { runOnHistory, type StoreBench } from './bench.ts';

export function epochInStore(bench: StoreBench): void {
  const { now } = bench;

  describe('switches: the execution epoch', () => {
    it('R3: of two who raise at once, whoever comes later with less leaves more alone', async () => {
      const { ledger, store } = bench;
      await ledger.raiseEpoch(12);
      await expect(ledger.raiseEpoch(9)).rejects.toThrow(/is 12 and never goes back: 9/);
      const host = await store.host();
      const keys = new Keys(NAMESPACE).partition(1);
      const raise = (epoch: number) =>
        runOnHistory(host, keys, 'raise', [keys.switches], [String(now()), String(epoch)]);
      expect(await raise(9)).toBe('12');
      expect(await raise(13)).toBe('13');
      await host.close();
      expect(await ledger.epochs()).toEqual([12, 13, 12]);
    });

    it('R3: a raise that was interrupted is seen, and raising again completes it', async () => {
      const { ledger, store } = bench;
      const host = await store.host();
      let raised = 0;
      const dying: ScriptHost = {
        run: async (script, ...ask) => {
          if (script === 'raise' && raised++ > 0) throw new LedgerUnavailable('gone in the middle');
          return host.run(script, ...ask);
        },
        subscribe: () => () => undefined,
        durability: () => host.durability(),
        close: () => host.close(),
      };
      const interrupted = new Switches(
        new Store(dying, 3, { namespace: NAMESPACE, definiteWithinMs: 100, seen: new SeenHistory('', null) }),
      );
      await expect(interrupted.raiseEpoch(2)).rejects.toThrow(LedgerUnavailable);
      await host.close();
      expect([await ledger.epoch(), await ledger.epochs()]).toEqual([2, [2, 1, 1]]);
      expect(await ledger.raiseEpoch(2)).toBe(2);
      expect(await ledger.epochs()).toEqual([2, 2, 2]);
      await store.plant(new Keys(NAMESPACE).partition(2).switches, 'epoch', '7');
      expect(await ledger.raiseEpoch()).toBe(8);
      expect(await ledger.epochs()).toEqual([8, 8, 8]);
    });
  });
}
