/**
 * MCP tools without tasks: a plain `tools/call` inside the synchronous limit that the tool itself publishes (B1), under the
 * same ledger and the same acceptance as a task. Without a published limit the call is refused.
 */
import type { OperationProtocol } from '../../machines/operation-protocol.ts';
import { open } from '../mcp/open.ts';
import { type McpOptions, settingsOf } from '../mcp/options.ts';
import { ADAPTER_ID, PROTOCOL_VERSION } from './names.ts';
import { createSession } from './session.ts';

export {
  CAPABILITY_SUBMISSION_KEY,
  META_ATTEMPT,
  META_PRINCIPAL,
  META_REQUEST_DIGEST,
  META_SHADOW,
  META_SUBMISSION_KEY,
  META_SYNCHRONOUS_LIMIT,
  METHOD_LOOKUP,
} from '../mcp/names.ts';
export type { McpOptions as SynchronousOptions } from '../mcp/options.ts';
export { ADAPTER_ID, PROTOCOL_VERSION } from './names.ts';

/** The adapter for synchronous tools of MCP 2025-11-25 over stdio and Streamable HTTP. */
export function synchronous(options: McpOptions = {}): OperationProtocol {
  const settings = settingsOf(options);
  return {
    id: ADAPTER_ID,
    async connect(endpoint, resume) {
      return createSession(await open(endpoint, resume, settings, PROTOCOL_VERSION), resume, settings);
    },
  };
}
