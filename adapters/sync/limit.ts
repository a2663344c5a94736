import type { SubmitOutcome } from '../../machines/operation-protocol.ts';
import { unknownOf } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import { findTool } from '../mcp/tools.ts';

export type Limit =
  | { readonly kind: 'limit'; readonly ms: number }
  | Extract<SubmitOutcome, { kind: 'notSent' | 'rejected' }>;

/**
 * The limit of the descriptor that the call was negotiated under; read again on a session that did not negotiate itself.
 * Another descriptor is another promise, and nobody negotiated that one: nothing is sent.
 */
export async function limitOf(context: SessionContext, toolName: string, signal?: AbortSignal): Promise<Limit> {
  const { connection, settings, pinned, tools } = context;
  const version = pinned.get(toolName);
  let tool = version === undefined ? undefined : tools.get(version);
  if (tool === undefined) {
    const search = await findTool(connection, toolName, settings, signal);
    if (search.kind === 'failed') return { ...unknownOf(search.reply, hasSession(context)), kind: 'notSent' };
    if (search.kind === 'absent') return rejected('the tool is no longer published');
    if (version !== undefined && search.tool.version !== version) {
      return rejected("the tool's descriptor changed since the call was negotiated");
    }
    tool = search.tool;
    pinned.set(toolName, tool.version);
    tools.set(tool.version, tool);
  }
  return tool.synchronousLimitMs === null
    ? rejected('the tool publishes no synchronous limit (any more)')
    : { kind: 'limit', ms: tool.synchronousLimitMs };
}

function rejected(reason: string): Limit {
  return { kind: 'rejected', reason: `${reason}: nothing was sent` };
}
