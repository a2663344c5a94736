/** What all executors know together: task ids (F9), rates (B8, G3, G4), the time, and news. */
import type { OperationLedger } from '../../../machines/operation-ledger.ts';
import { type Bench, eventually } from './bench.ts';
import { acceptStep } from './steps.ts';

export function sharedFactsTopic(bench: Bench): void {
  const { describe, it, expect, open, create, now, pass } = bench;

  describe('shared facts', () => {
    it('gives a task id to the first operation that names it', async () => {
      const { ledger } = bench;
      expect(await ledger.ownTask('e{1}', 't', 'op-a')).toBe('op-a');
      expect(await ledger.ownTask('e{1}', 't', 'op-b')).toBe('op-a');
      expect(await ledger.ownTask('e{1}', 't', 'op-a')).toBe('op-a');
      expect(await ledger.ownTask('e2', 't', 'op-b')).toBe('op-b');
    });

    it('keeps a rate over all executors, and a refused request reserves nothing', async () => {
      const { ledger } = bench;
      const other = await open();
      const take = async (from = ledger) => (await from.takePermit('server', 2, 2)).waitMs;
      expect([await take(), await take(other)]).toEqual([0, 0]);
      expect([await take(), await take(other), await take()]).toEqual([500, 500, 500]);
      pass(499);
      expect(await take()).toBe(1);
      pass(1);
      expect([await take(), await take(other)]).toEqual([0, 500]);
      pass(60_000);
      expect([await take(), await take(), await take()]).toEqual([0, 0, 500]);
      expect((await ledger.takePermit('another', 0.1, 1)).waitMs).toBe(0);
      expect((await ledger.takePermit('another', 0.1, 1)).waitMs).toBe(10_000);
    });

    it('B8 G3: places asked for at once are as many as the rate has, over all who ask', async () => {
      const { ledger } = bench;
      const other = await open();
      const all = async (count: number) =>
        (
          await Promise.all(Array.from({ length: count }, (_, i) => (i % 2 ? other : ledger).takePermit('many', 2, 5)))
        ).map(({ waitMs }) => waitMs);
      const first = await all(12);
      expect(first.filter((waitMs) => waitMs === 0)).toHaveLength(5);
      expect(first.filter((waitMs) => waitMs === 500)).toHaveLength(7);
      pass(1_000);
      expect((await all(4)).sort()).toEqual([0, 0, 500, 500]);
    });

    it('F9: task ids taken at once have one owner each', async () => {
      const { ledger } = bench;
      const other = await open();
      const take = (from: OperationLedger, who: string) =>
        Promise.all(Array.from({ length: 8 }, (_, nth) => from.ownTask('many', `task-${nth}`, `${who}-${nth}`)));
      const [mine, theirs] = await Promise.all([take(ledger, 'a'), take(other, 'b')]);
      expect(theirs).toEqual(mine);
      for (const [nth, owner] of mine.entries()) expect(owner).toMatch(new RegExp(`^[ab]-${nth}$`));
    });

    it('G4: a cancel takes the next free place, everybody else waits until after it, and the rate stays what it is', async () => {
      const { ledger } = bench;
      const other = await open();
      const take = async (lane?: 'next', from = ledger) => (await from.takePermit('busy', 2, 2, lane)).waitMs;
      expect([await take(), await take('next'), await take()]).toEqual([0, 0, 500]);
      expect([await take('next'), await take('next', other), await take()]).toEqual([500, 1_000, 1_500]);
      pass(1_000);
      // Both places are the cancels'.
      expect([await take(), await take(undefined, other)]).toEqual([500, 500]);
      pass(500);
      expect([await take(), await take()]).toEqual([0, 500]);
      pass(60_000);
      expect([await take('next'), await take('next'), await take('next'), await take()]).toEqual([0, 0, 500, 1_000]);
    });

    it('has a clock', async () => {
      const { ledger } = bench;
      expect(await ledger.now()).toBe(now());
    });

    it('nudges every process', async () => {
      const [other, another] = [await open(), await open()];
      const heard = { unsubscribed: 0, other: 0 };
      const stop = another.onChange(() => {
        heard.unsubscribed += 1;
      });
      const unsubscribe = other.onChange(() => {
        heard.other += 1;
      });
      await eventually(async () => {
        await create();
        return heard.unsubscribed > 0 && heard.other > 0;
      }, 'both hear of one of many steps');
      stop();
      const before = { ...heard };
      await eventually(async () => {
        await create();
        return heard.other > before.other + 3;
      }, 'the other goes on hearing of steps');
      expect(heard.unsubscribed).toBe(before.unsubscribed);
      unsubscribe();
    });

    it('says what became ready', async () => {
      const other = await open();
      const ready = new Set<string>();
      const unsubscribe = other.onChange((operationId, news) => {
        if (news === 'ready') ready.add(operationId);
      });
      const accepted = new Set<string>();
      await eventually(async () => {
        const operationId = await create();
        await bench.ledger.acceptTerminal(acceptStep(operationId, '1'));
        accepted.add(operationId);
        return ready.size > 0;
      }, 'the other hears that one of many became ready');
      for (const operationId of ready) expect(accepted).toContain(operationId);
      unsubscribe();
    });

    it('states its durability', async () => {
      const { ledger } = bench;
      const { acceptable, statement } = await ledger.durability();
      expect(acceptable).toEqual(expect.any(Boolean));
      expect(statement.length).toBeGreaterThan(20);
    });
  });
}
