import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { digestOf, type Json } from '../../../machines/digest.ts';
import { readAs } from '../../mcp/read-as.ts';
import { type LiveRun, QuestionLost } from '../../mcp/server/workers.ts';
import type { StoredQuestion } from './message-queue.ts';

const asked = new WeakMap<LiveRun, Map<string, number>>();

/** Prompts have no identity on this revision: the same text for the n-th time is the same question, in every run of a task. */
function keyOf(run: LiveRun, question: StoredQuestion): string {
  const digest = digestOf(question).slice(0, 24);
  const counts = asked.get(run) ?? new Map<string, number>();
  asked.set(run, counts);
  const times = (counts.get(digest) ?? 0) + 1;
  counts.set(digest, times);
  return `${digest}-${times}`;
}

const Answer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }) }),
  z.object({ result: z.record(z.string(), z.unknown()) }),
]);

/** Asks the requestor of a task, on whatever connection it comes back (B7). Rejects with the error it was answered with. */
export async function askRequestor(
  run: LiveRun,
  question: StoredQuestion,
  options: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const signals = [
    ...(options.signal === undefined ? [] : [options.signal]),
    // People take their time: only a tool that says so stops waiting.
    ...(options.timeout === undefined ? [] : [AbortSignal.timeout(options.timeout)]),
  ];
  let said: Json;
  try {
    said = await run.ask(keyOf(run, question), question, AbortSignal.any(signals));
  } catch (error) {
    if (error instanceof QuestionLost) throw new McpError(ErrorCode.InternalError, 'Task cancelled or completed');
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new McpError(ErrorCode.RequestTimeout, 'Request timed out', { timeout: options.timeout });
    }
    throw error;
  }
  const answer = readAs(Answer, said);
  if (answer === null) throw new McpError(ErrorCode.InternalError, 'The answer cannot be read');
  if ('error' in answer) throw new McpError(answer.error.code, answer.error.message, answer.error.data);
  return answer.result;
}
