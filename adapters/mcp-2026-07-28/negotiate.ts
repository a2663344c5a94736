import type { Json } from '../../machines/digest.ts';
import type { Negotiation } from '../../machines/operation-protocol.ts';
import { misfitOf, publishedTool, refused } from '../mcp/callable.ts';
import type { Context } from './context.ts';
import { discover, keySupport } from './discover.ts';
import { mirroringOf } from './headers.ts';
import { PROTOCOL_VERSION } from './names.ts';

/**
 * Can this call be a task here, and with what guarantees? (B1) Reads declarations only; nothing is tried out. A tool says
 * nothing of tasks on this revision: the server decides with each call, and the client must take either.
 * Rejects with `EndpointUnavailable` when the declarations could not be read.
 */
export async function negotiate(
  context: Context,
  ending: () => Promise<string | null>,
  name: string,
  args: Json,
): Promise<Negotiation> {
  const unsupported = await discover(context, ending);
  if (unsupported !== null) return unsupported;
  const search = await publishedTool(context, name);
  if (search.kind === 'refused') return search;
  const { tool } = search;
  const mirroring = mirroringOf(tool.inputSchema);
  if (mirroring.kind === 'invalid' && context.connection.overHttp) {
    return refused(
      `the tool cannot be called over HTTP: of its x-mcp-header marks, ${mirroring.problem}`,
      "ask the tool's owner to correct its input schema",
    );
  }
  const misfit = misfitOf(context, tool, args);
  if (misfit !== null) return misfit;
  context.latest.set(tool.name, tool);

  const keys = keySupport(context.initialized?.capabilities ?? {});
  return {
    kind: 'supported',
    tool: { name: tool.name, version: tool.version },
    capabilities: {
      cancelSupported: true,
      cancelEvidence: 'cooperative',
      lookup: keys.lookup ? 'closing' : 'none',
      deduplicates: keys.deduplicates,
      input: 'status',
      inputRedelivery: true,
    },
    session: { sessionId: null, protocolVersion: PROTOCOL_VERSION },
    keyRetentionMs: keys.retentionMs,
  };
}
