import type { Json } from '../../machines/digest.ts';
import type { Negotiation } from '../../machines/operation-protocol.ts';
import { callableSession, misfitOf, publishedTool, type Refused, refused } from '../mcp/callable.ts';
import type { SessionContext } from '../mcp/context.ts';
import { initializedKeySupport } from '../mcp/key-support.ts';
import { META_SYNCHRONOUS_LIMIT } from '../mcp/names.ts';
import type { Tool } from '../mcp/tools.ts';
import { PROTOCOL_VERSION } from './names.ts';

const LIMIT = `_meta['${META_SYNCHRONOUS_LIMIT}'] (an integer, ms) of the tool in tools/list`;

/**
 * Can this call be waited for on its connection, and how long? (B1) Reads declarations only; nothing is tried out.
 * Rejects with `EndpointUnavailable` when the declarations could not be read.
 */
export async function negotiate(context: SessionContext, name: string, args: Json): Promise<Negotiation> {
  const session = callableSession(context, PROTOCOL_VERSION);
  if (session.kind === 'refused') return session;
  const search = await publishedTool(context, name);
  if (search.kind === 'refused') return search;
  const { tool } = search;
  const unfit = unboundedOf(tool) ?? misfitOf(context, tool, args);
  if (unfit !== null) return unfit;

  const keys = initializedKeySupport(session.initialized.capabilities);
  return {
    kind: 'supported',
    tool: { name: tool.name, version: tool.version },
    capabilities: {
      cancelSupported: false,
      cancelEvidence: 'terminal',
      lookup: keys.lookup ? 'closing' : 'none',
      deduplicates: keys.deduplicates,
      input: 'none',
      inputRedelivery: false,
    },
    session: {
      sessionId: context.connection.sessionId,
      protocolVersion: session.initialized.protocolVersion,
    },
    keyRetentionMs: keys.retentionMs,
  };
}

/** `null`: the tool may be called without a task, and says how long that takes at most. */
function unboundedOf(tool: Tool): Refused | null {
  if (tool.taskSupport === 'required') {
    return refused(
      'the tool can only be called as a task (execution.taskSupport is required)',
      'use the adapter for tasks of the revision that the server speaks',
    );
  }
  if (tool.synchronousLimitMs !== null) return null;
  return tool.taskSupport === 'optional'
    ? refused(
        'the tool publishes no (usable) synchronous limit; it supports tasks',
        `use the adapter for tasks, or ask the tool's owner to declare ${LIMIT}`,
      )
    : refused(
        'the tool publishes no (usable) synchronous limit and does not support tasks: nobody can say how long it takes',
        `ask the tool's owner to declare ${LIMIT}, or task support (execution.taskSupport)`,
      );
}
