/** The side that a call node took at first contact (R2). */
import type { OperationLedger } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { newOperation, step } from './steps.ts';

export function sidesTopic(bench: Bench): void {
  const { describe, it, expect, open, create, now, pass } = bench;

  describe('sides', () => {
    const side = (operationId: string, change: Partial<Parameters<OperationLedger['takeSide']>[0]> = {}) =>
      bench.ledger.takeSide({ operationId, version: '0', side: 'ordinary', why: 'tool 5%', ...change });

    it('R2: the side of first contact is recorded and stays, whatever is decided later', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const recorded = { kind: 'side', side: 'ordinary', recordedAt: now(), version: '0', why: 'tool 5%' };
      expect(await side(operationId)).toEqual(recorded);
      pass(5000);
      expect(await side(operationId, { side: 'operation', why: 'default on' })).toEqual(recorded);
      const { version } = await ledger.setRollout('other rules', '0');
      expect(await side(operationId, { side: 'shadow', version })).toEqual(recorded);
      const again = await open();
      expect(await again.takeSide({ operationId, version: '0', side: null, why: '' })).toEqual(recorded);
    });

    it('R2: one of eight who decide otherwise at once is recorded', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => side(operationId, { side: i % 2 ? 'operation' : 'shadow', why: `${i}` })),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });

    it('R2: nobody decides by rules that the partition does not have', async () => {
      const { ledger } = bench;
      const { version } = await ledger.setRollout('the rules', '0');
      const operationId = newOperation(ledger);
      expect(await side(operationId)).toEqual({ kind: 'rules', rollout: { version, text: 'the rules' } });
      expect(await side(operationId, { version: '1.000000000000' })).toMatchObject({ kind: 'rules' });
      expect(await side(operationId, { version })).toMatchObject({ kind: 'side', version });
      // Nor by rules of which nothing is there (any more).
      const namespace = 'without-rules';
      const bare = await open({ namespace });
      const there = bare.operationIdOf({ namespace, principal: 'alice', callNodeId: 'node' });
      expect(await bare.takeSide({ operationId: there, version, side: 'shadow', why: '' })).toEqual({
        kind: 'rules',
        rollout: { version: '0', text: '' },
      });
    });

    it('where no side is decided none is recorded', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      expect(await side(operationId, { side: null })).toEqual({ kind: 'none' });
      expect(await side(operationId, { side: 'operation' })).toMatchObject({ kind: 'side', side: 'operation' });
    });

    it('R2: an operation record is the answer, and no side is recorded', async () => {
      const { ledger } = bench;
      const operationId = await create();
      expect(await side(operationId)).toEqual({ kind: 'record', record: await ledger.load(operationId) });
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'exists' });
    });

    for (const taken of ['ordinary', 'shadow'] as const) {
      it(`R2: nothing is created for a call node that took the side ${taken}`, async () => {
        const { ledger } = bench;
        const operationId = newOperation(ledger);
        await side(operationId, { side: taken });
        expect(await ledger.create(step(operationId), null)).toEqual({ kind: 'otherSide', side: taken });
        expect(await ledger.load(operationId)).toBeNull();
        expect((await ledger.list({ limit: 5 })).operations).toEqual([]);
      });
    }

    it('R2: what took the side of operations is created', async () => {
      const { ledger } = bench;
      const operationId = newOperation(ledger);
      await side(operationId, { side: 'operation' });
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'created' });
    });
  });
}
