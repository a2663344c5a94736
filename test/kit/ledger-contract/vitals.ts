/** What somebody who watches has to know (G5, G6). */
import type { Bench } from './bench.ts';
import { acceptStep, step, unique } from './steps.ts';

export function vitalsTopic(bench: Bench): void {
  const { describe, it, expect, open, create, pass } = bench;

  describe('vitals', () => {
    const NONE = { count: 0, oldestAgeMs: 0 };
    const revisions = new Map<string, number>();
    const moves = async (
      operationId: string,
      state: string,
      uncertainty?: NonNullable<Parameters<typeof step>[1]>['uncertainty'],
    ) => {
      const revision = revisions.get(operationId) ?? 1;
      const expectedRevision = String(revision);
      const change = { state, ...(uncertainty === undefined ? {} : { uncertainty }) };
      const answer = await bench.ledger.commit({ ...step(operationId, change), expectedRevision });
      expect(answer.kind).toBe('committed');
      revisions.set(operationId, revision + 1);
    };

    it('G5: says since when the oldest outcome is unknown, however often the step is repeated', async () => {
      const { ledger } = bench;
      expect(await ledger.vitals()).toEqual({ open: NONE, parked: NONE, readyAgeMs: 0 });
      const [first, second] = [await create(), await create()];
      await moves(first, 'SUBMISSION_UNKNOWN', { before: null, after: 'open' });
      pass(500);
      await moves(second, 'CLASSIFYING_NOT_FOUND', { before: null, after: 'open' });
      await moves(first, 'SUBMISSION_UNKNOWN', { before: 'open', after: 'open' });
      pass(200);
      expect(await ledger.vitals()).toMatchObject({ open: { count: 2, oldestAgeMs: 700 }, parked: NONE });
      await moves(first, 'PARKED.watching', { before: 'open', after: 'parked' });
      pass(100);
      expect(await ledger.vitals()).toMatchObject({
        open: { count: 1, oldestAgeMs: 300 },
        parked: { count: 1, oldestAgeMs: 100 },
      });
      await moves(second, 'WORKING.polling', { before: 'open', after: null });
      await moves(first, 'CLASSIFYING_NOT_FOUND', { before: 'parked', after: 'open' });
      expect(await ledger.vitals()).toMatchObject({ open: { count: 1, oldestAgeMs: 0 }, parked: NONE });
      await moves(first, 'PARKED.idle', { before: 'open', after: 'parked' });
      await moves(first, 'CONCLUDING.givenUp', { before: 'parked', after: null });
      expect(await ledger.vitals()).toMatchObject({ open: NONE, parked: NONE });
    });

    it('G6: says how long the oldest row waits, also while it is leased again and again', async () => {
      const { ledger } = bench;
      const [first, second] = [await create(), await create()];
      await ledger.acceptTerminal(acceptStep(first, '1'));
      pass(400);
      await ledger.acceptTerminal(acceptStep(second, '1'));
      pass(100);
      expect((await ledger.vitals()).readyAgeMs).toBe(500);
      for (const consumer of ['a', 'b']) {
        expect(await ledger.leaseReady(consumer, 10, 1000)).toHaveLength(2);
        expect((await ledger.vitals()).readyAgeMs).toBe(consumer === 'a' ? 500 : 2500);
        pass(2000);
      }
      const rows = await ledger.leaseReady('c', 10, 1000);
      for (const row of rows.filter(({ operationId }) => operationId === first)) await ledger.ackReady(row, 'c');
      expect((await ledger.vitals()).readyAgeMs).toBe(4100);
      for (const row of rows.filter(({ operationId }) => operationId === second)) await ledger.ackReady(row, 'c');
      expect((await ledger.vitals()).readyAgeMs).toBe(0);
    });

    it('G6: the oldest row is the oldest also where the clock of the store went back', async () => {
      const namespace = unique('clock');
      const one = await open({ namespace, partitions: 1 });
      const accept = async () => {
        const operationId = one.operationIdOf({ namespace, principal: 'p', callNodeId: unique('node') });
        await one.create(step(operationId), null);
        await one.acceptTerminal(acceptStep(operationId, '1'));
      };
      await accept();
      expect(await one.leaseReady('c', 1, 1000)).toHaveLength(1);
      pass(-300);
      await accept();
      pass(400);
      expect((await one.vitals()).readyAgeMs).toBe(400);
    });
  });
}
