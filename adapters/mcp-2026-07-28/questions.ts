import { ElicitRequestV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import type { Json } from '../../machines/digest.ts';
import type { InputReplies, InputRequest, InputRequests } from '../../machines/operation-protocol.ts';
import { field, isObject } from '../mcp/fields.ts';
import type { Settings } from '../mcp/options.ts';
import { readAs } from '../mcp/read-as.ts';

/** A question is for a human, is kept in the ledger, and many may wait. */
const MAX_QUESTION_CHARS = 1_000_000;
const MAX_KEY_CHARS = 512;

/**
 * The questions in an `inputRequests`, as far as they are ours: form elicitations. A server that asks for anything else
 * (sampling, roots, a visit of a URL) asks for what this client never declared. What is over the limit of how many wait
 * stays outstanding, and is listed again when some are answered.
 */
export function questionsOf(inputRequests: unknown, settings: Settings): InputRequests {
  if (!isObject(inputRequests)) return {};
  const questions: [string, InputRequest][] = [];
  for (const [key, value] of Object.entries(inputRequests)) {
    const question = questionOf(value);
    if (question !== null && key.length <= MAX_KEY_CHARS) questions.push([key, question]);
    if (questions.length >= settings.maxQueuedPrompts) break;
  }
  return Object.fromEntries(questions);
}

function questionOf(value: unknown): InputRequest | null {
  const asked = readAs(ElicitRequestV2Schema, value);
  if (asked === null) return null;
  const { message, requestedSchema } = asked.params as { message: string; requestedSchema?: Json };
  const size = JSON.stringify(field(value, 'params')).length;
  if (field(asked.params, 'mode') === 'url' || requestedSchema === undefined || size > MAX_QUESTION_CHARS) return null;
  return { message, schema: requestedSchema };
}

/** Answers as the wire has them, under the keys of their questions. */
export function inputResponsesOf(replies: InputReplies): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(replies).map(([key, reply]) => [key, { ...reply }]));
}
