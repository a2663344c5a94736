/** What a list of the whole ledger is made of: how many, which, and a little of each. */
import type { OperationLedger, SummaryAnswer } from '../machines/operation-ledger.ts';
import { cursorOf, END, indexPage, parseCursor } from './index-pages.ts';
import type { PartitionKeys } from './keys.ts';
import { withBody } from './record-form.ts';
import { summaryRows, texts } from './replies.ts';
import type { Store } from './store.ts';

export async function operationCount(store: Store): Promise<number> {
  const counts = await Promise.all(
    store.partitions.map(({ operations }) => store.read(texts, { script: 'sizes', keys: [operations], args: [] })),
  );
  return counts.flat().reduce((sum, count) => sum + Number(count), 0);
}

export async function newestIn(
  store: Store,
  { partition, cursor, limit }: Parameters<OperationLedger['newest']>[0],
): ReturnType<OperationLedger['newest']> {
  const [of, place] = cursor === undefined ? [partition, END] : parseCursor(cursor);
  if (of !== partition) throw new RangeError(`"${cursor}" is no cursor of partition ${partition}`);
  const { operationIds, next } = await indexPage(store, store.partition(partition), place, limit, 'newest');
  return { operationIds, cursor: next === null ? null : cursorOf(partition, next) };
}

type Asked = Parameters<OperationLedger['summaries']>[0][number];

export async function summariesOf(store: Store, asked: readonly Asked[]): Promise<readonly SummaryAnswer[]> {
  const groups = new Map<PartitionKeys, number[]>();
  for (const [index, { operationId }] of asked.entries()) {
    const partition = store.partitionOf(operationId);
    const group = groups.get(partition);
    if (group) group.push(index);
    else groups.set(partition, [index]);
  }
  const answers: SummaryAnswer[] = [];
  await Promise.all(
    [...groups].map(async ([partition, indices]) => {
      const group = indices.map((index) => asked[index] as Asked);
      const answered = await summariesIn(store, partition, group);
      for (const [nth, index] of indices.entries()) answers[index] = answered[nth] as SummaryAnswer;
    }),
  );
  return answers;
}

async function summariesIn(
  store: Store,
  partition: PartitionKeys,
  asked: readonly Asked[],
): Promise<readonly SummaryAnswer[]> {
  const keys = asked.map(({ operationId }) => partition.operation(operationId));
  const args = asked.map(({ revision }) => revision ?? '');
  const rows = await store.read(summaryRows, { script: 'rows', keys, args });
  return rows.map((row, index): SummaryAnswer => {
    if (row.length === 0) return { kind: 'none' };
    if (row.length === 2) return { kind: 'known', dueAt: row[1] };
    const [revision, dueAt, body, state] = row;
    const { operationId } = asked[index] as Asked;
    const summary = withBody({ operationId, revision, scope: '', dueAt, lease: null }, body, state);
    return { kind: 'summary', summary };
  });
}
