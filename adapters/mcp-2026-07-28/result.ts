import type { ResultOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import type { Context } from './context.ts';
import { payloadOf, readTask } from './detailed-task.ts';

/** The payload of a terminal task, from another `tasks/get`: there is no `tasks/result` on this revision. */
export async function result(
  context: Context,
  task: TaskRef,
  terminal: 'completed' | 'failed' | 'cancelled',
  signal?: AbortSignal,
): Promise<ResultOutcome> {
  const read = await readTask(context, task, context.settings.resultTimeoutMs, signal);
  if (read.kind !== 'task') return read;
  if (read.view.status !== terminal) {
    return { kind: 'unknown', reason: `the task was ${terminal}, and is now said to be ${read.view.status}` };
  }
  const found = await payloadOf(context, task, read, signal);
  if (found.kind === 'none') return { kind: 'invalid', reason: 'a cancelled task has no result' };
  return found.kind === 'payload' ? { kind: 'result', payload: found.payload } : found;
}
