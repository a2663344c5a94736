/**
 * An executor as a process of its own, to be killed and stopped. Reads its orders as JSON from the command line, prints
 * one JSON line per committed state, and can freeze itself right after a given commit (so that a kill hits that state
 * and no other).
 */
import { writeSync } from 'node:fs';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Executor, type ToolCall } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';

export interface ExecutorOrders {
  readonly ledger: string;
  readonly namespace: string;
  readonly leaseMs: number;
  readonly requestTimeoutMs?: number;
  readonly url?: string;
  readonly call?: ToolCall;
  /** Freeze for ever after the first commit that enters this state. */
  readonly freezeAt?: string;
  readonly answerWith?: Record<string, string>;
  readonly policy?: ToolCall['policy'];
  readonly executionEpoch?: number;
}

const say = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);
const orders = JSON.parse(process.argv[2] ?? '{}') as ExecutorOrders;

const ledger = await openLedger(orders.ledger, { namespace: orders.namespace });
const executor = new Executor({
  ledger,
  namespace: orders.namespace,
  protocols: [mcp20251125()],
  leaseMs: orders.leaseMs,
  processTimeoutMs: 2_000,
  ...(orders.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: orders.requestTimeoutMs }),
  ...(orders.executionEpoch === undefined ? {} : { executionEpoch: orders.executionEpoch }),
  ...(orders.policy === undefined ? {} : { policy: orders.policy }),
  ...(orders.url === undefined ? {} : { endpoints: [{ kind: 'http' as const, url: orders.url }] }),
  ...(orders.answerWith === undefined
    ? {}
    : { approval: { ask: async () => ({ action: 'accept' as const, content: orders.answerWith ?? {} }) } }),
  log: (entry) => say({ log: entry }),
});
executor.env.store.onCommit(({ record, snapshot }, from) => {
  const state = statePath(snapshot);
  say({ state, from, revision: record.revision });
  if (orders.freezeAt === state) {
    say({ frozen: state });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
});
// Killed right after the creation: nothing is begun by a process that never starts to serve.
if (orders.freezeAt !== 'created') await executor.start();
say({ ready: executor.processId });
if (orders.call) {
  const answer = await executor.submit(orders.call);
  say({ submit: answer });
  if (orders.freezeAt === 'created') {
    say({ frozen: 'created' });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  if (answer.kind === 'accepted') {
    executor
      .wait(answer.operationId)
      .then((outcome) => say({ outcome }))
      .catch((error: Error) => say({ stopped: error.message }));
  }
}
process.on('SIGTERM', async () => {
  await executor.stop();
  await ledger.close();
  process.exit(0);
});
