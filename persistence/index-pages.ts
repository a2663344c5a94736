import type { PartitionKeys } from './keys.ts';
import { pairs, texts } from './replies.ts';
import type { Store } from './store.ts';

/** A place in the index of operations of one partition: behind this operation. */
export interface Place {
  readonly score: string;
  readonly operationId: string;
}
export const BEGINNING: Place = { score: '-inf', operationId: '' };
/** Where the newest is the first. */
export const END: Place = { score: '+inf', operationId: '' };

export interface IndexPage {
  readonly operationIds: readonly string[];
  /** Where the page ends; `null`: nothing comes after it. */
  readonly next: Place | null;
}

export async function indexPage(
  store: Store,
  partition: PartitionKeys,
  from: Place,
  limit: number,
  order: 'oldest' | 'newest' = 'oldest',
): Promise<IndexPage> {
  const args = [from.score, from.operationId, String(limit), order === 'newest' ? order : ''];
  const rows = pairs(await store.read(texts, { script: 'list', keys: [partition.operations], args }));
  const last = rows.at(-1);
  const next = last === undefined || rows.length < limit ? null : { operationId: last[0], score: last[1] };
  return { operationIds: rows.map(([operationId]) => operationId), next };
}

/** All operations of a partition, page by page. */
export async function* indexPages(
  store: Store,
  partition: PartitionKeys,
  limit: number,
): AsyncGenerator<readonly string[]> {
  for (let from: Place | null = BEGINNING; from !== null; ) {
    const page: IndexPage = await indexPage(store, partition, from, limit);
    if (page.operationIds.length > 0) yield page.operationIds;
    from = page.next;
  }
}

export const cursorOf = (partition: number, { score, operationId }: Place): string =>
  `${partition}:${score}:${operationId}`;

/** @throws RangeError it is none of these */
export function parseCursor(cursor: string): [partition: number, place: Place] {
  const [, partition, score, operationId] = /^(\d+):([^:]+):(.*)$/.exec(cursor) ?? [];
  if (partition === undefined || score === undefined || operationId === undefined) {
    throw new RangeError(`"${cursor}" is no cursor of this list`);
  }
  return [Number(partition), { score, operationId }];
}
