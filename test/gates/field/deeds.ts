/** What the front of a gate's server does to single requests of one operation; it travels in the call's own script. */
import type { Script } from '../../kit/servers/mcp-2025-11-25/options.ts';

export type DeedKind =
  /** The connection breaks before the server hears of the request. */
  | 'lostBefore'
  /** The server does it; the connection breaks in place of the answer. */
  | 'lostReply'
  /** ... in the middle of the answer. */
  | 'truncated'
  /** The server does it, and the answer never comes. */
  | 'silence'
  /** The request arrives later. */
  | 'delayed'
  /** The answer arrives later. */
  | 'late'
  /** The server gets it twice; the second answer goes nowhere. */
  | 'twice'
  | '503'
  | '429'
  /** `-32603`, and nothing is done. */
  | 'internalError';

export interface Deed {
  readonly method: string;
  /** Which request of this method and operation it meets, from 1. */
  readonly nth: number;
  readonly kind: DeedKind;
  readonly ms: number;
}

/** The script of a call under a gate: whose it is, and what is done to its requests. */
export type GateScript = Script & { readonly callNode: string; readonly deeds: readonly Deed[] };
