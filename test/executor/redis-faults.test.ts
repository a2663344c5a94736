import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { endpointIdOf } from '../../machines/actor/call.ts';
import {
  Executor,
  type ExecutorOptions,
  type LogEntry,
  type OperationLedger,
  type ToolCall,
} from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { freePort } from '../kit/free-port.ts';
import { type Script, type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { sends, started, taskIdOf } from '../support/bench.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { accepted, eventually, FAST, NAMESPACE, until, workCall } from '../support/rig.ts';
import { pathOf } from '../support/stage.ts';

const HOLD = { outcome: 'hold' } as const;
/** Outages here last a second; nothing may be given up in one. */
const PATIENT = {
  ...FAST,
  lookupBudgetMs: 20_000,
  fetchBudgetMs: 20_000,
  cancelBudgetMs: 20_000,
  inputDeadlineMs: 60_000,
  waitBudgetMs: 60_000,
};

describe('faults of Redis', () => {
  let redis: RedisServer;
  let server: ScriptedServer;
  let admin: Redis;
  let addresses = 0;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    server = await startScriptedServer();
    admin = new Redis(redis.url, { protocol: 2, maxRetriesPerRequest: null, retryStrategy: () => 50 });
    admin.on('error', () => undefined);
  });
  afterEach(async () => {
    await server.control({ op: 'clearFaults' });
    for (const close of closers.splice(0).reverse()) await close().catch(() => undefined);
  });
  afterAll(async () => {
    admin.disconnect();
    await server?.stop();
    await redis?.stop();
  });

  async function ledger(definiteWithinMs = 20_000): Promise<OperationLedger> {
    const opened = await openLedger(redis.url, { namespace: NAMESPACE, attemptMs: 500, definiteWithinMs });
    closers.push(() => opened.close());
    return opened;
  }
  async function executor(options: Partial<ExecutorOptions> = {}): Promise<Executor> {
    const built = new Executor({
      ledger: options.ledger ?? (await ledger()),
      namespace: NAMESPACE,
      protocols: [mcp20251125()],
      policy: PATIENT,
      leaseMs: 1_500,
      requestTimeoutMs: 8_000,
      rate: { qps: 1_000, burst: 1_000 },
      ...options,
    });
    closers.push(() => built.stop());
    return built.start();
  }
  const call = (script: Script, more: Partial<ToolCall> = {}) =>
    workCall({ kind: 'http', url: `${server.url}/${addresses++}` }, script, more);

  it('unreachable at start: a clear error, from the ledger and from an executor', async () => {
    const port = await freePort();
    await expect(
      openLedger(`redis://127.0.0.1:${port}`, { namespace: NAMESPACE, attemptMs: 300, definiteWithinMs: 600 }),
    ).rejects.toMatchObject({ name: 'LedgerUnavailable', message: expect.stringContaining(`127.0.0.1:${port}`) });
    const opened = await ledger(500);
    await redis.kill('SIGKILL');
    try {
      await expect(executor({ ledger: opened })).rejects.toMatchObject({
        name: 'LedgerUnavailable',
        message: expect.stringContaining('Check that the server runs'),
      });
    } finally {
      await redis.restart();
    }
  });

  interface Moment {
    readonly state: string;
    readonly script: Script;
    /** Brings the operation there. */
    readonly go?: (running: Executor, id: string) => Promise<unknown>;
    readonly faults?: readonly { readonly method: string; readonly ms: number }[];
    /** What the end needs, once Redis is back. */
    readonly finish?: (running: Executor, id: string) => Promise<unknown>;
    readonly outcome: string;
  }
  const complete = async (running: Executor, id: string) => {
    const opened = await until(running, id, (_state, { snapshot }) => snapshot.context.taskId !== null);
    await server.control({ op: 'complete', taskId: taskIdOf(opened) });
  };
  const moments: readonly Moment[] = [
    {
      state: 'SUBMITTING.sending',
      script: HOLD,
      faults: [{ method: 'tools/call', ms: 500 }],
      finish: complete,
      outcome: 'completed',
    },
    { state: 'WORKING.polling', script: HOLD, finish: complete, outcome: 'completed' },
    {
      state: 'INPUT_REQUIRED.awaiting',
      script: { ask: 1 },
      finish: (running, id) =>
        eventually(async () => {
          const opened = await running.load(id).catch(() => null);
          const { input, inputRound: round } = opened?.snapshot.context ?? {};
          if (!input || round === undefined) return false;
          const reply = { action: 'accept', content: { word: 'yes' } } as const;
          const given = { operationId: id, round, schemaDigest: input.schemaDigest, reply };
          return (await running.answer(given).catch(() => null))?.kind === 'taken';
        }),
      outcome: 'completed',
    },
    {
      state: 'CANCEL_REQUESTED.sending',
      script: HOLD,
      faults: [{ method: 'tasks/cancel', ms: 500 }],
      go: async (running, id) => {
        await until(running, id, (state) => state === 'WORKING.polling');
        await running.cancel(id);
      },
      outcome: 'cancelled',
    },
    {
      state: 'TERMINAL_OBSERVED.outcome',
      script: { ms: 50 },
      faults: [{ method: 'tasks/result', ms: 500 }],
      outcome: 'completed',
    },
    {
      state: 'FETCHING_RESULT.retrying',
      script: { ms: 50 },
      go: () => server.control({ op: 'fault', method: 'tasks/result', kind: 'http', status: 503, times: 4 }),
      outcome: 'completed',
    },
  ];

  it.each(moments)(
    'kill -9 and restart in $state: nothing acknowledged is lost, no restart is needed, one tools/call',
    async ({ state, script, faults = [], go, finish, outcome }) => {
      const log: LogEntry[] = [];
      const running = await executor({ log: (entry) => log.push(entry) });
      for (const { method, ms } of faults) await server.control({ op: 'fault', kind: 'delay', method, ms });
      const reached = new Promise<void>((resolve) => {
        running.env.store.onCommit(({ record }) => record.state === state && resolve());
      });
      const id = await accepted(running, call(script));
      await go?.(running, id);
      await reached;
      const acknowledged = await pathOf(running.env.ledger, id);
      await redis.kill('SIGKILL');
      // Longer than the delayed answers: what the server said meanwhile has to be kept.
      await new Promise((resolve) => setTimeout(resolve, 700));
      await redis.restart();
      await finish?.(running, id);
      const { receipt } = await running.wait(id);
      expect(receipt.outcome).toBe(outcome);
      const path = await pathOf(running.env.ledger, id);
      expect(path.slice(0, acknowledged.length)).toEqual(acknowledged);
      expect(path).toContain(state);
      expect(path.filter((step) => step.startsWith('SUBMISSION_UNKNOWN') || step.startsWith('PARKED'))).toEqual([]);
      expect(await sends(server, running, id)).toBe(1);
      expect(await running.env.ledger.audit()).toEqual([]);
    },
  );

  const outages = [
    {
      name: 'read-only (a replica of nobody)',
      begin: () => admin.replicaof('127.0.0.1', 1),
      end: () => admin.replicaof('NO', 'ONE'),
      says: 'read-only replica',
    },
    {
      name: 'out of memory',
      begin: () => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
      end: () => admin.config('SET', 'maxmemory', '0'),
      says: 'memory is full',
    },
  ] as const;

  it.each(outages)(
    '$name: nothing is sent without a commit, a clear error, and it goes on without a restart',
    async ({ begin, end, says }) => {
      const log: LogEntry[] = [];
      const running = await executor({ ledger: await ledger(800), log: (entry) => log.push(entry) });
      const working = await started(running, call(HOLD));
      const refused = call({ ms: 10 });
      await begin();
      try {
        const before = await server.log();
        await expect(running.submit(refused)).rejects.toMatchObject({
          name: 'LedgerUnavailable',
          message: expect.stringContaining(says),
        });
        await expect(running.cancel(working.id)).rejects.toMatchObject({ name: 'LedgerUnavailable' });
        await eventually(async () => log.some(({ event }) => event === 'ledger.away' || event === 'fact.kept'));
        const after = await server.log();
        expect(after.counts['tools/call']).toBe(before.counts['tools/call']);
        expect(after.counts['tasks/cancel'] ?? 0).toBe(before.counts['tasks/cancel'] ?? 0);
      } finally {
        await end();
      }
      const id = await eventually(() => accepted(running, refused).catch(() => null));
      expect((await running.wait(id)).receipt.outcome).toBe('completed');
      expect(await sends(server, running, id)).toBe(1);
      await server.control({ op: 'complete', taskId: working.taskId });
      expect((await running.wait(working.id)).receipt).toMatchObject({ outcome: 'completed', cancelGeneration: 0 });
      expect(await running.env.ledger.audit()).toEqual([]);
    },
  );

  it('a record of a newer version is left untouched and named in the log; other operations go on', async () => {
    const log: LogEntry[] = [];
    const running = await executor({ log: (entry) => log.push(entry) });
    const target = call(HOLD);
    const { id, taskId } = await started(running, target);
    const store = await ledger();
    const callNodeId = `newer-${randomUUID()}`;
    const operationId = running.operationIdOf({ callNodeId });
    const template = await store.load(id);
    if (!template) throw new Error('no template');
    const snapshot = JSON.stringify({ ...JSON.parse(template.snapshot), machineVersion: 99, tomorrow: true });
    const empty = { callNode: '', requestDigest: '', taskId: '', toolVersion: '' };
    await store.create(
      {
        operationId,
        commandId: randomUUID(),
        snapshot,
        state: 'WORKING.polling',
        fields: { ...empty, executionEpoch: '', cancelGeneration: '', terminalState: '', resultDigest: '' },
        scope: `endpoint:${endpointIdOf(target.endpoint, '')}`,
        dueAt: await store.now(),
        payloads: [],
        history: null,
      },
      null,
    );
    const entry = await eventually(async () => log.find((line) => line.operationId === operationId));
    expect(entry).toMatchObject({ level: 'error', event: 'drive.stopped' });
    expect(entry.detail?.why).toContain('written by a newer version');
    await expect(running.load(operationId)).rejects.toMatchObject({ name: 'LedgerIncompatible' });
    await server.control({ op: 'complete', taskId });
    expect((await running.wait(id)).receipt.outcome).toBe('completed');
    expect(await store.load(operationId)).toMatchObject({ snapshot, revision: '1' });
    // Once is enough: it is not asked again at every turn.
    expect(log.filter((line) => line.operationId === operationId).length).toBeLessThanOrEqual(2);
  });
});
