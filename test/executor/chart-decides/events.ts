/** Events that a real executor could bring, told to the store of one: late, bent, or from elsewhere. */
import { claimsOf } from '../../../machines/actor/facts.ts';
import type { Executor, OperationEvent, OperationFact } from '../../../machines/index.ts';
import type { ResultRef, ServerStatus } from '../../../machines/tool-operation/context.ts';
import type { Claims, TerminalAccept } from '../../../machines/tool-operation/events.ts';
import { acceptFieldsOf } from '../../../machines/tool-operation/guards.ts';

type Stamped = 'at' | 'random' | 'claims';
type Unstamped<E> = E extends unknown ? Omit<E, Stamped> : never;
type Untold = Unstamped<OperationEvent>;
export interface Bent {
  readonly claims?: Partial<Claims>;
  readonly at?: number;
}

/** Tells one event under the claims of the record, bent as asked. Answers how it was met. */
export async function told(executor: Executor, operationId: string, event: Untold, bent: Bent = {}): Promise<string> {
  const opened = await executor.load(operationId);
  if (!opened) throw new Error(`no record of ${operationId}`);
  const { context } = opened.snapshot;
  const claims = { ...claimsOf(context, context.executionEpoch), ...bent.claims };
  const stamp = { at: bent.at ?? executor.env.time.now(), random: 0 };
  const applied = await executor.env.store.apply(operationId, { ...event, ...stamp, claims } as OperationEvent);
  return applied.kind === 'missing' ? applied.kind : `${applied.kind} in ${applied.opened.record.state}`;
}

/** A task as a server describes it. */
export function aTask(taskId: string, status: ServerStatus, createdAt: string | null = null) {
  const nothing = { statusMessage: null, pollIntervalMs: null, expiry: null };
  return { taskId, createdAt, status, ...nothing, foreign: false };
}

/** A result that no server of these stories gives. */
export const OTHER_RESULT: ResultRef = { digest: 'a'.repeat(64), bytes: 2, kind: 'result', isError: false };

export const aStatus = (taskId: string, status: ServerStatus) =>
  ({ type: 'poll.status', task: aTask(taskId, status), result: null }) as const satisfies Unstamped<OperationFact>;

/** An acceptance whose acceptor verified something else in one field. */
export async function anAcceptanceOf(
  executor: Executor,
  operationId: string,
  wrong: Partial<TerminalAccept['expected']>,
): Promise<Unstamped<TerminalAccept>> {
  const opened = await executor.load(operationId);
  if (!opened) throw new Error(`no record of ${operationId}`);
  const expected = { ...acceptFieldsOf(opened.snapshot.context), ...wrong };
  return { type: 'terminal.accept', expected, verdict: { released: true, marks: [] }, auditResult: null };
}
