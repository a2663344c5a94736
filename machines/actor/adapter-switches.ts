/** Switching an adapter off, per protocol revision, while it is at work (R4). */
import type { AdapterState, OperationLedger } from '../operation-ledger.ts';
import { readSnapshot } from '../tool-operation/snapshot.ts';
import { operationsOf } from './operations.ts';

/** Of so many operations the ids are given; of all, the number. */
const MAX_NAMED = 100;

/** An operation because of which an adapter cannot be disabled (R4). */
export interface StillNeeded {
  /** `p<NN>.<sha256>`. */
  readonly operationId: string;
  /** Path of the state, e.g. `WORKING.polling`. */
  readonly state: string;
}
/** What became of a switch (R4). Where it was refused, the adapter is `draining` by now. */
export type Switched =
  | { readonly kind: 'switched'; readonly state: AdapterState }
  /** Operations need the adapter: get, cancel, result and look-up go on until the last of them is terminal. */
  | { readonly kind: 'refused'; readonly count: number; readonly needed: readonly StillNeeded[] };

/**
 * Sets the state of an adapter for the whole fleet. `disabled` drains it first, so that no operation can begin while it is
 * looked for one that still needs it, and stays `draining` where there is one.
 */
export async function switchAdapter(ledger: OperationLedger, adapter: string, state: AdapterState): Promise<Switched> {
  if (state !== 'disabled') {
    await ledger.setAdapter(adapter, state);
    return { kind: 'switched', state };
  }
  await ledger.setAdapter(adapter, 'draining');
  const open = await openOperations(ledger, adapter);
  if (open.length > 0) return { kind: 'refused', count: open.length, needed: open.slice(0, MAX_NAMED) };
  await ledger.setAdapter(adapter, 'disabled');
  return { kind: 'switched', state };
}

/** Every operation under this adapter that is not over. */
export async function openOperations(ledger: OperationLedger, adapter: string): Promise<readonly StillNeeded[]> {
  return (await openByAdapter(ledger)).get(adapter) ?? [];
}

/** Every operation that is not over, by the adapter that it needs. One walk over the ledger. */
export async function openByAdapter(ledger: OperationLedger): Promise<ReadonlyMap<string, readonly StillNeeded[]>> {
  const found = new Map<string, StillNeeded[]>();
  for await (const { operationId, state, snapshot } of operationsOf(ledger)) {
    const opened = readSnapshot(operationId, snapshot);
    if (opened.status === 'done') continue;
    const { protocol } = opened.context;
    const list = found.get(protocol) ?? [];
    list.push({ operationId, state });
    found.set(protocol, list);
  }
  return found;
}
