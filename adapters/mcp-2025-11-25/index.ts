/**
 * MCP Tasks of the revision 2025-11-25 (core, experimental). Another revision is another adapter (B2), although
 * methods and fields look alike.
 */
import type { OperationProtocol } from '../../machines/operation-protocol.ts';
import { ADAPTER_ID } from './names.ts';
import { type Mcp20251125Options, settingsOf } from './options.ts';
import { open } from './rpc/open.ts';
import { createSession } from './session.ts';

export {
  ADAPTER_ID,
  CAPABILITY_SUBMISSION_KEY,
  META_ATTEMPT,
  META_PRINCIPAL,
  META_RELATED_TASK,
  META_REQUEST_DIGEST,
  META_SUBMISSION_KEY,
  METHOD_LOOKUP,
  PROTOCOL_VERSION,
} from './names.ts';
export type { Mcp20251125Options } from './options.ts';

/** The adapter for MCP 2025-11-25 over stdio and Streamable HTTP (brief B1, B2; design section 5). */
export function mcp20251125(options: Mcp20251125Options = {}): OperationProtocol {
  const settings = settingsOf(options);
  return {
    id: ADAPTER_ID,
    async connect(endpoint, resume) {
      return createSession(await open(endpoint, resume, settings), resume, settings);
    },
  };
}
