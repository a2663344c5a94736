import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../machines/digest.ts';
import type { Payload } from '../../machines/operation-protocol.ts';
import { META_RELATED_TASK } from './names.ts';
import { readAs } from './read-as.ts';
import type { SchemaCheck } from './schema.ts';

export type CheckedPayload =
  | { readonly kind: 'payload'; readonly payload: Payload }
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Takes a value as what a tool call returned (B11: fetched *and verified*), or says why not. `taskId` is the task it
 * must belong to, if it says so itself; `output` the check of the tool's output schema.
 */
export function checkResult(
  value: Readonly<Record<string, unknown>>,
  taskId: string | null,
  output: SchemaCheck | null,
): CheckedPayload {
  const meta = value._meta;
  const related: unknown = isRecord(meta) ? meta[META_RELATED_TASK] : undefined;
  if (taskId !== null && isRecord(related) && related.taskId !== taskId)
    return invalid('the result is marked as that of another task');

  const parsed = readAs(CallToolResultSchema, value);
  if (parsed === null) return invalid('not the result of a tool call');
  const { content, structuredContent, isError } = parsed;
  // "Nothing" cannot be told from a result that got lost on the server (F6).
  if (content.length === 0 && structuredContent === undefined) return invalid('the result is empty');
  if (isError !== true && output !== null) {
    if (structuredContent === undefined)
      return invalid('the tool has an output schema and the result no structured content');
    const misfit = output(structuredContent);
    if (misfit !== null) return invalid(`the structured content does not fit the output schema ${misfit}`);
  }
  return { kind: 'payload', payload: { kind: 'result', value: withoutRelatedTask(value), isError: isError === true } };
}

/** The envelope's task id is no part of what the call returned, and is a secret that a payload should not hold. */
function withoutRelatedTask(value: Readonly<Record<string, unknown>>): Json {
  const { _meta: meta, ...rest } = value;
  if (!isRecord(meta)) return value as Json;
  const { [META_RELATED_TASK]: _related, ...others } = meta;
  return (Object.keys(others).length === 0 ? rest : { ...rest, _meta: others }) as Json;
}

function invalid(reason: string): CheckedPayload {
  return { kind: 'invalid', reason };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
