import { canonicalJson, type Json } from '../../machines/digest.ts';
import type { ResultOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS, unknownOf } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import { outputCheck } from '../mcp/output-check.ts';
import { checkResult } from '../mcp/payload.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { status as readStatus } from './status.ts';

type ErrorReply = Extract<Reply, { kind: 'error' }>;

/**
 * `tasks/result` of a task whose status is terminal (it blocks otherwise), verified (B11, B12; F6, F7).
 * A JSON-RPC error is an outcome only of a `failed` task, and only if status and error are the same when read again.
 */
export async function result(
  context: SessionContext,
  task: TaskRef,
  terminal: 'completed' | 'failed' | 'cancelled',
  signal?: AbortSignal,
): Promise<ResultOutcome> {
  return outcomeOf(context, task, terminal, await fetchResult(context, task, signal), signal);
}

/** What an answer to `tasks/result` is worth, however the request came to be made. */
export async function outcomeOf(
  context: SessionContext,
  task: TaskRef,
  terminal: 'completed' | 'failed' | 'cancelled',
  reply: Reply,
  signal?: AbortSignal,
): Promise<ResultOutcome> {
  if (reply.kind === 'malformed' || reply.kind === 'tooLarge') return { kind: 'invalid', reason: reply.reason };
  if (reply.kind === 'error') return errorOutcome(context, task, terminal, reply, signal);
  if (reply.kind !== 'result') return unknownOf(reply, hasSession(context));

  // An error result carries no structured content by rule, so its tool need not be looked up.
  const output =
    reply.value.isError === true
      ? { kind: 'check' as const, check: null }
      : await outputCheck(context, task.tool, signal);
  if (output.kind !== 'check') return output;
  const checked = checkResult(reply.value, task.taskId, output.check);
  return checked.kind === 'payload' ? { kind: 'result', payload: checked.payload } : checked;
}

async function errorOutcome(
  context: SessionContext,
  task: TaskRef,
  terminal: 'completed' | 'failed' | 'cancelled',
  error: ErrorReply,
  signal: AbortSignal | undefined,
): Promise<ResultOutcome> {
  // What `tasks/result` says of a cancelled task is not defined: "no result", never a failure of the call.
  if (terminal === 'cancelled') return unknownOf(error, hasSession(context));
  if (error.code === INVALID_PARAMS) {
    const again = await readStatus(context, task, signal);
    return again.kind === 'notFound' ? again : unknownOf(error, hasSession(context));
  }
  if (terminal === 'completed') return unknownOf(error, hasSession(context));

  const again = await readStatus(context, task, signal);
  if (again.kind === 'notFound') return again;
  if (again.kind !== 'status' || again.task.status !== 'failed') return unknownOf(error, hasSession(context));
  const second = await fetchResult(context, task, signal);
  if (second.kind !== 'error' || !sameError(error, second))
    return { kind: 'unknown', reason: 'the error changed when it was read again' };
  const data = error.data === undefined ? {} : { data: error.data as Json };
  return { kind: 'result', payload: { kind: 'error', value: { code: error.code, message: error.message, ...data } } };
}

function fetchResult(context: SessionContext, task: TaskRef, signal: AbortSignal | undefined): Promise<Reply> {
  const { connection, settings } = context;
  return connection.request('tasks/result', { taskId: task.taskId }, { timeoutMs: settings.resultTimeoutMs, signal });
}

function sameError(first: ErrorReply, second: ErrorReply): boolean {
  return (
    first.code === second.code &&
    first.message === second.message &&
    canonicalJson(first.data ?? null) === canonicalJson(second.data ?? null)
  );
}
