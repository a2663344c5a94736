/** An executor with a server of its own process, which others order about: what it does, sends and keeps is measured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Executor, type ExecutorOptions, type OperationLedger, type Policy } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';
import { answering, ENDPOINT, FREE_RATE, NAMESPACE } from './answering.ts';
import { obey } from './child.ts';
import { ARGUMENTS } from './job/contender.ts';
import { Sent } from './sent.ts';

export interface OpenOrder {
  readonly url: string;
  readonly policy: Partial<Policy>;
  /** What the server asks for, ms; `null`: the policy's. */
  readonly pollIntervalMs: number | null;
  /** How long the server takes to answer a status read, ms. */
  readonly statusMs?: number;
  readonly leaseMs?: number;
}

export interface Measured {
  readonly polls: number;
  /** From when a status read was due to when it was sent, ms. */
  readonly late: readonly number[];
  readonly sent: Readonly<Record<string, number>>;
  readonly cpuMs: number;
  readonly ms: number;
}

const sent = new Sent();
const due = new Map<string, number>();
const cancelled = new Map<string, () => void>();
let ledger: OperationLedger;
let executor: Executor;
let polls = 0;
let late: number[] = [];
let operations: string[] = [];

const orders = {
  async open({ url, policy, pollIntervalMs, statusMs = 0, leaseMs }: OpenOrder): Promise<string> {
    ledger = await openLedger(url, { namespace: NAMESPACE });
    const options: ExecutorOptions = {
      ledger,
      namespace: NAMESPACE,
      protocols: [
        answering({
          workingPolls: Number.POSITIVE_INFINITY,
          pollIntervalMs,
          onStatus: async (taskId) => {
            polls++;
            const at = due.get(taskId);
            if (at !== undefined) late.push(executor.env.time.now() - at);
            if (statusMs > 0) await sleep(statusMs);
          },
        }).protocol,
      ],
      endpoints: [ENDPOINT],
      policy: { waitBudgetMs: 36_000_000, ...policy },
      rate: FREE_RATE,
      ...(leaseMs === undefined ? {} : { leaseMs }),
    };
    executor = await new Executor(options).start();
    executor.env.store.onCommit(({ record, snapshot }) => {
      const { taskId, dueAt } = snapshot.context;
      const state = statePath(snapshot);
      if (taskId !== null && dueAt !== null && state === 'WORKING.polling') due.set(taskId, dueAt);
      if (taskId !== null && state !== 'WORKING.polling') due.delete(taskId);
      if (snapshot.context.terminal?.status === 'cancelled') cancelled.get(record.operationId)?.();
    });
    return executor.env.executorId;
  },

  /** Creates operations, evenly spread over a time, and waits until each waits for its next status; answers their ids. */
  async submit({ prefix, count, overMs }: { prefix: string; count: number; overMs: number }): Promise<string[]> {
    const began = performance.now();
    const wanted = due.size + count;
    const created: string[] = [];
    let next = 0;
    const line = async () => {
      while (next < count) {
        const nth = next++;
        await sleep(Math.max(0, began + (overMs * nth) / count - performance.now()));
        const call = { callNodeId: `${prefix}-${nth}`, endpoint: ENDPOINT, tool: 'report', arguments: ARGUMENTS };
        const answer = await executor.submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
        created.push(answer.operationId);
      }
    };
    await Promise.all(Array.from({ length: 32 }, line));
    while (due.size < wanted) await sleep(20);
    operations.push(...created);
    return created;
  },

  async measure({ ms }: { ms: number }): Promise<Measured> {
    polls = 0;
    late = [];
    sent.reset();
    const cpu = process.cpuUsage();
    const began = performance.now();
    await sleep(ms);
    const { user, system } = process.cpuUsage(cpu);
    return {
      polls,
      late,
      sent: Object.fromEntries(sent.counts),
      cpuMs: (user + system) / 1_000,
      ms: performance.now() - began,
    };
  },

  /** Cancels some operations at different times; from each request to its terminal evidence, ms. */
  async cancel({ count, overMs }: { count: number; overMs: number }): Promise<number[]> {
    const chosen = operations.splice(0, count);
    return Promise.all(
      chosen.map(async (operationId, nth) => {
        await sleep((overMs * nth) / count);
        const evidence = new Promise<void>((resolve) => cancelled.set(operationId, resolve));
        const began = performance.now();
        const answer = await executor.cancel(operationId);
        if (answer.kind !== 'taken') throw new Error(`a cancel was not taken: ${answer.kind}`);
        await evidence;
        cancelled.delete(operationId);
        return performance.now() - began;
      }),
    );
  },

  /** What is left after a collection, bytes. */
  async memory(_: Record<string, never>): Promise<{ heap: number; rss: number }> {
    for (let nth = 0; nth < 3; nth++) {
      global.gc?.();
      await sleep(50);
    }
    const { heapUsed, rss } = process.memoryUsage();
    return { heap: heapUsed, rss };
  },

  async close(_: Record<string, never>): Promise<void> {
    await executor.stop();
    await ledger.close();
    due.clear();
    operations = [];
  },
};
export type ExecutorOrders = typeof orders;
obey(orders);
