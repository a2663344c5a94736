import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import type { Json } from '../../../machines/digest.ts';
import type {
  Endpoint,
  ProtocolSession,
  Submission,
  SubmitOutcome,
  TaskRef,
  TaskView,
} from '../../../machines/operation-protocol.ts';
import type { Script } from '../../kit/servers/mcp-2025-11-25.ts';

let serial = 0;

export function submission(tool: string, script: Script | null, more: Partial<Submission> = {}): Submission {
  serial += 1;
  return {
    tool,
    arguments: script === null ? {} : { script: script as Json },
    submissionKey: `key-${process.pid}-${serial}`,
    attempt: 1,
    requestDigest: 'digest',
    principal: 'somebody',
    ttlMs: null,
    ...more,
  };
}

export interface SubmitTrace {
  outcome: SubmitOutcome;
  late: SubmitOutcome[];
  asked: number;
}

export async function send(
  session: ProtocolSession,
  what: Submission,
  options: { timeoutMs?: number; mayWrite?: () => boolean; signal?: AbortSignal } = {},
): Promise<SubmitTrace> {
  const late: SubmitOutcome[] = [];
  let asked = 0;
  const outcome = await session.submit(what, {
    timeoutMs: options.timeoutMs ?? 5_000,
    mayWrite: () => {
      asked += 1;
      return options.mayWrite?.() ?? true;
    },
    late: (fact) => void late.push(fact),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return { outcome, late, asked };
}

export async function startTask(session: ProtocolSession, script: Script, tool = 'work'): Promise<TaskView & TaskRef> {
  const { outcome } = await send(session, submission(tool, script));
  if (outcome.kind !== 'acknowledged') throw new Error(`no task: ${JSON.stringify(outcome)}`);
  return { ...outcome.task, tool };
}

export async function until(session: ProtocolSession, task: TaskRef, wanted: string): Promise<TaskView> {
  for (let tries = 0; tries < 200; tries++) {
    const seen = await session.status(task);
    if (seen.kind === 'status' && seen.task.status === wanted) return seen.task;
    await sleep(20);
  }
  throw new Error(`the task never became ${wanted}`);
}

/** Short waits, so that no test is slow because of a default. */
export function connect(
  endpoint: Endpoint,
  more: Parameters<typeof mcp20251125>[0] = {},
  resume?: Parameters<ReturnType<typeof mcp20251125>['connect']>[1],
): Promise<ProtocolSession> {
  const protocol = mcp20251125({
    connectTimeoutMs: 5_000,
    requestTimeoutMs: 3_000,
    resultTimeoutMs: 3_000,
    resumeGraceMs: 3_000,
    ...more,
  });
  return protocol.connect(endpoint, resume);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export async function eventually(condition: () => boolean | Promise<boolean>, ms = 3_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('it did not happen in time');
    await sleep(10);
  }
}

/** How long something took, ms. */
export async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const start = Date.now();
  const value = await work;
  return { value, ms: Date.now() - start };
}

/** What tells nothing, for every read and for the cancel (F11). */
export const NOTHING: [string, object, object][] = [
  ['429 with Retry-After', { kind: 'http', status: 429, retryAfter: '7' }, { retryAfterMs: 7_000, reason: 'HTTP 429' }],
  ['503 without', { kind: 'http', status: 503 }, { reason: 'HTTP 503' }],
  ['401', { kind: 'http', status: 401 }, { reason: 'HTTP 401' }],
  ['404 of the session', { kind: 'http', status: 404 }, { sessionLost: true }],
  ['-32603', { kind: 'rpc', code: -32603 }, { reason: 'JSON-RPC error -32603' }],
  ['a reset', { kind: 'resetBefore' }, {}],
  ['a lost answer', { kind: 'reset' }, {}],
];
