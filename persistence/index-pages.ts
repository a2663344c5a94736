import type { PartitionKeys } from './keys.ts';
import { pairs, texts } from './replies.ts';
import type { Store } from './store.ts';

/** A place in the index of operations of one partition: behind this operation. */
export interface Place {
  readonly score: string;
  readonly operationId: string;
}
export const BEGINNING: Place = { score: '-inf', operationId: '' };

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
): Promise<IndexPage> {
  const args = [from.score, from.operationId, String(limit)];
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
