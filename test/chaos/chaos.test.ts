/** A short storm on a Redis Cluster, with a failover that takes acknowledged steps with it; the long one is `npm run chaos`. */
import { expect, it } from 'vitest';
import { runChaos } from './run.ts';

it('G1 G2 G6 B4 B12: executors killed and stopped, a master that dies with steps its replica lacks: no call twice, one end each', async () => {
  const outcome = await runChaos(
    {
      seconds: 16,
      seed: 7,
      executors: 4,
      servers: 2,
      ledger: 'cluster',
      rounds: { kill: 1, pause: 1, everyMs: 4_000 },
      failover: 'own',
      rate: 4,
      settleSeconds: 60,
    },
    () => undefined,
    new AbortController().signal,
  );
  const { violations, history } = outcome;
  const named = history.calls.filter(({ callNode }) => violations.some((each) => each.callNode === callNode));
  expect(violations, JSON.stringify(named)).toEqual([]);
  expect(outcome.operations).toBeGreaterThan(20);
  expect(Object.values(outcome.receipts).reduce((sum, each) => sum + each, 0)).toBeGreaterThan(10);
  expect(outcome.deeds.executorKills + outcome.deeds.executorStops).toBeGreaterThan(4);
}, 240_000);
