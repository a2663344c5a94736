import type { Json } from '../machines/digest.ts';
import { isPacked, type Stored } from './packing.ts';
import type { ScriptName } from './scripts.ts';

/** What a kill, a power cut and a failover can lose. */
export interface Durability {
  /** `false`: an acknowledged step can be lost by an ordinary restart, or evicted. */
  readonly acceptable: boolean;
  readonly statement: string;
  readonly facts: Json;
}

/**
 * Runs the ledger's scripts, each as one atomic step. Two hosts exist: a Redis server, and a SQLite file with a Lua VM.
 * Replies are texts, but for what is packed: that stays bytes. A rejection with `LedgerUnavailable` leaves open whether the script
 * ran.
 */
export interface ScriptHost {
  /**
   * `nudge`: the operation to announce to every subscriber of the store when the script has run. `confirm`: the step must
   * not be forgotten, so where the store has replicas one of them has to have it; a script that was sent before is safe.
   */
  run(
    script: ScriptName,
    keys: readonly string[],
    args: readonly Stored[],
    nudge?: string,
    confirm?: boolean,
  ): Promise<unknown>;
  /** Announcements of all processes. Lossy. Returns the unsubscribe. */
  subscribe(listener: (operationId: string) => void): () => void;
  durability(): Promise<Durability>;
  close(): Promise<void>;
}

/** A text of a reply, or the bytes of what is packed. */
export const textOf = (bytes: Buffer): Stored => (isPacked(bytes) ? bytes : bytes.toString('utf8'));
