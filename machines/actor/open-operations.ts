/** What of a ledger is not over: the answer to "may I go home now" in a rollback (R3). */
import { LedgerIncompatible, type OperationLedger } from '../operation-ledger.ts';
import { readSnapshot } from '../tool-operation/snapshot.ts';
import { operationsOf } from './operations.ts';

/** Of so many parked operations the ids are given; of all, the number. */
const MAX_NAMED = 100;

/** Operations that are not over, each counted once. */
export interface Counts {
  /** Nothing of this attempt was sent: they wait for their turn, and while creating is switched off. */
  readonly queued: number;
  /** Sent, perhaps, and not over: they go on by themselves while an executor serves them. */
  readonly inFlight: number;
  /** They wait for a human. */
  readonly parked: number;
}

/** What of a ledger is not over, altogether and by execution epoch (R3). */
export interface OpenOperations extends Counts {
  /** By the execution epoch they are under, the oldest first. */
  readonly byEpoch: ReadonlyMap<number, Counts>;
  /** The first hundred, with the `ParkReason` of each. */
  readonly parkedOnes: readonly { readonly operationId: string; readonly reason: string }[];
  /** Written by another version: left alone, and not counted as anything else. */
  readonly unreadable: readonly string[];
}

/** One walk over the ledger. */
export async function openOperationsByEpoch(ledger: OperationLedger): Promise<OpenOperations> {
  const byEpoch = new Map<number, Counts>();
  const parkedOnes: { operationId: string; reason: string }[] = [];
  const unreadable: string[] = [];
  for await (const { operationId, state, snapshot } of operationsOf(ledger)) {
    const opened = readable(operationId, snapshot);
    if (opened === null) unreadable.push(operationId);
    if (opened === null || opened.status === 'done') continue;
    const { executionEpoch, parked } = opened.context;
    const kind = kindOf(state);
    const counts = byEpoch.get(executionEpoch) ?? NONE;
    byEpoch.set(executionEpoch, { ...counts, [kind]: counts[kind] + 1 });
    if (kind === 'parked' && parkedOnes.length < MAX_NAMED)
      parkedOnes.push({ operationId, reason: parked?.reason ?? 'unknown' });
  }
  const sum = (kind: keyof Counts) => [...byEpoch.values()].reduce((total, counts) => total + counts[kind], 0);
  return {
    queued: sum('queued'),
    inFlight: sum('inFlight'),
    parked: sum('parked'),
    byEpoch: new Map([...byEpoch].sort(([a], [b]) => a - b)),
    parkedOnes,
    unreadable,
  };
}

const NONE: Counts = { queued: 0, inFlight: 0, parked: 0 };

function kindOf(state: string): keyof Counts {
  if (state.startsWith('PARKED')) return 'parked';
  return state === 'SUBMITTING.queued' || state === 'NOT_FOUND_SAFE' ? 'queued' : 'inFlight';
}

/** `null`: of another version. */
export function readable(operationId: string, snapshot: string): ReturnType<typeof readSnapshot> | null {
  try {
    return readSnapshot(operationId, snapshot);
  } catch (error) {
    if (error instanceof LedgerIncompatible) return null;
    throw error;
  }
}
