import type { CancelOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, unknownOf } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import { taskViewOf } from './task-view.ts';

/** `tasks/cancel` (B9): on this revision an answer with status `cancelled` is the outcome; anything less is only heard. */
export async function cancel(context: SessionContext, task: TaskRef, signal?: AbortSignal): Promise<CancelOutcome> {
  const { connection, settings } = context;
  const reply = await connection.request(
    'tasks/cancel',
    { taskId: task.taskId },
    { timeoutMs: settings.requestTimeoutMs, signal },
  );
  if (reply.kind === 'error') {
    // Already terminal, unknown, expired or somebody else's: the next status read tells (never the message).
    if (reply.code === INVALID_PARAMS) return { kind: 'refused', reason: 'the server refused the cancel (-32602)' };
    if (reply.code === METHOD_NOT_FOUND)
      return { kind: 'unsupported', reason: 'the server has no tasks/cancel (-32601)' };
  }
  if (reply.kind !== 'result') return unknownOf(reply, hasSession(context));
  const view = taskViewOf(reply.value);
  if (view === null) return { kind: 'acknowledged' };
  if (view.taskId !== task.taskId) return { kind: 'unknown', reason: 'the answer is about another task' };
  return view.status === 'cancelled' ? { kind: 'confirmed', task: view } : { kind: 'acknowledged' };
}
