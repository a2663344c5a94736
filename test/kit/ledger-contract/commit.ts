/** A step is taken once, and only on the revision that it was made up for (B5, F2, F4). */
import type { Bench } from './bench.ts';
import { newOperation, step, unique } from './steps.ts';

export function commitTopic(bench: Bench): void {
  const { describe, it, expect, create } = bench;

  describe('commit', () => {
    it('compares the revision', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const next = { ...step(operationId, { state: 'NEXT', dueAt: null }), expectedRevision: '1' };
      expect(await ledger.commit(next)).toEqual({ kind: 'committed', revision: '2' });
      expect(await ledger.load(operationId)).toMatchObject({ revision: '2', state: 'NEXT', dueAt: null });
      expect(await ledger.commit({ ...next, commandId: unique('other') })).toEqual({
        kind: 'conflict',
        revision: '2',
      });
      expect(await ledger.commit({ ...step(newOperation(ledger)), expectedRevision: '1' })).toEqual({
        kind: 'missing',
      });
    });

    it('answers every repetition as the first time, however late', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const second = { ...step(operationId), expectedRevision: '1' };
      await ledger.commit(second);
      await ledger.commit({ ...step(operationId), expectedRevision: '2' });
      expect(await ledger.commit(second)).toEqual({ kind: 'committed', revision: '2' });
      expect(await ledger.load(operationId)).toMatchObject({ revision: '3' });
      expect((await ledger.readHistory(operationId)).length).toBe(3);
    });

    it('leaves no line in the history for a step that has none', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await ledger.commit({ ...step(operationId, { history: null }), expectedRevision: '1' });
      expect(await ledger.load(operationId)).toMatchObject({ revision: '2' });
      expect((await ledger.readHistory(operationId)).length).toBe(1);
    });

    it('counts past nine in order', async () => {
      const { ledger } = bench;
      const operationId = await create();
      for (let revision = 1; revision < 12; revision++) {
        const history = { at: revision, event: 'e', from: 'A', to: 'B', executor: 'x', note: `n${revision}` };
        await ledger.commit({ ...step(operationId, { history }), expectedRevision: String(revision) });
      }
      expect(await ledger.load(operationId)).toMatchObject({ revision: '12' });
      expect((await ledger.readHistory(operationId)).map(({ at }) => at)).toEqual([
        1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
      ]);
    });

    it('notes refused facts between the steps, for who asks for them, and changes nothing else', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const fact = (at: number) =>
        ({ at, event: 'poll.status', from: 'A', to: 'A', executor: 'x', refused: ['matchesPollCursor'] }) as const;
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      const before = await ledger.load(operationId);
      await ledger.noteRefused(operationId, '1', fact(5));
      await ledger.noteRefused(operationId, '1', fact(7));
      await ledger.noteRefused(operationId, '2', fact(3));
      expect(await ledger.load(operationId)).toEqual(before);
      expect((await ledger.readHistory(operationId)).length).toBe(2);
      const all = await ledger.readHistory(operationId, { refused: true });
      expect(all.map(({ at, refused }) => (refused ? at : 'step'))).toEqual(['step', 5, 7, 'step', 3]);
      expect(all[1]).toEqual(fact(5));
    });

    it('notes nothing of an operation that is not there', async () => {
      const { ledger } = bench;
      const fact = { at: 1, event: 'poll.status', from: 'A', to: 'A', executor: 'x', refused: ['g'] };
      const missing = newOperation(ledger);
      await ledger.noteRefused(missing, '1', fact);
      expect(await ledger.readHistory(missing, { refused: true })).toEqual([]);
    });

    it('leaves a record in its scope, whatever a step says', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const moved = { ...step(operationId, { scope: 'process:1' }), expectedRevision: '1' };
      await ledger.commit(moved).catch(() => 'refused');
      expect(await ledger.load(operationId)).toMatchObject({ scope: 'endpoint:e' });
    });

    it('lets one of eight win', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => ledger.commit({ ...step(operationId), expectedRevision: '1' })),
      );
      expect(answers.filter(({ kind }) => kind === 'committed').length).toBe(1);
    });
  });
}
