/** What a record remembers of its steps. */
import { describe, expect, it } from 'vitest';
import { newOperation, step } from '../steps.ts';
import type { StoreBench } from './bench.ts';

export function commitInStore(bench: StoreBench): void {
  const { create } = bench;

  describe('commit', () => {
    it('remembers the last two steps, and no more: an older one is judged anew', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const steps = ['1', '2', '3'].map((expectedRevision) => ({ ...step(operationId), expectedRevision }));
      for (const each of steps) await ledger.commit(each);
      const [oldest, ...remembered] = await Promise.all(steps.map((each) => ledger.commit(each)));
      expect(oldest).toEqual({ kind: 'conflict', revision: '4' });
      expect(remembered.map(({ kind }) => kind)).toEqual(['committed', 'committed']);
    });

    it('notes a refused fact between the steps, for who asks for it, and changes nothing else', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const fact = (at: number) =>
        ({ at, event: 'poll.status', from: 'A', to: 'A', executor: 'x', refused: ['matchesPollCursor'] }) as const;
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      const before = await ledger.load(operationId);
      await ledger.noteRefused(operationId, '1', fact(7));
      await ledger.noteRefused(operationId, '1', fact(5));
      await ledger.noteRefused(operationId, '1', fact(5));
      await ledger.noteRefused(operationId, '2', fact(3));
      expect(await ledger.load(operationId)).toEqual(before);
      expect((await ledger.readHistory(operationId)).length).toBe(2);
      const all = await ledger.readHistory(operationId, { refused: true });
      expect(all.map(({ at, refused }) => (refused ? at : 'step'))).toEqual(['step', 5, 7, 'step', 3]);
      expect(all[1]).toEqual(fact(5));
    });

    it('notes nothing of an operation that is not there, and not without end', async () => {
      const { ledger } = bench;
      const fact = { at: 1, event: 'poll.status', from: 'A', to: 'A', executor: 'x', refused: ['g'] };
      const missing = newOperation(ledger);
      await ledger.noteRefused(missing, '1', fact);
      expect(await ledger.readHistory(missing, { refused: true })).toEqual([]);
      const operationId = await create();
      for (let at = 1; at <= 300; at++) await ledger.noteRefused(operationId, '1', { ...fact, at });
      expect((await ledger.readHistory(operationId, { refused: true })).length).toBe(1 + 256);
    });

    it('refuses to move a record to another scope', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const moved = { ...step(operationId, { scope: 'process:1' }), expectedRevision: '1' };
      await expect(ledger.commit(moved)).rejects.toThrow(/endpoint:e.*for good/);
      expect(await ledger.load(operationId)).toMatchObject({ revision: '1' });
    });
  });
}
