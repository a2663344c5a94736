import type { StatusOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS, unknownOf } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import { taskViewOf } from './task-view.ts';

/** `tasks/get`: the status only, never the result (B11). Another `createdAt` is passed on: the machine decides (F9). */
export async function status(context: SessionContext, task: TaskRef, signal?: AbortSignal): Promise<StatusOutcome> {
  const { connection, settings } = context;
  const reply = await connection.request(
    'tasks/get',
    { taskId: task.taskId },
    { timeoutMs: settings.requestTimeoutMs, signal },
  );
  if (reply.kind === 'error' && reply.code === INVALID_PARAMS) {
    // Unknown, expired and somebody else's look alike here (B13).
    return { kind: 'notFound', reason: 'the server does not know the task (-32602)' };
  }
  if (reply.kind !== 'result') return unknownOf(reply, hasSession(context));
  const view = taskViewOf(reply.value);
  if (view === null) return { kind: 'unknown', reason: 'the answer is not a task' };
  if (view.taskId !== task.taskId) return { kind: 'unknown', reason: 'the answer is about another task' };
  return { kind: 'status', task: view };
}
