/** What most executor tests need: a ledger of either kind, a scripted server, executors with a short patience. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import type { Opened } from '../../machines/actor/store.ts';
import {
  Executor,
  type ExecutorOptions,
  type OperationLedger,
  type Policy,
  type ToolCall,
} from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';
import type { Script } from '../kit/servers/mcp-2025-11-25.ts';
import { startRedis } from './redis.ts';

export const NAMESPACE = 'test';

/** ms; everything that a person would wait minutes for takes a second here. */
export const FAST: Partial<Policy> = {
  pollIntervalMs: 40,
  minPollIntervalMs: 20,
  maxPollIntervalMs: 200,
  maxBackoffMs: 200,
  waitBudgetMs: 20_000,
  lookupBudgetMs: 1_000,
  fetchBudgetMs: 1_500,
  cancelBudgetMs: 2_000,
  inputDeadlineMs: 15_000,
  parkedIntervalMs: 200,
};

export interface Rig {
  /** What to give `openLedger` (and executor processes). */
  readonly address: string;
  ledger(): Promise<OperationLedger>;
  executor(options?: Partial<ExecutorOptions>): Promise<Executor>;
  /** Stops the executors made so far: the end of a test. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export const LEDGERS = ['embedded', 'redis'] as const;
export type LedgerKind = (typeof LEDGERS)[number];

/** A ledger of its own per rig; `close` stops all that was started on it. */
export async function startRig(kind: LedgerKind): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-'));
  const redis = kind === 'redis' ? await startRedis() : null;
  const address = redis ? redis.url : join(directory, 'ledger.db');
  const closers: (() => Promise<void>)[] = [];
  const executors = new Set<Executor>();
  const ledger = async () => {
    const opened = await openLedger(address, { namespace: NAMESPACE });
    closers.push(() => opened.close());
    return opened;
  };
  const retire = async () => {
    await Promise.all([...executors].map((executor) => executor.stop()));
    executors.clear();
  };
  return {
    address,
    ledger,
    async executor(options = {}) {
      const executor = new Executor({
        ledger: options.ledger ?? (await ledger()),
        namespace: NAMESPACE,
        protocols: [mcp20251125()],
        policy: FAST,
        leaseMs: 1_500,
        requestTimeoutMs: 2_000,
        processTimeoutMs: 2_000,
        graceMs: 300,
        rate: { qps: 1_000, burst: 1_000 },
        ...options,
      });
      await executor.start();
      executors.add(executor);
      return executor;
    },
    retire,
    async close() {
      await retire();
      for (const close of closers.reverse()) await close().catch(() => undefined);
      await redis?.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

let nodes = 0;
/** A call of the scripted tool `work` on a node of its own. */
export function workCall(endpoint: ToolCall['endpoint'], script: Script, more: Partial<ToolCall> = {}): ToolCall {
  return { callNodeId: `node-${process.pid}-${nodes++}`, endpoint, tool: 'work', arguments: { script }, ...more };
}

/** Submits and gives the id, or fails with the refusal. */
export async function accepted(executor: Executor, call: ToolCall): Promise<string> {
  const answer = await executor.submit(call);
  if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
  return answer.operationId;
}

/** Waits until the committed record fits; fails with where it stands. */
export async function until(
  executor: Pick<Executor, 'load'>,
  operationId: string,
  fits: (state: string, opened: Opened) => boolean,
  withinMs = 12_000,
): Promise<Opened> {
  const deadline = Date.now() + withinMs;
  let last = 'nothing';
  while (Date.now() < deadline) {
    const opened = await executor.load(operationId).catch(() => null);
    if (opened) {
      last = statePath(opened.snapshot);
      if (fits(last, opened)) return opened;
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  const opened = await executor.load(operationId);
  throw new Error(
    `stays in ${last}: ${JSON.stringify(opened?.snapshot.context.parked)} ${JSON.stringify(opened?.snapshot.context.audit)}`,
  );
}

/** Waits for something outside the ledger. */
export async function eventually<T>(look: () => Promise<T | null | false | undefined>, withinMs = 10_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error('it never happened');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
