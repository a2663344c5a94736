/**
 * An executor as a process of its own, to be killed and stopped. Reads its orders as JSON from the command line, prints
 * one JSON line per committed state, and can freeze itself right after a given commit (so that a kill hits that state
 * and no other).
 */
import { writeSync } from 'node:fs';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import type { Reconciliation } from '../../machines/actor/commands.ts';
import { Executor, type ExecutorOptions, systemClock, type ToolCall } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';
import type { Control } from '../kit/servers/mcp-2025-11-25/options.ts';

/** What the process does, once, when an operation first enters a state: as its own caller, or to the scripted server. */
export type Act = { readonly at: string } & (
  | { readonly kind: 'cancel' }
  | { readonly kind: 'reconcile'; readonly what: Reconciliation }
  | { readonly kind: 'control'; readonly command: Control }
);

export interface ExecutorOrders {
  readonly ledger: string;
  readonly namespace: string;
  readonly leaseMs: number;
  readonly requestTimeoutMs?: number;
  readonly url?: string;
  readonly call?: ToolCall;
  /** Freeze after the first commit that enters this state. `SUBMITTING.queued`: right after the creation. */
  readonly freezeAt?: string;
  /** How long it stays frozen, ms: a holder that was stopped and goes on. Default: for ever. */
  readonly thawAfterMs?: number;
  readonly acts?: readonly Act[];
  /** Stops itself (SIGSTOP) inside the effect that asks this hook: the `nth` time, counted `after` the commit of a state. */
  readonly pauseIn?: {
    readonly hook: 'creation' | 'question' | 'output';
    readonly nth: number;
    readonly after?: string;
  };
  readonly answerWith?: Record<string, string>;
  readonly policy?: ToolCall['policy'];
  readonly executionEpoch?: number;
  /** By how much every clock of this process is ahead of the machine's, ms. */
  readonly aheadMs?: number;
  readonly options?: Pick<ExecutorOptions, 'rate' | 'processTimeoutMs' | 'graceMs' | 'lookEveryMs'>;
}

const say = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);
const orders = JSON.parse(process.argv[2] ?? '{}') as ExecutorOrders;

const { aheadMs } = orders;
if (aheadMs !== undefined) {
  const { now } = Date;
  Date.now = () => now() + aheadMs;
}
const ledger = await openLedger(orders.ledger, { namespace: orders.namespace });
const executor = new Executor({
  ledger,
  namespace: orders.namespace,
  protocols: [mcp20251125(), mcp20260728()],
  leaseMs: orders.leaseMs,
  processTimeoutMs: 2_000,
  graceMs: 300,
  ...orders.options,
  ...(aheadMs === undefined
    ? {}
    : { clock: { ...systemClock, monotonic: () => systemClock.monotonic() + 1_000_000 + aheadMs } }),
  ...(orders.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: orders.requestTimeoutMs }),
  ...(orders.executionEpoch === undefined ? {} : { executionEpoch: orders.executionEpoch }),
  ...(orders.policy === undefined ? {} : { policy: orders.policy }),
  ...(orders.url === undefined ? {} : { endpoints: [{ kind: 'http' as const, url: orders.url }] }),
  ...(orders.answerWith === undefined
    ? {}
    : {
        approval: {
          ask: async () => {
            pauseIn('question');
            return { action: 'accept' as const, content: orders.answerWith ?? {} };
          },
        },
      }),
  ...(orders.pauseIn?.hook === 'creation' ? { creationAllowed: () => pauseIn('creation') } : {}),
  ...(orders.pauseIn?.hook === 'output' ? { outputGuards: [() => ({ release: pauseIn('output') })] } : {}),
  log: (entry) => say({ log: entry }),
});
let frozen = false;
let timesAsked = 0;
let entered = '';
const acts = new Set(orders.acts);
executor.env.store.onCommit(({ record, snapshot }, from) => {
  const state = statePath(snapshot);
  entered = state;
  say({ state, from, revision: record.revision });
  if (orders.freezeAt === state && !frozen) freeze(state);
  for (const act of acts) {
    if (act.at !== state) continue;
    acts.delete(act);
    perform(act, record.operationId).then(
      (answer) => say({ act: act.kind, answer }),
      (error: Error) => say({ act: act.kind, failed: error.message }),
    );
  }
});
// Frozen before anything is begun: by a process that never starts to serve.
const onlyCreates = orders.freezeAt === 'SUBMITTING.queued';
if (!onlyCreates) await executor.start();
say({ ready: executor.processId });
if (orders.call) {
  const answer = await executor.submit(orders.call);
  say({ submit: answer });
  if (onlyCreates) {
    freeze('SUBMITTING.queued');
    await executor.start();
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

/** `true`, after a stop of the whole process if it was ordered here. */
function pauseIn(hook: string): true {
  const { pauseIn: ordered } = orders;
  const counts = ordered?.hook === hook && (ordered.after ?? entered) === entered;
  if (counts && ++timesAsked === ordered.nth) {
    say({ paused: hook });
    process.kill(process.pid, 'SIGSTOP');
  }
  return true;
}

/** The whole process: no timer runs, no lease is renewed, no answer is read. */
function freeze(state: string): void {
  frozen = true;
  say({ frozen: state });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, orders.thawAfterMs);
}

async function perform(act: Act, operationId: string): Promise<string> {
  if (act.kind === 'cancel') return (await executor.cancel(operationId, 'the caller')).kind;
  if (act.kind === 'reconcile') return (await executor.reconcile(operationId, 'operator', act.what)).kind;
  const { endpoint } = orders.call as ToolCall;
  if (endpoint.kind !== 'http') throw new Error('only a server over HTTP is controlled from here');
  const response = await fetch(new URL('/control', endpoint.url), {
    method: 'POST',
    body: JSON.stringify(act.command),
  });
  return response.ok ? 'done' : response.text();
}
