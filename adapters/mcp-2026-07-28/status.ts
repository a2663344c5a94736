import type { StatusOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import type { Context } from './context.ts';
import { payloadOf, readTask } from './detailed-task.ts';
import { questionsOf } from './questions.ts';

/**
 * The state of a task, with all that is outstanding, or with its payload if that could be verified: if not, the status
 * stands alone, and the fetch says why (B11). Another `createdAt` is passed on: the machine decides (F9).
 */
export async function status(context: Context, task: TaskRef, signal?: AbortSignal): Promise<StatusOutcome> {
  const read = await readTask(context, task, context.settings.requestTimeoutMs, signal);
  if (read.kind === 'invalid') return { kind: 'unknown', reason: read.reason };
  if (read.kind !== 'task') return read;
  if (read.view.status === 'input_required') {
    const inputRequests = questionsOf(read.value.inputRequests, context.settings);
    return { kind: 'status', task: read.view, inputRequests };
  }
  const found = await payloadOf(context, task, read, signal);
  return { kind: 'status', task: read.view, ...(found.kind === 'payload' ? { payload: found.payload } : {}) };
}
