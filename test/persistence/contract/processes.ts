/** Signs of life of other releases. */
import { describe, expect, it } from 'vitest';
import { Keys } from '../../../persistence/keys.ts';
import { NAMESPACE } from '../steps.ts';
import type { StoreBench } from './bench.ts';

export function processesInStore(bench: StoreBench): void {
  const { now, pass } = bench;

  describe('processes', () => {
    it('names who is alive in the order of their ends, forgets the others, and knows those of other releases', async () => {
      const { ledger, store } = bench;
      expect(await ledger.heartbeat('1', 1000, ['endpoint:a', 'endpoint:b'])).toEqual([
        { processId: '1', scopes: ['endpoint:a', 'endpoint:b'] },
      ]);
      await ledger.heartbeat('2', 5000, ['endpoint:a']);
      pass(999);
      await ledger.heartbeat('2', 5000, ['endpoint:c']);
      const third = await ledger.heartbeat('3', 1000);
      expect(third).toEqual([
        { processId: '1', scopes: ['endpoint:a', 'endpoint:b'] },
        { processId: '3', scopes: [] },
        { processId: '2', scopes: ['endpoint:c'] },
      ]);
      pass(1);
      expect((await ledger.heartbeat('3', 1000)).map(({ processId }) => processId)).toEqual(['3', '2']);
      const host = await store.host();
      const keys = new Keys(NAMESPACE);
      expect(((await host.run('entries', [keys.served], [String(now())])) as string[]).length).toBe(4);
      await host.close();
      // An older program says nothing, a newer one perhaps something else: both are alive.
      await store.plant(keys.served, '2', null);
      await store.plant(keys.served, '3', '{');
      expect(await ledger.heartbeat('4', 1)).toEqual([
        { processId: '4', scopes: [] },
        { processId: '3', scopes: [] },
        { processId: '2', scopes: [] },
      ]);
    });
  });
}
