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

/** What a record holds of a session id, characters. */
const MAX_SESSION_ID = 512;

/** The session that `initialize` opened, if a call of this revision can be made on it. */
export function callableSession(
  context: SessionContext,
  protocolVersion: string,
): { readonly kind: 'session'; readonly initialized: NonNullable<SessionContext['initialized']> } | Refused {
  const { initialized } = context;
  if (initialized === null) {
    return refused(
      'this session was taken up again, so its declarations were not read',
      'open a new connection to submit',
    );
  }
  if (initialized.protocolVersion !== protocolVersion) {
    return refused(
      `the server speaks MCP ${initialized.protocolVersion.slice(0, 32)}, this adapter only ${protocolVersion}`,
      'use the adapter of the revision that the server speaks',
    );
  }
  if ((context.connection.sessionId ?? '').length > MAX_SESSION_ID) {
    return refused(
      `the server's session id has more than ${MAX_SESSION_ID} characters`,
      "ask the server's owner for shorter ones",
    );
  }
  return { kind: 'session', initialized };
}

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
