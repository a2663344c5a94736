/** Waiting operations that are written by the ledger's own steps, as the executor writes them. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { HistoryEntry, OperationLedger, Step, StoredRecord } from '../../../machines/index.ts';
import { acceptFieldsOf } from '../../../machines/tool-operation/guards.ts';
import { readSnapshot } from '../../../machines/tool-operation/snapshot.ts';

export interface Sample {
  readonly record: StoredRecord;
  readonly request: string;
  readonly history: readonly HistoryEntry[];
}

/** An operation that an executor wrote and left waiting. */
export async function sampleOf(ledger: OperationLedger, operationId: string): Promise<Sample> {
  const record = await ledger.load(operationId);
  if (record === null) throw new Error(`there is no operation ${operationId} to write others after`);
  const { context } = readSnapshot(operationId, record.snapshot);
  const request = await ledger.readPayload(operationId, context.requestDigest);
  if (request === null) throw new Error(`the request of ${operationId} is gone`);
  return { record, request, history: await ledger.readHistory(operationId) };
}

/** Writes another one after the sample: the same steps, other names of the same length. Answers its id. */
export async function writeAlike(
  ledger: OperationLedger,
  sample: Sample,
  nth: number,
  dueAt: number | null = sample.record.dueAt,
): Promise<string> {
  const { record, history, request } = sample;
  const { context } = readSnapshot(record.operationId, record.snapshot);
  const { namespace, principal, callNodeId: sampleNode } = context;
  const callNodeId = String(nth).padStart(sampleNode.length, 'n');
  const operationId = ledger.operationIdOf({ namespace, principal, callNodeId });
  const submissionKey = randomBytes(32).toString('hex');
  const taskId = submissionKey.slice(0, context.taskId?.length ?? 0);
  const names: readonly (readonly [string | null, string])[] = [
    [record.operationId, operationId],
    [sampleNode, callNodeId],
    [context.submissionKey, submissionKey],
    [context.taskId, taskId],
    [context.sender, randomUUID()],
  ];
  const snapshot = names.reduce((text, [old, name]) => (old ? text.replaceAll(old, name) : text), record.snapshot);
  const owner = history[0]?.executor ?? '';
  const process = randomUUID();
  const step = (revision: number): Step => ({
    operationId,
    commandId: `${process}:${nth}${revision}`,
    snapshot,
    state: record.state,
    fields: acceptFieldsOf({ ...context, callNodeId, taskId }),
    scope: record.scope,
    dueAt,
    payloads: revision === 1 ? [{ digest: context.requestDigest, text: request }] : [],
    history: history[revision - 1] ?? null,
  });
  const created = await ledger.create(step(1), { owner, ms: 60_000 });
  if (created.kind !== 'created') throw new Error(`the operation of ${callNodeId} was ${created.kind}`);
  await ledger.ownTask(context.endpoint.id, taskId, operationId);
  const last = Number(record.revision);
  for (let revision = 2; revision <= last; revision++) {
    const committed = await ledger.commit({
      ...step(revision),
      expectedRevision: String(revision - 1),
      leaseOwner: owner,
      releaseLease: revision === last,
    });
    if (committed.kind !== 'committed') throw new Error(`a step of ${callNodeId} was answered with ${committed.kind}`);
  }
  return operationId;
}

/** A step that changes nothing but the time of the last change, which is answered. */
export async function touch(ledger: OperationLedger, operationId: string): Promise<number> {
  const record = await ledger.load(operationId);
  if (record === null) throw new Error(`there is no operation ${operationId} to change`);
  const { context } = readSnapshot(operationId, record.snapshot);
  const updatedAt = await ledger.now();
  const committed = await ledger.commit({
    operationId,
    commandId: randomUUID(),
    snapshot: record.snapshot.replace(`"updatedAt":${context.updatedAt}`, `"updatedAt":${updatedAt}`),
    state: record.state,
    fields: acceptFieldsOf(context),
    scope: record.scope,
    dueAt: record.dueAt,
    payloads: [],
    history: null,
    expectedRevision: record.revision,
  });
  if (committed.kind !== 'committed') throw new Error(`a change of ${operationId} was answered with ${committed.kind}`);
  return updatedAt;
}

/** Bytes of every key that carries the id of an operation. */
export async function bytesOf(redis: Redis, operationId: string): Promise<Readonly<Record<string, number>>> {
  const bytes: Record<string, number> = {};
  for await (const keys of redis.scanStream({ match: `*${operationId}*`, count: 1_000 })) {
    for (const key of keys as string[]) {
      const kind = key.replace(operationId, '').replace(/^.*\}:/, '');
      bytes[kind] = Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
    }
  }
  return bytes;
}
