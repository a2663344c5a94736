import type { CancelOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../mcp/classify.ts';
import { isAcknowledgement } from './acknowledgement.ts';
import type { Context } from './context.ts';
import { unknownReply } from './detailed-task.ts';

/** `tasks/cancel` (B9): its answer says that it was heard, whatever it holds, and never how the task ends. */
export async function cancel(context: Context, task: TaskRef, signal?: AbortSignal): Promise<CancelOutcome> {
  const { connection, settings } = context;
  const reply = await connection.request(
    'tasks/cancel',
    { taskId: task.taskId },
    { timeoutMs: settings.requestTimeoutMs, signal },
  );
  if (reply.kind === 'error') {
    // Unknown, expired or somebody else's: the next status read tells (never the message).
    if (reply.code === INVALID_PARAMS) return { kind: 'refused', reason: 'the server refused the cancel (-32602)' };
    if (reply.code === METHOD_NOT_FOUND)
      return { kind: 'unsupported', reason: 'the server has no tasks/cancel (-32601)' };
  }
  if (reply.kind !== 'result') return unknownReply(context, reply);
  if (!isAcknowledgement(reply.value)) return { kind: 'unknown', reason: 'the answer is no acknowledgement' };
  return { kind: 'acknowledged' };
}
