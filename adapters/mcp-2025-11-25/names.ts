/** The one revision that this adapter speaks (B2). */
export const PROTOCOL_VERSION = '2025-11-25';
/** What a call names as its `protocol`, and a record keeps (B3). */
export const ADAPTER_ID = 'mcp-2025-11-25';
