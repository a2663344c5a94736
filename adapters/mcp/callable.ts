import type { Json } from '../../machines/digest.ts';
import { EndpointUnavailable, type Negotiation } from '../../machines/operation-protocol.ts';
import { refusesSession } from './classify.ts';
import { hasSession, type SessionContext } from './context.ts';
import { isObject } from './fields.ts';
import { describe } from './rpc/connection.ts';
import { compileSchema } from './schema.ts';
import { findTool, type Tool } from './tools.ts';

export type Refused = Extract<Negotiation, { kind: 'refused' }>;
export type Found = { readonly kind: 'tool'; readonly tool: Tool };

/** The published descriptor of a tool. Rejects with `EndpointUnavailable` when the list could not be read. */
export async function publishedTool(context: SessionContext, name: string): Promise<Found | Refused> {
  const search = await findTool(context.connection, name, context.settings);
  if (search.kind === 'failed') {
    const lost = refusesSession(search.reply, hasSession(context));
    throw new EndpointUnavailable(`tools/list: ${describe(search.reply)}`, lost);
  }
  return search.kind === 'absent' ? refused('the server has no such tool', 'check the name in tools/list') : search;
}

/** `null`: the call fits what the tool publishes, and its results can be checked; the descriptor is pinned from here on. */
export function misfitOf(context: SessionContext, tool: Tool, args: Json): Refused | null {
  const input = compileSchema(tool.inputSchema);
  const output = tool.outputSchema === null ? null : compileSchema(tool.outputSchema);
  if (input.kind === 'unusable') return unusable('input', input.problem);
  if (output?.kind === 'unusable') return unusable('output', output.problem);
  const misfit = isObject(args) ? input.check(args) : 'at /: must be object';
  if (misfit !== null)
    return refused(`the arguments do not fit the tool's input schema ${misfit}`, 'correct the arguments');
  context.pinned.set(tool.name, tool.version);
  context.tools.set(tool.version, tool);
  return null;
}

export function refused(reason: string, next: string): Refused {
  return { kind: 'refused', reason, next };
}

function unusable(which: 'input' | 'output', problem: string): Refused {
  return refused(
    `the tool's ${which} schema cannot be compiled: ${problem}`,
    "ask the tool's owner to correct its schema",
  );
}
