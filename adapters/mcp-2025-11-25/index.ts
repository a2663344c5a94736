/**
 * MCP Tasks of the revision 2025-11-25 (core, experimental). Another revision is another adapter (B2), although
 * methods and fields look alike.
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
  META_RELATED_TASK,
  META_REQUEST_DIGEST,
  META_SHADOW,
  META_SUBMISSION_KEY,
  METHOD_LOOKUP,
} from '../mcp/names.ts';
export type { McpOptions as Mcp20251125Options } from '../mcp/options.ts';
export { ADAPTER_ID, PROTOCOL_VERSION } from './names.ts';

/** The adapter for MCP 2025-11-25 over stdio and Streamable HTTP (brief B1, B2; design section 5). */
export function mcp20251125(options: McpOptions = {}): OperationProtocol {
  const settings = settingsOf(options);
  return {
    id: ADAPTER_ID,
    async connect(endpoint, resume) {
      return createSession(await open(endpoint, resume, settings, PROTOCOL_VERSION), resume, settings);
    },
  };
}
