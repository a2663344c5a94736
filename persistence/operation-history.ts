import { z } from 'zod';
import type { HistoryEntry } from '../machines/operation-ledger.ts';
import { unpack } from './packing.ts';
import { flag, historyEntry, pairs, storedText } from './replies.ts';
import type { Store } from './store.ts';

const entries = z.array(storedText);

/** The history of one operation takes no refused facts beyond so many lines: a server that repeats itself fills no store. */
const MAX_LINES = 256;

/** All that happened to an operation, in order; `refused`: with the facts that were refused. */
export async function historyOf(store: Store, operationId: string, refused: boolean): Promise<readonly HistoryEntry[]> {
  const partition = store.partitionOf(operationId);
  const keys = [partition.operation(operationId), partition.history(operationId)];
  const lines = pairs(await store.read(entries, { script: 'history', keys, args: [] }));
  return lines
    .filter(([place]) => refused || isStep(String(place)))
    .map(([place, line]) => ({
      revision: Number.parseInt(String(place), 10),
      entry: historyEntry.parse(JSON.parse(unpack(line, operationId))),
    }))
    .sort((a, b) => a.revision - b.revision || a.entry.at - b.entry.at)
    .map(({ entry }) => entry);
}

/** A step stands under its revision, a refused fact under the one that it came after, and when. */
const isStep = (place: string): boolean => /^\d+$/.test(place);

/** Written again it is the same line. */
export async function noteRefused(
  store: Store,
  operationId: string,
  revision: string,
  entry: HistoryEntry,
): Promise<void> {
  const partition = store.partitionOf(operationId);
  const keys = [partition.operation(operationId), partition.history(operationId)];
  const place = `${revision}.${entry.at} ${entry.event}`;
  await store.read(flag, {
    script: 'note-refused',
    keys,
    args: [place, JSON.stringify(entry), String(MAX_LINES)],
  });
}
