import { z } from 'zod';
import type { HistoryEntry } from '../machines/operation-ledger.ts';
import { unpack } from './packing.ts';
import { historyEntry, storedText } from './replies.ts';
import type { Store } from './store.ts';

const entries = z.array(storedText);

/** All that happened to an operation, in order. */
export async function historyOf(store: Store, operationId: string): Promise<readonly HistoryEntry[]> {
  const partition = store.partitionOf(operationId);
  const keys = [partition.operation(operationId), partition.history(operationId)];
  const flat = await store.read(entries, { script: 'history', keys, args: [] });
  const found: [revision: number, entry: HistoryEntry][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const text = unpack(flat[i + 1] ?? '', operationId);
    found.push([Number(flat[i]), historyEntry.parse(JSON.parse(text))]);
  }
  return found.sort(([a], [b]) => a - b).map(([, entry]) => entry);
}
