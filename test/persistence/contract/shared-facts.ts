/** What is written of rates, the clock, the channel of news, and what is said of losses. */
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../persistence/index.ts';
import { Keys } from '../../../persistence/keys.ts';
import { acceptStep, NAMESPACE, step } from '../steps.ts';
import type { StoreBench } from './bench.ts';

export function sharedFactsInStore(bench: StoreBench): void {
  const { open, create, now } = bench;

  describe('shared facts', () => {
    it('a request that is refused writes nothing', async () => {
      const { ledger, store } = bench;
      const limiter = new Keys(NAMESPACE).limiter('full');
      expect((await ledger.takePermit('full', 2, 1)).waitMs).toBe(0);
      // The same number, written as no script writes it.
      const held = `0${(now() + 500) * 1000}`;
      await store.plant(limiter, 'tat', held);
      expect((await ledger.takePermit('full', 2, 1)).waitMs).toBe(500);
      const host = await store.host();
      expect(await host.run('entries', [limiter], [String(now())])).toEqual(['tat', held]);
      await host.close();
    });

    it('has the clock of its store where it is given none', async () => {
      const real = await openLedger(bench.store.address, { namespace: NAMESPACE });
      try {
        expect(Math.abs((await real.now()) - Date.now())).toBeLessThan(1000);
      } finally {
        await real.close();
      }
    });

    it('nudges with each step of many at once, and says what became ready; nobody hears of a quiet step', async () => {
      const { ledger } = bench;
      const other = await open();
      const heard: string[] = [];
      const stop = other.onChange((operationId, news) => heard.push(`${operationId} ${news}`));
      await expect
        .poll(async () => {
          await create();
          return heard.length;
        })
        .toBeGreaterThan(0);
      const ids = await Promise.all(Array.from({ length: 6 }, () => create()));
      const quiet = ids[0] as string;
      await ledger.commit({ ...step(quiet), expectedRevision: '1', quiet: true });
      await Promise.all(ids.slice(1).map((id) => ledger.acceptTerminal(acceptStep(id, '1'))));
      await expect.poll(() => ids.slice(1).every((id) => heard.includes(`${id} ready`))).toBe(true);
      for (const id of ids) expect(heard.filter((line) => line === `${id} step`)).toHaveLength(1);
      stop();
    });

    it('says that it loses nothing acknowledged', async () => {
      const { acceptable, statement } = await bench.ledger.durability();
      expect(acceptable).toBe(true);
      expect(statement).toContain('loses nothing acknowledged');
    });
  });
}
