import { z } from 'zod';
import type { PurgeAsk, PurgeReport } from '../machines/operation-ledger.ts';
import type { PartitionKeys } from './keys.ts';
import { counted, digits, texts, whyItStays } from './replies.ts';
import { wholeMs } from './steps.ts';
import type { Store } from './store.ts';

/** How many operations one script purges: a partition stands still for as long. */
const BATCH = 50;

type Kept = PurgeReport['staying'];
interface Tally {
  count: number;
  bytes: number;
}

/**
 * Purging what is old, batch by batch: records become tombstones, then receipts go, then tombstones. Each script checks for
 * itself, so that a run may end anywhere and another one go on, also at the same time.
 */
export class Retention {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async purge(ask: PurgeAsk): Promise<PurgeReport> {
    const { policy, dryRun = false, signal } = ask;
    const look = dryRun ? '1' : '';
    const records = { count: 0, bytes: 0 };
    const receipts = { count: 0, bytes: 0 };
    const tombstones = { count: 0, bytes: 0 };
    const staying = { open: 0, unconsumed: 0, unreceipted: 0 };
    let outbox = 0;
    for (const partition of this.#store.partitions) {
      // From the last stage to the first: what is dry counts the same as what is not.
      if (policy.tombstonesMs !== null) {
        const keys = [partition.gone, partition.tombstones];
        await this.#stage('purge-tombstones', keys, policy.tombstonesMs, look, tombstones, signal);
      }
      if (policy.receiptsMs !== null) {
        const keys = [partition.kept, partition.gone, partition.receipts, partition.consumed, partition.tombstones];
        await this.#stage('purge-receipts', keys, policy.receiptsMs, look, receipts, signal);
      }
      if (policy.recordsMs !== null) await this.#records(partition, policy.recordsMs, look, records, staying, signal);
      const sizes = await this.#store.read(z.tuple([digits]), {
        script: 'sizes',
        keys: [partition.readyQueue],
        args: [],
      });
      outbox += Number(sizes[0]);
    }
    return { dryRun, records, receipts, tombstones, staying, outbox, complete: signal?.aborted !== true };
  }

  async #records(
    partition: PartitionKeys,
    ageMs: number,
    look: string,
    tally: Tally,
    staying: { -readonly [reason in keyof Kept]: number },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let skipped = 0; signal?.aborted !== true; ) {
      const ids = await this.#store.read(texts, {
        script: 'aged',
        keys: [partition.settled],
        args: [wholeMs(ageMs), String(skipped), String(BATCH)],
      });
      if (ids.length === 0) return;
      const said = await this.#store.write(whyItStays, {
        script: 'purge-records',
        keys: [
          ...[partition.operations, partition.settled, partition.kept, partition.receipts],
          ...[partition.readyRows, partition.consumed, partition.tombstones],
          ...ids.flatMap((id) => [partition.operation(id), partition.history(id), partition.payloads(id)]),
        ],
        args: [wholeMs(ageMs), look, ...ids],
      });
      for (const word of said) {
        if (typeof word === 'number') {
          tally.count += 1;
          tally.bytes += word;
          if (look !== '') skipped += 1;
        } else if (word !== 'young') {
          staying[word] += 1;
          skipped += 1;
        }
      }
    }
  }

  async #stage(
    script: 'purge-receipts' | 'purge-tombstones',
    keys: readonly string[],
    ageMs: number,
    look: string,
    tally: Tally,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let offset = 0; signal?.aborted !== true; ) {
      const args = [wholeMs(ageMs), look, String(offset), String(BATCH)];
      const [count, bytes] = await this.#store.write(counted, { script, keys, args });
      tally.count += count;
      tally.bytes += bytes;
      if (count < BATCH) return;
      if (look !== '') offset += count;
    }
  }
}
