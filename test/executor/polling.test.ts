import { describe, expect, it, vi } from 'vitest';
import { claimsOf } from '../../machines/actor/facts.ts';
import { accepted, LEDGERS, until, workCall } from '../support/rig.ts';
import { callsSeen, pathOf, useStage } from '../support/stage.ts';

describe.each(LEDGERS)('polling on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it.each([
    ['a reset connection', { kind: 'reset' }],
    ['a reset before anything was done', { kind: 'resetBefore' }],
    ['-32603', { kind: 'rpc', code: -32603 }],
    ['503', { kind: 'http', status: 503 }],
    ['a truncated answer', { kind: 'truncate' }],
    ['something that is not JSON-RPC', { kind: 'malformed' }],
  ] as const)('F11: one poll answered by %s changes nothing but the time of the next', async (_, fault) => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', method: 'tasks/get', ...fault });
    const failed = await until(executor, id, (_state, { snapshot }) => snapshot.context.failures > 0);
    expect(failed.snapshot.value).toEqual({ WORKING: 'polling' });
    expect(failed.snapshot.context.dueAt).toBeGreaterThan(failed.snapshot.context.updatedAt);
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(await callsSeen(server)).toBe(1);
  });

  it('F11 B8: 429 with Retry-After is a floor for the next poll', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'http', status: 429, retryAfter: '2' });
    const { snapshot } = await until(executor, id, (_state, opened) => opened.snapshot.context.failures > 0);
    expect((snapshot.context.dueAt ?? 0) - snapshot.context.updatedAt).toBeGreaterThanOrEqual(1_900);
  });

  it('B8: the interval of the server is honoured inside our bounds', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor({
      policy: { pollIntervalMs: 20, minPollIntervalMs: 20, maxPollIntervalMs: 60_000, jitter: 0.1 },
    });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold', pollInterval: 1_500 }));
    const { snapshot } = await until(executor, id, (state) => state === 'WORKING.polling');
    const wait = (snapshot.context.dueAt ?? 0) - snapshot.context.updatedAt;
    expect(wait).toBeGreaterThanOrEqual(1_490);
    expect(wait).toBeLessThanOrEqual(1_660);
  });

  it('G3 B8: two executors share one rate per server', async () => {
    // A server of its own: what earlier tests left waiting would be polled, too.
    const server = await stage().server({ describe: 'rate' });
    const rate = { qps: 20, burst: 5 };
    const executors = [await stage().rig.executor({ rate }), await stage().rig.executor({ rate })];
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const executor = executors[index % 2];
        return executor
          ? accepted(executor, workCall(server.endpoint, { outcome: 'hold' }))
          : Promise.reject(new Error('no executor'));
      }),
    );
    await Promise.all(ids.map((id) => until(executors[0] as never, id, (state) => state === 'WORKING.polling')));
    const from = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { requests } = await server.log();
    const seconds = (Date.now() - from) / 1_000;
    const polls = requests.filter(({ method, at }) => method === 'tasks/get' && at >= from).length;
    expect(polls).toBeLessThanOrEqual(Math.ceil(rate.qps * seconds) + rate.burst + 2);
    expect(polls).toBeGreaterThan(10);
  });

  it('B8: the wait budget ends the waiting, not the operation: PARKED, and a late completion is still accepted', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor({
      policy: { pollIntervalMs: 40, minPollIntervalMs: 20, waitBudgetMs: 400, parkedIntervalMs: 150 },
    });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    const parked = await until(executor, id, (state) => state === 'PARKED.watching');
    expect(parked.snapshot.context.parked?.reason).toBe('wait-budget');
    expect((await server.log()).counts['tasks/cancel'] ?? 0).toBe(0);
    await server.control({ op: 'complete', taskId: 'last' });
    await until(executor, id, (state) => state === 'ACCEPTED');
  });

  it('F2: an answer to an earlier poll that comes after a later one was applied is refused by its cursor', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    const before = await until(executor, id, (state) => state === 'WORKING.polling');
    await until(
      executor,
      id,
      (_state, { snapshot }) => snapshot.context.pollCursor > before.snapshot.context.pollCursor,
    );
    const { context } = before.snapshot;
    const applied = await executor.env.store.apply(id, {
      type: 'poll.status',
      at: executor.env.time.now(),
      random: 0,
      claims: claimsOf(context, context.executionEpoch),
      task: {
        taskId: context.taskId ?? '',
        createdAt: context.taskCreatedAt,
        status: 'working',
        statusMessage: 'old',
        pollIntervalMs: null,
        expiry: null,
        foreign: false,
      },
      result: null,
    });
    expect(applied).toMatchObject({
      kind: 'refused',
      refusal: { guards: expect.arrayContaining(['matchesPollCursor']) },
    });
    expect(executor.env.store.refusals.get('matchesPollCursor')).toBeGreaterThanOrEqual(1);
    // Whoever asks later what happened is told, too.
    await vi.waitFor(async () =>
      expect(await stage().ledger.readHistory(id, { refused: true })).toContainEqual(
        expect.objectContaining({ event: 'poll.status', refused: expect.arrayContaining(['matchesPollCursor']) }),
      ),
    );
  });

  it('B14: an executor that stops only stops waiting: nothing is sent to the server, the next one goes on', async () => {
    const server = await stage().server();
    const first = await stage().rig.executor();
    const id = await accepted(first, workCall(server.endpoint, { outcome: 'hold' }));
    await until(first, id, (state) => state === 'WORKING.polling');
    await first.stop();
    const { counts } = await server.log();
    expect(counts['tasks/cancel'] ?? 0).toBe(0);
    expect(counts['notifications/cancelled'] ?? 0).toBe(0);
    const second = await stage().rig.executor({ endpoints: [server.endpoint] });
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await second.wait(id)).receipt.outcome).toBe('completed');
    expect(await pathOf(stage().ledger, id)).not.toContain('SUBMISSION_UNKNOWN');
  });
});
