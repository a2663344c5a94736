/** `google.longrunning.Operation` over HTTP and JSON (AIP-151): not MCP, however alike a field may look (B2). */
export const ADAPTER_ID = 'aip-151';
/** What a record keeps as the version of the protocol: AIP-151 has one message and no revisions. */
export const PROTOCOL_VERSION = 'google.longrunning.Operation';
/**
 * Header of a start that is made beside an ordinary call, to be compared with it (R1); value `true`. AIP-151 has no place of its
 * own for this, and an API ignores a header that it does not know.
 */
export const SHADOW_HEADER = 'toolop-shadow';
