import { randomUUID } from 'node:crypto';
import { LedgerRegressed, type OperationLedger, type StoredRecord } from '../machines/operation-ledger.ts';
import type { PartitionKeys } from './keys.ts';
import { claimed, optionalText, pairs, peeked, released, renewed, toRecord } from './replies.ts';
import { wholeMs } from './steps.ts';
import type { Store } from './store.ts';

type ClaimAsk = Parameters<OperationLedger['claimDue']>[0];
type ClaimAnswer = Awaited<ReturnType<OperationLedger['claimDue']>>;

/** The due records of one scope in one partition. */
interface Queue {
  readonly partition: PartitionKeys;
  readonly scope: string;
  /** Rows that this call cannot have and that its next look skips. */
  skip: number;
}

interface Row {
  readonly queue: Queue;
  readonly position: number;
  readonly operationId: string;
  readonly dueAt: number;
}

/** Claiming what is due, and holding it. */
export class Leases {
  readonly #store: Store;
  #turn = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async claimDue(ask: ClaimAsk): Promise<ClaimAnswer> {
    const records: StoredRecord[] = [];
    const regressed = new Map<string, LedgerRegressed>();
    let nextDueAt = Number.POSITIVE_INFINITY;
    let epochOver: number | undefined;
    const askAgainAt = (at: number): void => {
      nextDueAt = Math.min(nextDueAt, at);
    };

    let queues = this.#queues(ask.scopes);
    while (queues.length > 0) {
      const window = ask.limit + 1;
      const { now, rows } = await this.#peek(queues, window);
      for (const row of rows) if (row.dueAt > now) askAgainAt(row.dueAt);

      // The first row of every queue, then the second of every queue, ...: no partition waits for another.
      const due = rows.filter((row) => row.dueAt <= now).sort((a, b) => a.position - b.position);
      const maybeMore = queues.filter((queue) => due.filter((row) => row.queue === queue).length === window);

      while (due.length > 0 && records.length < ask.limit) {
        const batch = due.splice(0, ask.limit - records.length);
        for (const [row, answer] of await Promise.all(batch.map((row) => this.#claim(row, ask)))) {
          if (answer instanceof LedgerRegressed) regressed.set(answer.partition, answer);
          else if (answer[0] === 'claimed') {
            const record = toRecord(row.operationId, answer[1]);
            records.push(record);
            if (record.lease) askAgainAt(record.lease.until);
          } else if (answer[0] === 'epoch-over') {
            epochOver = answer[1];
          } else {
            row.queue.skip += 1;
            if (answer[0] === 'held') askAgainAt(answer[1]);
          }
        }
      }
      // Whoever is told so in one partition gets nothing in any other for long.
      if (epochOver !== undefined) return { claimed: records, nextDueAt: null, epochOver };
      if (records.length >= ask.limit) {
        if (due.length > 0 || maybeMore.length > 0) askAgainAt(now);
        break;
      }
      queues = maybeMore.filter(({ partition }) => !regressed.has(partition.name));
    }
    return {
      claimed: records,
      nextDueAt: Number.isFinite(nextDueAt) ? nextDueAt : null,
      ...(regressed.size > 0 ? { regressed: [...regressed.values()] } : {}),
    };
  }

  async renew(...[operationId, owner, epoch, ms]: Parameters<OperationLedger['renewLease']>) {
    const keys = await this.#leaseKeys(operationId);
    if (keys === null) return null;
    const args = [operationId, owner, epoch, wholeMs(ms)];
    const [kind, until, revision] = await this.#store.write(renewed, { script: 'renew', keys, args });
    return kind === 'lost' ? null : { until, revision };
  }

  async release(
    ...[operationId, owner, epoch, dueAt, revision]: Parameters<OperationLedger['releaseLease']>
  ): Promise<void> {
    const keys = await this.#leaseKeys(operationId);
    if (keys === null) return;
    const args = [operationId, owner, epoch, dueAt === null ? '' : wholeMs(dueAt), revision];
    await this.#store.write(released, { script: 'release', keys, args });
  }

  #queues(scopes: readonly string[]): Queue[] {
    const { partitions } = this.#store;
    const first = this.#turn++ % partitions.length;
    return [...partitions.slice(first), ...partitions.slice(0, first)].flatMap((partition) =>
      scopes.map((scope) => ({ partition, scope, skip: 0 })),
    );
  }

  async #peek(queues: readonly Queue[], window: number): Promise<{ now: number; rows: Row[] }> {
    const answers = await Promise.all(
      queues.map(async (queue) => {
        const keys = [queue.partition.due(queue.scope)];
        const args = [String(queue.skip), String(window)];
        const [now, list] = await this.#store.read(peeked, { script: 'peek', keys, args });
        const rows = pairs(list).map(
          ([operationId, score], position): Row => ({ queue, position, operationId, dueAt: Number(score) }),
        );
        return { now, rows };
      }),
    );
    // Every queue is judged by the earliest clock: at worst a row is looked at once more.
    return { now: Math.min(...answers.map(({ now }) => now)), rows: answers.flatMap(({ rows }) => rows) };
  }

  async #claim(row: Row, ask: ClaimAsk) {
    const { queue, operationId } = row;
    const answer = await this.#store
      .write(claimed, {
        script: 'claim',
        keys: [queue.partition.operation(operationId), queue.partition.due(queue.scope), queue.partition.switches],
        args: [operationId, randomUUID(), ask.owner, wholeMs(ask.leaseMs), String(ask.executionEpoch)],
        history: { partition: queue.partition },
      })
      .catch(orRegressed);
    return [row, answer] as const;
  }

  /** A lease's owner knows the operation, the keys need its scope too; that never changes. */
  async #leaseKeys(operationId: string): Promise<string[] | null> {
    const partition = this.#store.partitionOf(operationId);
    const op = partition.operation(operationId);
    const scope = await this.#store.write(optionalText, { script: 'read', keys: [op], args: ['scope'] });
    return scope === null ? null : [op, partition.due(scope)];
  }
}

/** One partition whose history went backwards does not keep the others waiting. */
export function orRegressed(error: unknown): LedgerRegressed {
  if (error instanceof LedgerRegressed) return error;
  throw error;
}
