/**
 * MCP Tasks of the revision 2026-07-28: the extension `io.modelcontextprotocol/tasks`. Another revision is another adapter
 * (B2), although methods and fields look alike.
 */
import type { OperationProtocol } from '../../machines/operation-protocol.ts';
import { type McpOptions, settingsOf } from '../mcp/options.ts';
import { ADAPTER_ID } from './names.ts';
import { open } from './open.ts';
import { createSession } from './session.ts';

export {
  CAPABILITY_SUBMISSION_KEY,
  META_ATTEMPT,
  META_PRINCIPAL,
  META_REQUEST_DIGEST,
  META_SHADOW,
  META_SUBMISSION_KEY,
  METHOD_LOOKUP,
} from '../mcp/names.ts';
export type { McpOptions as Mcp20260728Options } from '../mcp/options.ts';
export { ADAPTER_ID, PROTOCOL_VERSION, TASKS_EXTENSION } from './names.ts';

/** The adapter for the tasks extension of MCP 2026-07-28, over stdio and Streamable HTTP (brief B1, B2; design section 5). */
export function mcp20260728(options: McpOptions = {}): OperationProtocol {
  const settings = settingsOf(options);
  return {
    id: ADAPTER_ID,
    hints: true,
    /** Nothing is asked here: there is no session to open, or to take up again. */
    async connect(endpoint, resume) {
      return createSession(await open(endpoint, settings), resume, settings);
    },
  };
}
