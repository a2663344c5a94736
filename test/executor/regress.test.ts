/**
 * A ledger that forgot acknowledged steps: an older copy of the data of a real Redis in place of the newer one. What is queued
 * there may have been sent, so it is looked up, and never sent again (B4, B12, G2).
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import {
  consumeReady,
  Executor,
  type LogEntry,
  type OperationLedger,
  type TerminalOutcome,
} from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { toolop } from '../cli/command.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { accepted, eventually, FAST, NAMESPACE, until, workCall } from '../support/rig.ts';
import { callsSeen, pathOf } from '../support/stage.ts';

describe('a history that went backwards', () => {
  const home = mkdtempSync(join(tmpdir(), 'toolop-regress-'));
  const dir = join(home, 'data');
  const older = join(home, 'older');
  let redis: RedisServer;
  let searchable: ScriptedServer;
  let silent: ScriptedServer;
  const closers: (() => Promise<unknown>)[] = [];

  const open = async (historyFile?: string): Promise<OperationLedger> => {
    const ledger = await openLedger(redis.url, {
      namespace: NAMESPACE,
      partitions: 2,
      attemptMs: 500,
      ...(historyFile === undefined ? {} : { historyFile }),
    });
    closers.push(() => ledger.close());
    return ledger;
  };
  const executorOn = (ledger: OperationLedger, log?: (entry: LogEntry) => void): Executor => {
    const executor = new Executor({
      ledger,
      namespace: NAMESPACE,
      protocols: [mcp20251125()],
      endpoints: [searchable.endpoint, silent.endpoint],
      policy: FAST,
      leaseMs: 1_500,
      requestTimeoutMs: 2_000,
      rate: { qps: 1_000, burst: 1_000 },
      ...(log ? { log } : {}),
    });
    closers.push(() => executor.stop());
    return executor;
  };
  /** The data as they are now, for later. */
  const keepCopy = async (): Promise<void> => {
    await redis.kill('SIGTERM');
    cpSync(dir, older, { recursive: true });
    await redis.restart();
  };
  const restoreCopy = async (): Promise<void> => {
    await redis.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
    cpSync(older, dir, { recursive: true });
    await redis.restart();
  };
  const history = (...more: string[]) =>
    toolop(['history', ...more, '--ledger', redis.url, '--namespace', NAMESPACE, '--json']);

  beforeAll(async () => {
    cpSync(mkdtempSync(join(home, 'empty-')), dir, { recursive: true });
    [redis, searchable, silent] = await Promise.all([
      startRedis({ dir }),
      startScriptedServer({ lookup: true }),
      startScriptedServer(),
    ]);
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
    await Promise.all([redis?.stop(), searchable?.stop(), silent?.stop()]);
    rmSync(home, { recursive: true, force: true });
  });

  it('B4 B12 G2: is refused, shown, acknowledged, and what is queued is looked up and never sent again', async () => {
    const file = join(home, 'seen.json');
    const submitting = executorOn(await open(file));
    const found = await accepted(submitting, workCall(searchable.endpoint, { outcome: 'hold' }));
    const lost = await accepted(submitting, workCall(silent.endpoint, { outcome: 'hold' }));
    const cancelled = await accepted(submitting, workCall(silent.endpoint, { outcome: 'hold' }));
    const over = await accepted(submitting, workCall(searchable.endpoint, { ms: 10 }));
    await keepCopy();

    // All of them are sent, and one is over and consumed. Then the ledger forgets it.
    const logged: LogEntry[] = [];
    const ledger = await open();
    const executor = await executorOn(ledger, (entry) => logged.push(entry)).start();
    for (const id of [found, lost, cancelled]) await until(executor, id, (state) => state === 'WORKING.polling');
    const { receipt } = await executor.wait(over);
    const consumed: string[] = [];
    const stop = new AbortController();
    const handle = async ({ receipt }: TerminalOutcome) => void consumed.push(receipt.receiptId);
    const consuming = consumeReady({ ledger, consumer: 'c', handle }, stop.signal);
    await eventually(async () => consumed.length === 1);
    await restoreCopy();
    expect(await ledger.load(found)).toMatchObject({ state: 'SUBMITTING.queued' });

    // It is refused here, by what this process remembers; by what a file remembers; and then for everybody.
    await eventually(async () => logged.some(({ event }) => event === 'ledger.regressed'));
    const restarted = executorOn(await open(file));
    await expect(restarted.cancel(cancelled, 'somebody')).rejects.toMatchObject({ name: 'LedgerRegressed' });
    const status = await history('status');
    expect(status.code).toBe(7);
    const regressed = (status.last.partitions as { partition: string; regressed: boolean }[]).filter(
      (p) => p.regressed,
    );
    expect(regressed.map(({ partition }) => partition)).toContain(cancelled.slice(0, 3));
    const refused = await toolop(['cancel', cancelled, '--ledger', redis.url, '--namespace', NAMESPACE]);
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('toolop history')]);
    const calls = { searchable: await callsSeen(searchable), silent: await callsSeen(silent) };
    expect(calls).toEqual({ searchable: 2, silent: 2 });

    // Whatever is queued by then is looked up.
    const acknowledged = await history('acknowledge', '--all');
    expect([acknowledged.code, acknowledged.last.acknowledged]).toEqual([0, 2]);
    expect(await restarted.cancel(cancelled, 'somebody')).toMatchObject({ kind: 'taken' });
    await until(executor, found, (state) => state === 'WORKING.polling');
    expect(await pathOf(ledger, found)).toEqual([
      'SUBMITTING.queued',
      'SUBMITTING.sending',
      'SUBMISSION_UNKNOWN',
      'WORKING.polling',
    ]);
    await until(executor, lost, (state) => state.startsWith('PARKED'));
    await until(executor, cancelled, (state) => state.startsWith('PARKED'));
    await searchable.control({ op: 'complete', taskId: 'last' });
    const tasks = (await searchable.log()).created;
    for (const taskId of tasks) await searchable.control({ op: 'complete', taskId });
    expect((await executor.wait(found)).receipt.outcome).toBe('completed');
    // The same receipt as the first time: who consumed it knows it by its id.
    await executor.wait(over);
    await eventually(async () => consumed.length === 3);
    expect(consumed.filter((receiptId) => receiptId === receipt.receiptId).length).toBe(2);
    expect({ searchable: await callsSeen(searchable), silent: await callsSeen(silent) }).toEqual(calls);

    // A new call is sent as ever.
    const fresh = await accepted(executor, workCall(searchable.endpoint, { ms: 10 }));
    expect((await executor.wait(fresh)).receipt.outcome).toBe('completed');
    const after = await history('status');
    expect([after.code, after.last.regressed]).toEqual([0, 0]);
    stop.abort();
    await consuming;
    expect(await ledger.audit()).toEqual([]);
  }, 60_000);

  it('the command says what it cannot do', { timeout: 60_000 }, async () => {
    expect((await history('forget')).code).toBe(2);
    expect((await history('status', '--all')).code).toBe(2);
    expect((await history('acknowledge', '--partition', 'p00', '--all')).code).toBe(2);
    const unknown = await history('acknowledge', '--partition', 'p99');
    expect([unknown.code, unknown.last.next]).toEqual([2, expect.stringContaining('p00 to p01')]);
    const nothing = await history('acknowledge');
    expect([nothing.code, nothing.last.acknowledged]).toEqual([0, 0]);
  });
});
