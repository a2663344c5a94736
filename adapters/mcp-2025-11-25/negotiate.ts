import type { Json } from '../../machines/digest.ts';
import { EndpointUnavailable, type Negotiation } from '../../machines/operation-protocol.ts';
import { refusesSession } from './classify.ts';
import { hasSession, type SessionContext } from './context.ts';
import { CAPABILITY_SUBMISSION_KEY, PROTOCOL_VERSION } from './names.ts';
import { describe } from './rpc/connection.ts';
import { compileSchema } from './schema.ts';
import { findTool } from './tools.ts';

/** What a record holds of a session id, characters. */
const MAX_SESSION_ID = 512;

/** What a server says of submission keys (design section 6). */
export interface KeySupport {
  readonly lookup: boolean;
  readonly deduplicates: boolean;
  readonly retentionMs: number | null;
}

/**
 * Can this call be a task here, and with what guarantees? (B1) Reads declarations only; nothing is tried out.
 * Rejects with `EndpointUnavailable` when the declarations could not be read.
 */
export async function negotiate(context: SessionContext, name: string, args: Json): Promise<Negotiation> {
  const { initialized } = context;
  if (initialized === null) {
    return refused(
      'this session was taken up again, so its declarations were not read',
      'open a new connection to submit',
    );
  }
  if (initialized.protocolVersion !== PROTOCOL_VERSION) {
    return refused(
      `the server speaks MCP ${initialized.protocolVersion.slice(0, 32)}, this adapter only ${PROTOCOL_VERSION}`,
      'use the adapter of the revision that the server speaks',
    );
  }
  if ((context.connection.sessionId ?? '').length > MAX_SESSION_ID) {
    return refused(
      `the server's session id has more than ${MAX_SESSION_ID} characters`,
      "ask the server's owner for shorter ones",
    );
  }
  const tasks = field(initialized.capabilities, 'tasks');
  if (!isObject(field(field(field(tasks, 'requests'), 'tools'), 'call'))) {
    return refused(
      'the server does not declare tasks for tools/call',
      "call the tool synchronously within its published limit, or ask the server's owner for tasks",
    );
  }

  const search = await findTool(context.connection, name, context.settings);
  if (search.kind === 'failed') {
    const lost = refusesSession(search.reply, hasSession(context));
    throw new EndpointUnavailable(`tools/list: ${describe(search.reply)}`, lost);
  }
  if (search.kind === 'absent') return refused('the server has no such tool', 'check the name in tools/list');
  const { tool } = search;
  if (tool.taskSupport !== 'optional' && tool.taskSupport !== 'required') {
    return refused(
      'the tool does not support tasks (execution.taskSupport)',
      "call it synchronously within its published limit, or ask the tool's owner for task support",
    );
  }

  const input = compileSchema(tool.inputSchema);
  const output = tool.outputSchema === null ? null : compileSchema(tool.outputSchema);
  if (input.kind === 'unusable') return unusable('input', input.problem);
  if (output?.kind === 'unusable') return unusable('output', output.problem);
  const misfit = isObject(args) ? input.check(args) : 'at /: must be object';
  if (misfit !== null)
    return refused(`the arguments do not fit the tool's input schema ${misfit}`, 'correct the arguments');

  context.pinned.set(tool.name, tool.version);
  context.tools.set(tool.version, tool);
  const keys = keySupport(initialized.capabilities);
  return {
    kind: 'supported',
    tool: { name: tool.name, version: tool.version },
    capabilities: {
      cancelSupported: isObject(field(tasks, 'cancel')),
      cancelEvidence: 'terminal',
      lookup: keys.lookup ? 'closing' : 'none',
      deduplicates: keys.deduplicates,
      input: 'channel',
      inputRedelivery: false,
    },
    session: { sessionId: context.connection.sessionId, protocolVersion: initialized.protocolVersion },
    keyRetentionMs: keys.retentionMs,
  };
}

export function keySupport(capabilities: Readonly<Record<string, unknown>>): KeySupport {
  const declared = field(field(capabilities, 'experimental'), CAPABILITY_SUBMISSION_KEY);
  const retention = field(declared, 'retentionMs');
  return {
    lookup: field(declared, 'lookup') === true,
    deduplicates: field(declared, 'deduplicates') === true,
    retentionMs: typeof retention === 'number' && Number.isFinite(retention) && retention >= 0 ? retention : null,
  };
}

function unusable(which: 'input' | 'output', problem: string): Negotiation {
  return refused(
    `the tool's ${which} schema cannot be compiled: ${problem}`,
    "ask the tool's owner to correct its schema",
  );
}

function refused(reason: string, next: string): Negotiation {
  return { kind: 'refused', reason, next };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
