/** Who is alive, and what the dead left behind. */
import type { Bench } from './bench.ts';
import { step } from './steps.ts';

export function processesTopic(bench: Bench): void {
  const { describe, it, expect, create, pass } = bench;

  describe('processes', () => {
    it('answers a sign of life with who is alive and whom each serves', async () => {
      const { ledger } = bench;
      const alive = async () =>
        [...(await ledger.heartbeat('3', 1000))].sort((a, b) => a.processId.localeCompare(b.processId));
      expect(await ledger.heartbeat('1', 1000, ['endpoint:a', 'endpoint:b'])).toEqual([
        { processId: '1', scopes: ['endpoint:a', 'endpoint:b'] },
      ]);
      await ledger.heartbeat('2', 5000, ['endpoint:a']);
      pass(999);
      await ledger.heartbeat('2', 5000, ['endpoint:c']);
      expect(await alive()).toEqual([
        { processId: '1', scopes: ['endpoint:a', 'endpoint:b'] },
        { processId: '2', scopes: ['endpoint:c'] },
        { processId: '3', scopes: [] },
      ]);
      pass(1);
      expect((await alive()).map(({ processId }) => processId)).toEqual(['2', '3']);
    });

    it('names the dead of the partitions that it is asked about', async () => {
      const { ledger } = bench;
      const operationId = await create({ scope: 'process:1' });
      const partition = ledger.partitionOf(operationId) as number;
      const others = [...Array(ledger.partitions).keys()].filter((other) => other !== partition);
      expect(await ledger.deadScopes(others)).toEqual([]);
      expect(await ledger.deadScopes([partition])).toEqual(['process:1']);
    });

    it('names the scopes that dead processes left waiting', async () => {
      const { ledger } = bench;
      await ledger.heartbeat('1', 1000);
      await ledger.heartbeat('2', 5000);
      const operationId = await create({ scope: 'process:1' });
      await create({ scope: 'process:2' });
      await create();
      expect(await ledger.deadScopes()).toEqual([]);
      pass(1001);
      expect(await ledger.deadScopes()).toEqual(['process:1']);
      await ledger.commit({ ...step(operationId, { scope: 'process:1', dueAt: null }), expectedRevision: '1' });
      expect(await ledger.deadScopes()).toEqual([]);
      await ledger.commit({ ...step(operationId, { scope: 'process:1', dueAt: 1 }), expectedRevision: '2' });
      expect(await ledger.deadScopes()).toEqual(['process:1']);
      await ledger.heartbeat('1', 1000);
      expect(await ledger.deadScopes()).toEqual([]);
    });
  });
}
