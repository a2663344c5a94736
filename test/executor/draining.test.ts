import { describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Executor, openOperations, switchAdapter } from '../../machines/index.ts';
import { accepted, eventually, FAST, LEDGERS, NAMESPACE, until, workCall } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

/** A thousand polls a second would be a test of this machine. */
const CALM = {
  ...FAST,
  pollIntervalMs: 4_000,
  minPollIntervalMs: 3_000,
  maxPollIntervalMs: 6_000,
  waitBudgetMs: 600_000,
};
const ADAPTER = 'mcp-2025-11-25';
/** Calls in flight when the adapter is drained. */
const MANY = { redis: 1_000, embedded: 40 } as const;

describe.each(LEDGERS)('R4: an adapter is switched off on the %s ledger', (kind) => {
  const stage = useStage(kind);
  const isOver = async (executor: Executor, id: string) => {
    const opened = await executor.load(id);
    return opened !== null && (opened.snapshot.status === 'done' || opened.record.state.startsWith('PARKED'));
  };

  it(`drained with ${MANY[kind]} operations in flight: all come to an end, none is submitted any more, and then it is disabled`, async () => {
    const server = await stage().server();
    const half = MANY[kind] / 2;
    let paused = false;
    const executor = await stage().rig.executor({
      creationAllowed: () => !paused,
      requestTimeoutMs: 60_000,
      policy: CALM,
    });
    const submitted = await Promise.all(
      Array.from({ length: half }, () => accepted(executor, workCall(server.endpoint, { outcome: 'hold' }))),
    );
    for (const id of submitted) await until(executor, id, (state) => state === 'WORKING.polling', 60_000);
    // The other half waits on the queue: it was made by a process that sends nothing, and the one that sends is paused.
    paused = true;
    const desk = new Executor({
      ledger: stage().ledger,
      namespace: NAMESPACE,
      protocols: [mcp20251125()],
      policy: CALM,
    });
    const queued = await Promise.all(
      Array.from({ length: half }, () => accepted(desk, workCall(server.endpoint, { ms: 1 }))),
    );

    expect(await switchAdapter(stage().ledger, ADAPTER, 'draining')).toEqual({ kind: 'switched', state: 'draining' });
    paused = false;
    expect(await executor.submit(workCall(server.endpoint, {}))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('draining'),
    });
    const refused = await switchAdapter(stage().ledger, ADAPTER, 'disabled');
    expect(refused).toMatchObject({ kind: 'refused', count: expect.any(Number) });
    if (refused.kind === 'refused') expect(refused.count).toBeGreaterThanOrEqual(half);

    for (const task of await server.tasks()) await server.control({ op: 'complete', taskId: task.taskId });
    const all = [...submitted, ...queued];
    await eventually(async () => (await Promise.all(all.map((id) => isOver(executor, id)))).every(Boolean), 90_000);
    expect(await callsSeen(server)).toBe(half);
    const outcomes = await Promise.all(
      all.map(async (id) => (await executor.outcome(id))?.receipt.outcome ?? 'parked'),
    );
    const count = (what: string) => outcomes.filter((outcome) => outcome === what).length;
    expect({ completed: count('completed'), not_submitted: count('not_submitted') }).toEqual({
      completed: half,
      not_submitted: half,
    });

    expect(await openOperations(stage().ledger, ADAPTER)).toEqual([]);
    expect(await switchAdapter(stage().ledger, ADAPTER, 'disabled')).toEqual({ kind: 'switched', state: 'disabled' });
    expect(await executor.submit(workCall(server.endpoint, {}))).toMatchObject({ kind: 'refused' });
    await desk.stop();
    await switchAdapter(stage().ledger, ADAPTER, 'active');
    const id = await accepted(executor, workCall(server.endpoint, { ms: 1 }));
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  }, 240_000);
});
