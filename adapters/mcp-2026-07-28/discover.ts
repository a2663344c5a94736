import { z } from 'zod';
import { EndpointUnavailable } from '../../machines/operation-protocol.ts';
import { type Refused, refused } from '../mcp/callable.ts';
import { field, isObject } from '../mcp/fields.ts';
import { type KeySupport, keySupportOf } from '../mcp/key-support.ts';
import { CAPABILITY_SUBMISSION_KEY } from '../mcp/names.ts';
import { readAs } from '../mcp/read-as.ts';
import { describe } from '../mcp/rpc/connection.ts';
import type { Context } from './context.ts';
import { PROTOCOL_VERSION, TASKS_EXTENSION } from './names.ts';

const Discovered = z.looseObject({
  supportedVersions: z.array(z.string()),
  capabilities: z.record(z.string(), z.unknown()),
});

/** "Internal error": it may pass. Every other error is what a server says that does not know the request. */
const INTERNAL_ERROR = -32603;

/**
 * `server/discover`: what the server says of itself (B1). Asked anew for each negotiation: without a session, nothing
 * binds a server to what it said before. `null`: it speaks this revision, and the tasks extension of it.
 */
export async function discover(context: Context, ending: () => Promise<string | null>): Promise<Refused | null> {
  const { connection, settings } = context;
  const reply = await connection.request('server/discover', {}, { timeoutMs: settings.connectTimeoutMs });
  if (reply.kind === 'error' && reply.code !== INTERNAL_ERROR) {
    return refused(
      `the server does not speak MCP ${PROTOCOL_VERSION}: server/discover was answered with JSON-RPC error ${reply.code}`,
      'use the adapter of the revision that the server speaks (mcp-2025-11-25, for example)',
    );
  }
  if (reply.kind !== 'result') {
    const how = await ending();
    throw new EndpointUnavailable(
      how === null ? `server/discover: ${describe(reply)}` : `the server's process ${how} before it was ready`,
    );
  }
  const discovered = readAs(Discovered, reply.value);
  if (discovered === null) {
    return refused(
      "the server's answer to server/discover cannot be read",
      "ask the server's owner to have its declarations corrected",
    );
  }
  if (!discovered.supportedVersions.includes(PROTOCOL_VERSION)) {
    const versions = discovered.supportedVersions.slice(0, 10).map((version) => version.slice(0, 32));
    return refused(
      `the server speaks MCP ${versions.join(', ')}, this adapter only ${PROTOCOL_VERSION}`,
      'use the adapter of the revision that the server speaks (mcp-2025-11-25, for example)',
    );
  }
  context.initialized = { protocolVersion: PROTOCOL_VERSION, capabilities: discovered.capabilities };
  if (!isObject(field(field(discovered.capabilities, 'extensions'), TASKS_EXTENSION))) {
    return refused(`the server does not declare the extension ${TASKS_EXTENSION}`, "ask the server's owner for tasks");
  }
  return null;
}

export function keySupport(capabilities: Readonly<Record<string, unknown>>): KeySupport {
  return keySupportOf(field(field(capabilities, 'extensions'), CAPABILITY_SUBMISSION_KEY));
}
