import type { AnswerOutcome, InputReplies, TaskRef } from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS } from '../mcp/classify.ts';
import { isAcknowledgement } from './acknowledgement.ts';
import type { Context } from './context.ts';
import { unknownReply } from './detailed-task.ts';
import { inputResponsesOf } from './questions.ts';

/**
 * `tasks/update`: answers by key. A server takes one key once, so the same answers may be sent again when nobody knows
 * whether they arrived (B7). Delivered is what was acknowledged, also while the status still lists the keys.
 */
export async function answerInput(
  context: Context,
  task: TaskRef,
  replies: InputReplies,
  signal?: AbortSignal,
): Promise<AnswerOutcome> {
  const { connection, settings } = context;
  const reply = await connection.request(
    'tasks/update',
    { taskId: task.taskId, inputResponses: inputResponsesOf(replies) },
    { timeoutMs: settings.requestTimeoutMs, signal, freshConnection: true },
  );
  if (reply.kind === 'notWritten') return { kind: 'notDelivered', reason: reply.reason };
  if (reply.kind === 'error' && reply.code === INVALID_PARAMS) {
    return { kind: 'notDelivered', reason: 'the server refused the answers (-32602)' };
  }
  if (reply.kind !== 'result') return unknownReply(context, reply);
  if (!isAcknowledgement(reply.value)) return { kind: 'unknown', reason: 'the answer is no acknowledgement' };
  return { kind: 'delivered' };
}
