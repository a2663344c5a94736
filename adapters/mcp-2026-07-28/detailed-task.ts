import { ErrorV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import type { Json } from '../../machines/digest.ts';
import type { Payload, TaskRef, TaskView, Unknown } from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS, unknownOf } from '../mcp/classify.ts';
import { hasSession } from '../mcp/context.ts';
import { isObject } from '../mcp/fields.ts';
import { outputCheck } from '../mcp/output-check.ts';
import { checkResult } from '../mcp/payload.ts';
import { readAs } from '../mcp/read-as.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import type { Context } from './context.ts';
import { MISSING_CLIENT_CAPABILITY, MISSING_CLIENT_CAPABILITY_BEFORE } from './names.ts';
import { taskViewOf } from './task-view.ts';

type Value = Readonly<Record<string, unknown>>;

export type ReadTask =
  | { readonly kind: 'task'; readonly view: TaskView; readonly value: Value }
  /** An answer came and cannot be used; what is still on the way, or another one, may be. */
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'notFound'; readonly reason: string }
  | Unknown;

export type ReadPayload =
  | { readonly kind: 'payload'; readonly payload: Payload }
  | { readonly kind: 'none' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | Unknown;

/** `tasks/get`: on this revision the one read of a task, with its questions, its result or its error in it. */
export async function readTask(
  context: Context,
  task: TaskRef,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<ReadTask> {
  const reply = await context.connection.request('tasks/get', { taskId: task.taskId }, { timeoutMs, signal });
  if (reply.kind === 'error' && reply.code === INVALID_PARAMS) {
    // Unknown, expired and somebody else's look alike here (B13).
    return { kind: 'notFound', reason: 'the server does not know the task (-32602)' };
  }
  if (reply.kind === 'malformed' || reply.kind === 'tooLarge') return { kind: 'invalid', reason: reply.reason };
  if (reply.kind !== 'result') return unknownReply(context, reply);
  const { resultType } = reply.value;
  // The prose says `complete`, some of the specification's examples `task`.
  if (resultType !== undefined && resultType !== 'complete' && resultType !== 'task') {
    return { kind: 'invalid', reason: 'the answer has another resultType' };
  }
  const view = taskViewOf(reply.value);
  if (view === null) return { kind: 'invalid', reason: 'the answer is not a task' };
  if (view.taskId !== task.taskId) return { kind: 'invalid', reason: 'the answer is about another task' };
  return { kind: 'task', view, value: reply.value };
}

/** Nothing is known. A missing capability has a reason of its own: something on the way took the envelope off. */
export function unknownReply(context: Context, reply: Reply): Unknown {
  const missing = [MISSING_CLIENT_CAPABILITY, MISSING_CLIENT_CAPABILITY_BEFORE];
  if (reply.kind === 'error' && missing.includes(reply.code)) {
    return { kind: 'unknown', reason: `the server did not see that this client declares tasks (${reply.code})` };
  }
  return unknownOf(reply, hasSession(context));
}

/** What a terminal task ended with, verified (B11; F6, F7). */
export async function payloadOf(
  context: Context,
  task: TaskRef,
  { view, value }: { readonly view: TaskView; readonly value: Value },
  signal?: AbortSignal,
): Promise<ReadPayload> {
  if (view.status === 'failed') {
    const error = readAs(ErrorV2Schema, value.error);
    if (error === null) return { kind: 'invalid', reason: 'the failed task carries no JSON-RPC error' };
    const data = error.data === undefined ? {} : { data: error.data as Json };
    return {
      kind: 'payload',
      payload: { kind: 'error', value: { code: error.code, message: error.message, ...data } },
    };
  }
  if (view.status !== 'completed') return { kind: 'none' };
  const { result } = value;
  if (!isObject(result)) return { kind: 'invalid', reason: 'the completed task carries no result' };
  // The specification's own examples leave it out here.
  if (result.resultType !== undefined && result.resultType !== 'complete') {
    return { kind: 'invalid', reason: 'the result has another resultType' };
  }
  // An error result carries no structured content by rule, so its tool need not be looked up.
  const output =
    result.isError === true ? { kind: 'check' as const, check: null } : await outputCheck(context, task.tool, signal);
  return output.kind === 'check' ? checkResult(result, task.taskId, output.check) : output;
}
