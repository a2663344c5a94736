/** What an executor, a follower and a consumer do again and again leaves nothing behind while they last. */
import { queryObjects } from 'node:v8';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { consumeReady, type OperationLedger } from '../../machines/index.ts';
import { accepted, eventually, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

describe('what lasts', () => {
  const stage = useStage('embedded');
  afterEach(() => vi.restoreAllMocks());

  it('composes no signal twice out of the same one: Node 20 keeps a trace of each in the one that lasts', async () => {
    const composed = new Map<AbortSignal, number>();
    const any = AbortSignal.any.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'any').mockImplementation((signals) => {
      for (const signal of signals) composed.set(signal, (composed.get(signal) ?? 0) + 1);
      return any(signals);
    });
    const claims = vi.spyOn(stage().ledger, 'claimDue');
    const server = await stage().server();
    const executor = await stage().rig.executor({ ledger: stage().ledger });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    const lasting = new AbortController();
    let states = 0;
    const followed = (async () => {
      for await (const _ of executor.follow(id, lasting.signal)) states++;
    })();
    // It rests before each claim, and a follower after each state.
    await eventually(async () => claims.mock.calls.length > 20 && states > 10);
    lasting.abort();
    await followed;
    await executor.stop();
    expect(Math.max(0, ...composed.values())).toBeLessThanOrEqual(1);
  }, 30_000);

  it('G6: a full consumer keeps nothing of what it handled beside one that takes for ever', async () => {
    const rows = 3_000;
    const receipt = JSON.stringify({ schema: 'terminalReceipt.v1', operationId: 'one', released: false });
    let given = 0;
    let handled = 0;
    const ledger = {
      onChange: () => () => undefined,
      leaseReady: async (_: string, limit: number) =>
        Array.from({ length: Math.min(limit, rows - given) }, () => ({ operationId: `${given++}`, receipt })),
      ackReady: async () => true,
    };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stop = new AbortController();
    const consumer = consumeReady(
      {
        ledger: ledger as unknown as OperationLedger,
        consumer: 'one',
        limit: 2,
        handle: async () => {
          if (handled++ === 0) await held;
        },
      },
      stop.signal,
    );
    const before = queryObjects(Promise, { format: 'count' });
    await eventually(async () => handled === rows);
    const after = queryObjects(Promise, { format: 'count' });
    stop.abort();
    release();
    await consumer;
    expect(after - before).toBeLessThan(rows / 10);
  }, 30_000);
});
