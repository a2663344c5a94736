import type { Json } from '../../machines/digest.ts';
import type { Negotiation } from '../../machines/operation-protocol.ts';
import { callableSession, misfitOf, publishedTool, refused } from '../mcp/callable.ts';
import type { SessionContext } from '../mcp/context.ts';
import { field, isObject } from '../mcp/fields.ts';
import { initializedKeySupport } from '../mcp/key-support.ts';
import { PROTOCOL_VERSION } from './names.ts';

/**
 * Can this call be a task here, and with what guarantees? (B1) Reads declarations only; nothing is tried out.
 * Rejects with `EndpointUnavailable` when the declarations could not be read.
 */
export async function negotiate(context: SessionContext, name: string, args: Json): Promise<Negotiation> {
  const session = callableSession(context, PROTOCOL_VERSION);
  if (session.kind === 'refused') return session;
  const { initialized } = session;
  const tasks = field(initialized.capabilities, 'tasks');
  if (!isObject(field(field(field(tasks, 'requests'), 'tools'), 'call'))) {
    return refused(
      'the server does not declare tasks for tools/call',
      "if the tool publishes a synchronous limit, use the adapter sync; else ask the server's owner for tasks",
    );
  }

  const search = await publishedTool(context, name);
  if (search.kind === 'refused') return search;
  const { tool } = search;
  if (tool.taskSupport !== 'optional' && tool.taskSupport !== 'required') {
    return refused(
      'the tool does not support tasks (execution.taskSupport)',
      "if the tool publishes a synchronous limit, use the adapter sync; else ask the tool's owner for task support",
    );
  }
  const misfit = misfitOf(context, tool, args);
  if (misfit !== null) return misfit;

  const keys = initializedKeySupport(initialized.capabilities);
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
