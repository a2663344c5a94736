import type { Protocol } from '../history.ts';

export const MCP_2025: readonly Protocol[] = ['mcp-2025-11-25'];
export const MCP_2026: readonly Protocol[] = ['mcp-2026-07-28'];
export const MCP: readonly Protocol[] = [...MCP_2025, ...MCP_2026];
export const AIP: readonly Protocol[] = ['aip-151'];
export const ALL: readonly Protocol[] = [...MCP, ...AIP];
