/** `acceptTerminal` (B11, B12): one receipt and one ready row for each operation. */
import type { AcceptFields } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { acceptStep, fields, newOperation, step } from './steps.ts';

export function acceptTopic(bench: Bench): void {
  const { describe, it, expect, create, claim, pass } = bench;

  describe('accept', () => {
    it('writes record, receipt and one ready row, and ends lease and due time', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await claim('a');
      const terminal = acceptStep(operationId, '1');
      expect(await ledger.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
      expect(await ledger.acceptTerminal(terminal)).toEqual({ kind: 'accepted', revision: '2' });
      expect(await ledger.readReceipt(operationId)).toBe(terminal.receipt);
      expect(await ledger.load(operationId)).toMatchObject({ state: 'ACCEPTED', dueAt: null, lease: null });
      pass(5000);
      expect(await claim('b')).toEqual({ claimed: [], nextDueAt: null });
      expect(await ledger.audit()).toEqual([]);
    });

    it('answers a second acceptance with the one receipt', async () => {
      const { ledger } = bench;
      const operationId = await create();
      const terminal = acceptStep(operationId, '1');
      await ledger.acceptTerminal(terminal);
      expect(await ledger.acceptTerminal({ ...acceptStep(operationId, '2'), receipt: 'other' })).toEqual({
        kind: 'duplicate',
        receipt: terminal.receipt,
      });
    });

    for (const field of Object.keys(fields) as (keyof AcceptFields)[]) {
      it(`names ${field} when it contradicts`, async () => {
        const { ledger } = bench;
        const operationId = await create();
        const terminal = acceptStep(operationId, '1');
        const expected = { ...fields, [field]: 'other' };
        expect(await ledger.acceptTerminal({ ...terminal, expected })).toEqual({ kind: 'mismatch', field });
        expect(await ledger.load(operationId)).toMatchObject({ revision: '1', state: 'WORKING' });
        expect(await ledger.acceptTerminal(terminal)).toMatchObject({ kind: 'accepted' });
      });
    }

    it('compares the revision', async () => {
      const { ledger } = bench;
      const operationId = await create();
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      expect(await ledger.acceptTerminal(acceptStep(operationId, '1'))).toEqual({ kind: 'conflict', revision: '2' });
      expect(await ledger.acceptTerminal(acceptStep(newOperation(ledger), '1'))).toEqual({ kind: 'missing' });
    });

    it('makes one ready row when eight accept at once', async () => {
      const { ledger } = bench;
      const operationIds = await Promise.all(Array.from({ length: 10 }, () => create()));
      const answers = await Promise.all(
        operationIds.flatMap((operationId) =>
          Array.from({ length: 8 }, () => ledger.acceptTerminal(acceptStep(operationId, '1'))),
        ),
      );
      expect(answers.filter(({ kind }) => kind === 'accepted').length).toBe(10);
      expect(answers.filter(({ kind }) => kind === 'duplicate').length).toBe(70);
      const rows = await ledger.leaseReady('c', 100, 1000);
      expect(rows.map((row) => row.operationId).sort()).toEqual(operationIds.sort());
      expect(await ledger.audit()).toEqual([]);
    });
  });
}
