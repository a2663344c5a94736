import { describe, expect, it } from 'vitest';
import { consumeReady } from '../../machines/index.ts';
import { accepted, eventually, LEDGERS, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

describe.each(LEDGERS)('consuming ready rows on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('B12 G6: two consumers, one of which fails at first: each call node is acted on once, the audit is clean', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const ids = await Promise.all(
      Array.from({ length: 6 }, () => accepted(executor, workCall(server.endpoint, { ms: 10 }))),
    );
    const handled: string[] = [];
    const errors: string[] = [];
    let failures = 2;
    const stop = new AbortController();
    const consumers = ['one', 'two'].map((consumer) =>
      consumeReady(
        {
          ledger: stage().ledger,
          consumer,
          leaseMs: 300,
          idleMs: 50,
          onError: (error) => errors.push(error.message),
          handle: async ({ receipt, output }) => {
            if (failures-- > 0) throw new Error('not yet');
            expect(output?.kind).toBe('result');
            handled.push(receipt.operationId);
          },
        },
        stop.signal,
      ),
    );
    await eventually(async () => handled.length >= ids.length);
    await eventually(async () => (await stage().ledger.audit()).length === 0);
    stop.abort();
    await Promise.all(consumers);
    expect([...handled].sort()).toEqual([...ids].sort());
    expect(errors).toEqual(['not yet', 'not yet']);
  });
});
