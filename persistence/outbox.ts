import { randomUUID } from 'node:crypto';
import { LedgerRegressed, type OperationLedger, type ReadyRow } from '../machines/operation-ledger.ts';
import { Gathered } from './gathered.ts';
import type { PartitionKeys } from './keys.ts';
import { orRegressed } from './leases.ts';
import { flags, pairs, peeked, texts } from './replies.ts';
import { wholeMs } from './steps.ts';
import type { Store } from './store.ts';

/** Handing terminal receipts to their consumers, each once. */
export class Outbox {
  readonly #store: Store;
  #turn = 0;
  readonly #acks = new Gathered<ReadyRow, boolean>();

  constructor(store: Store) {
    this.#store = store;
  }

  async lease(...[consumer, limit, leaseMs, where]: Parameters<OperationLedger['leaseReady']>): Promise<ReadyRow[]> {
    const rows: ReadyRow[] = [];
    for (const partition of where?.map((one) => this.#store.partition(one)) ?? (await this.#partitionsWithWork())) {
      if (rows.length >= limit) break;
      const token = randomUUID();
      const leased = await this.#store
        .write(texts, {
          script: 'lease-ready',
          keys: [
            partition.readyRows,
            partition.readyQueue,
            partition.readyLeases,
            partition.consumers,
            partition.receipts,
            partition.delivering,
          ],
          args: [token, consumer, String(limit - rows.length), wholeMs(leaseMs)],
          history: { partition },
        })
        .catch(orRegressed);
      if (leased instanceof LedgerRegressed) continue;
      rows.push(...pairs(leased).map(([operationId, receipt]) => ({ operationId, receipt, token })));
    }
    return rows;
  }

  ack(row: ReadyRow, consumer: string): Promise<boolean> {
    const partition = this.#store.partitionOf(row.operationId);
    return this.#acks.ask(`${partition.name} ${consumer}`, row, (rows) => this.#ackAll(partition, rows, consumer));
  }

  #ackAll(partition: PartitionKeys, rows: readonly ReadyRow[], consumer: string): Promise<readonly boolean[]> {
    return this.#store.write(flags, {
      script: 'ack-ready',
      keys: [
        partition.readyRows,
        partition.readyQueue,
        partition.readyLeases,
        partition.consumed,
        partition.settled,
        partition.delivering,
      ],
      args: [consumer, ...rows.flatMap(({ operationId, token }) => [operationId, token])],
      history: { partition },
    });
  }

  /** Begins with another partition each time, so that none waits for the others. */
  async #partitionsWithWork(): Promise<PartitionKeys[]> {
    const { partitions } = this.#store;
    const first = this.#turn++ % partitions.length;
    const order = [...partitions.slice(first), ...partitions.slice(0, first)];
    const waiting = await Promise.all(
      order.map(async ({ readyQueue }) => {
        const ask = { script: 'peek', keys: [readyQueue], args: ['0', '1'] } as const;
        const [now, rows] = await this.#store.read(peeked, ask);
        return Number(rows[1] ?? Number.POSITIVE_INFINITY) <= now;
      }),
    );
    return order.filter((_, i) => waiting[i]);
  }
}
