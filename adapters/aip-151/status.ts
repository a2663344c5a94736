import type { StatusOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import { saysNotFound, unknownOf } from './classify.ts';
import type { SessionContext } from './context.ts';
import { type ReadOperation, readOperation } from './operation.ts';
import { operationPath } from './operation-path.ts';

/** What `GetOperation` told: the operation, read and found to be the one asked for, or why nothing is known. */
export type Told = Extract<ReadOperation, { kind: 'operation' }> | Exclude<StatusOutcome, { kind: 'status' }>;

/** `WaitOperation` is not used: it has no HTTP binding, and may return early, so it proves no more than this. */
export async function getOperation(
  { link, settings }: SessionContext,
  task: TaskRef,
  signal?: AbortSignal,
): Promise<Told> {
  const path = operationPath(settings, task);
  if ('problem' in path) return { kind: 'unknown', reason: path.problem };
  const reply = await link.send({ method: 'GET', path: path.path }, { timeoutMs: settings.requestTimeoutMs, signal });
  if (saysNotFound(reply)) return { kind: 'notFound', reason: 'the server does not know the operation (NOT_FOUND)' };
  if (reply.kind !== 'json' || reply.status !== 200) return unknownOf(reply);
  const read = readOperation(reply.value, path.method.responseType);
  if (read.kind === 'none') return { kind: 'unknown', reason: read.reason };
  if (read.task.taskId !== task.taskId) return { kind: 'unknown', reason: 'the answer is about another operation' };
  if (read.kind === 'contradiction') return { kind: 'unknown', reason: read.reason };
  return read;
}

/** The status, and with the end its result, which AIP-151 has in the same message. */
export async function status(context: SessionContext, task: TaskRef, signal?: AbortSignal): Promise<StatusOutcome> {
  const told = await getOperation(context, task, signal);
  if (told.kind !== 'operation') return told;
  return { kind: 'status', task: told.task, ...(told.payload === null ? {} : { payload: told.payload }) };
}
