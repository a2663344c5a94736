import type { Json } from '../../machines/digest.ts';
import type { Negotiation } from '../../machines/operation-protocol.ts';
import { misfitOf, publishedTool, refused } from '../mcp/callable.ts';
import type { SessionContext } from '../mcp/context.ts';
import { field, isObject } from '../mcp/fields.ts';
import { type KeySupport, keySupportOf } from '../mcp/key-support.ts';
import { CAPABILITY_SUBMISSION_KEY } from '../mcp/names.ts';
import { PROTOCOL_VERSION } from './names.ts';

/** What a record holds of a session id, characters. */
const MAX_SESSION_ID = 512;

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

  const search = await publishedTool(context, name);
  if (search.kind === 'refused') return search;
  const { tool } = search;
  if (tool.taskSupport !== 'optional' && tool.taskSupport !== 'required') {
    return refused(
      'the tool does not support tasks (execution.taskSupport)',
      "call it synchronously within its published limit, or ask the tool's owner for task support",
    );
  }
  const misfit = misfitOf(context, tool, args);
  if (misfit !== null) return misfit;

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
  return keySupportOf(field(field(capabilities, 'experimental'), CAPABILITY_SUBMISSION_KEY));
}
