import type { z } from 'zod';
import { sha256 } from '../machines/digest.ts';
import type { AuditFinding, LedgerKind } from '../machines/operation-ledger.ts';
import { indexPages } from './index-pages.ts';
import { KIND_SWITCH, type PartitionKeys, partitionName } from './keys.ts';
import { audited, optionalText, texts } from './replies.ts';
import type { Store } from './store.ts';

const PAGE = 200;

/**
 * Walks receipts, ready rows, consumed marks, records and tombstones of every partition: one-to-one, or a finding. In a ledger of shadows
 * receipts and records are one-to-one, and anything else is a finding (R1).
 */
export async function audit(store: Store, kind: LedgerKind): Promise<readonly AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for (const [index, partition] of store.partitions.entries()) {
    const marked = await store.read(optionalText, { script: 'read', keys: [partition.switches], args: [KIND_SWITCH] });
    if ((marked ?? 'operations') !== kind) {
      const problem = `the partition is marked for ${marked ?? 'operations'}, its ledger is for ${kind}`;
      findings.push({ operationId: partitionName(index), problem });
    }
    const seen = new Set<string>();
    for await (const page of indexPages(store, partition, PAGE)) {
      for (const operationId of page) seen.add(operationId);
      findings.push(...(await examine(store, kind, partition, page)));
    }
    // What the index of operations does not know must not be known elsewhere.
    const { receipts, readyRows, consumed, tombstones, readyQueue } = partition;
    const keys = [readyQueue, receipts, readyRows, consumed, tombstones];
    const known = new Set(await store.read(texts, { script: 'accepted', keys, args: [] }));
    const others = [...known].filter((operationId) => !seen.has(operationId));
    for (let i = 0; i < others.length; i += PAGE) {
      findings.push(...(await examine(store, kind, partition, others.slice(i, i + PAGE))));
    }
  }
  return findings;
}

async function examine(
  store: Store,
  kind: LedgerKind,
  partition: PartitionKeys,
  page: readonly string[],
): Promise<AuditFinding[]> {
  const { receipts, readyRows, readyQueue, consumed, tombstones } = partition;
  const rows = await store.read(audited, {
    script: 'audit',
    keys: [receipts, readyRows, readyQueue, consumed, tombstones, ...page.map((id) => partition.operation(id))],
    args: page,
  });
  return rows.flatMap((row, i) => {
    const operationId = page[i] as string;
    return problemsOf(row, kind).map((problem) => ({ operationId, problem }));
  });
}

type AuditRow = z.output<typeof audited>[number];

function problemsOf([receiptId, receipt, ready, queued, consumed, tombstone]: AuditRow, kind: LedgerKind): string[] {
  const problems: string[] = [];
  const report = (wrong: boolean, problem: string): void => {
    if (wrong) problems.push(problem);
  };
  const digest = receipt === null ? null : sha256(receipt);
  const mark = consumed?.slice(0, 64);

  report((receiptId ?? '') !== '' && receipt === null, `the record names the receipt ${receiptId}, which is gone`);
  report(tombstone !== null && receiptId !== null, 'a record of something that was purged');
  report(tombstone?.receiptPurgedAt === null && receipt === null, 'a purged record whose receipt is gone');
  report(
    tombstone !== null && receipt !== null && tombstone.receiptDigest !== digest,
    'a purged record of another receipt',
  );
  report(receipt !== null && receiptId === null && tombstone === null, 'a receipt without a record');
  report(receipt !== null && receiptId === '', 'a receipt that its record does not know');
  if (kind === 'shadow') {
    report(ready !== null || queued === '1', 'a shadow that waits to be consumed');
    report(consumed !== null, 'a shadow that was consumed');
    return problems;
  }
  report(
    receipt !== null && ready === null && consumed === null,
    'a receipt with neither a ready row nor a consumed mark',
  );
  report(ready !== null && consumed !== null, 'a ready row of something already consumed');
  report(ready !== null && receipt === null, 'a ready row without a receipt');
  report(consumed !== null && receipt === null, 'a consumed mark without a receipt');
  report(ready !== null && receipt !== null && ready !== digest, 'a ready row of another receipt');
  report(consumed !== null && receipt !== null && mark !== digest, 'another receipt was consumed');
  report(ready !== null && queued === '', 'a ready row that no consumer can lease');
  report(ready === null && queued === '1', 'a place in the ready queue without a ready row');
  return problems;
}
