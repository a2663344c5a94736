import type { Settings } from '../mcp/options.ts';

/** The one revision that this adapter speaks (B2). */
export const PROTOCOL_VERSION = '2026-07-28';
/** What a call names as its `protocol`, and a record keeps (B3). */
export const ADAPTER_ID = 'mcp-2026-07-28';
/** The extension that its tasks are. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const META_PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** JSON-RPC errors of this revision that come before a request is dispatched, by construction. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;
/** What older texts of the extension call a missing capability. */
export const MISSING_CLIENT_CAPABILITY_BEFORE = -32003;

/** There is no session: every request says in its `_meta` who speaks, which revision, and what the client can do. */
export function envelopeOf(settings: Settings): Readonly<Record<string, unknown>> {
  return {
    [META_PROTOCOL_VERSION]: PROTOCOL_VERSION,
    [META_CLIENT_INFO]: settings.clientInfo,
    [META_CLIENT_CAPABILITIES]: { elicitation: { form: {} }, extensions: { [TASKS_EXTENSION]: {} } },
  };
}
