import type { Unknown } from '../../machines/operation-protocol.ts';
import { unknownOf } from './classify.ts';
import { hasSession, type SessionContext } from './context.ts';
import { compileSchema, type SchemaCheck } from './schema.ts';
import { findTool, type Tool } from './tools.ts';

export type OutputCheck =
  | { readonly kind: 'check'; readonly check: SchemaCheck | null }
  | { readonly kind: 'invalid'; readonly reason: string }
  | Unknown;

/**
 * The check of a tool's output, by the descriptor that the call was pinned to. If the server publishes another one by
 * now, its schema says nothing about this result, and ours is gone: not verifiable, so not taken (fail closed).
 */
export async function outputCheck(
  context: SessionContext,
  toolName: string,
  signal?: AbortSignal,
): Promise<OutputCheck> {
  const version = context.pinned.get(toolName);
  const known = version === undefined ? undefined : context.tools.get(version);
  if (known !== undefined) return checkOf(known);

  const search = await findTool(context.connection, toolName, context.settings, signal);
  if (search.kind === 'failed') return unknownOf(search.reply, hasSession(context));
  if (search.kind === 'absent')
    return { kind: 'invalid', reason: 'the tool is no longer published, its result cannot be verified' };
  if (version !== undefined && search.tool.version !== version) {
    return { kind: 'invalid', reason: "the tool's descriptor changed, its result cannot be verified" };
  }
  context.tools.set(search.tool.version, search.tool);
  context.pinned.set(toolName, search.tool.version);
  return checkOf(search.tool);
}

function checkOf(tool: Tool): OutputCheck {
  if (tool.outputSchema === null) return { kind: 'check', check: null };
  const compiled = compileSchema(tool.outputSchema);
  return compiled.kind === 'check'
    ? compiled
    : { kind: 'invalid', reason: `the tool's output schema cannot be compiled: ${compiled.problem}` };
}
