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

  it('G6: no more than its limit is leased and handled at once; what becomes ready meanwhile is heard of', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const stop = new AbortController();
    let busy = 0;
    let most = 0;
    const handled: string[] = [];
    const consumer = consumeReady(
      {
        ledger: stage().ledger,
        consumer: 'one',
        limit: 2,
        // Long: what is handled in this test was announced.
        idleMs: 60_000,
        handle: async ({ receipt }) => {
          most = Math.max(most, ++busy);
          await new Promise((resolve) => setTimeout(resolve, 100));
          busy--;
          handled.push(receipt.operationId);
        },
      },
      stop.signal,
    );
    const ids = await Promise.all(
      Array.from({ length: 6 }, () => accepted(executor, workCall(server.endpoint, { ms: 10 }))),
    );
    await eventually(async () => handled.length === ids.length);
    expect(most).toBe(2);
    stop.abort();
    await consumer;
    expect([...handled].sort()).toEqual([...ids].sort());
    await eventually(async () => (await stage().ledger.audit()).length === 0);
  });

  it('B12: who is stopped finishes what it handles, and leaves the rest', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { ms: 10 }));
    const stop = new AbortController();
    const handled: string[] = [];
    await consumeReady(
      {
        ledger: stage().ledger,
        consumer: 'one',
        idleMs: 50,
        handle: async ({ receipt }) => {
          stop.abort();
          await new Promise((resolve) => setTimeout(resolve, 50));
          handled.push(receipt.operationId);
        },
      },
      stop.signal,
    );
    expect(handled).toEqual([id]);
    expect(await stage().ledger.leaseReady('two', 10, 1_000)).toEqual([]);
  });
});
