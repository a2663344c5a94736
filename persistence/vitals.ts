import type { LedgerVitals, UnknownOutcomes } from '../machines/operation-ledger.ts';
import { type Uncertainty, uncertaintyOf } from '../machines/tool-operation/uncertainty.ts';
import type { PartitionKeys } from './keys.ts';
import { flag, loaded, toRecord, vitals } from './replies.ts';
import type { Store } from './store.ts';

/** One look at a partition. */
type Look = LedgerVitals & { readonly oldest: Readonly<Record<Uncertainty, string>> };

/** How many marks of a partition that an older release left behind are cleared away in one look. */
const MAX_CLEARED = 100;

/** What somebody who watches a ledger has to know: one script per partition, and a look at the oldest record that it names. */
export class Vitals {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async read(): Promise<LedgerVitals> {
    const looks = await Promise.all(this.#store.partitions.map((partition) => this.#partition(partition)));
    return {
      open: together(looks.map(({ open }) => open)),
      parked: together(looks.map(({ parked }) => parked)),
      readyAgeMs: Math.max(0, ...looks.map(({ readyAgeMs }) => readyAgeMs)),
    };
  }

  async #partition(partition: PartitionKeys): Promise<LedgerVitals> {
    for (let cleared = 0; ; cleared++) {
      const look = await this.#look(partition);
      if (cleared >= MAX_CLEARED || !(await this.#clear(partition, look))) return look;
    }
  }

  async #look({ unknown, parked, readyQueue, delivering, readyRows }: PartitionKeys): Promise<Look> {
    const keys = [unknown, parked, readyQueue, delivering, readyRows];
    const reply = await this.#store.write(vitals, { script: 'vitals', keys, args: [] });
    const [now, openCount, openId, openSince, parkedCount, parkedId, parkedSince, readySince] = reply;
    const age = (since: number | null) => (since === null ? 0 : Math.max(0, now - since));
    return {
      open: { count: openCount, oldestAgeMs: age(openSince) },
      parked: { count: parkedCount, oldestAgeMs: age(parkedSince) },
      readyAgeMs: age(readySince),
      oldest: { open: openId, parked: parkedId },
    };
  }

  /** `true`: a mark was wrong, look again. */
  async #clear(partition: PartitionKeys, { oldest }: Look): Promise<boolean> {
    for (const kind of ['open', 'parked'] as const) {
      const operationId = oldest[kind];
      if (operationId === '') continue;
      const op = partition.operation(operationId);
      const found = await this.#store.read(loaded, {
        script: 'load',
        keys: [op, partition.tombstones],
        args: [operationId],
      });
      const record = found.length === 0 || found.length === 1 ? null : toRecord(operationId, found);
      if (record !== null && uncertaintyOf(record.state) === kind) continue;
      const keys = [op, partition.unknown, partition.parked];
      const args = [operationId, record?.revision ?? ''];
      if (await this.#store.write(flag, { script: 'certain', keys, args })) return true;
    }
    return false;
  }
}

const together = (all: readonly UnknownOutcomes[]): UnknownOutcomes => ({
  count: all.reduce((sum, { count }) => sum + count, 0),
  oldestAgeMs: Math.max(0, ...all.map(({ oldestAgeMs }) => oldestAgeMs)),
});
