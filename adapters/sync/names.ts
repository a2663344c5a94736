/** The one revision that this adapter speaks (B2). */
export const PROTOCOL_VERSION = '2025-11-25';
export const ADAPTER_ID = 'sync';
