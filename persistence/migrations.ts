import type { LedgerLayout, MigrationProgress } from '../machines/operation-ledger.ts';
import { LedgerIncompatible } from '../machines/operation-ledger.ts';
import { BEGINNING, indexPage, type Place } from './index-pages.ts';
import { LAYOUT, type PartitionKeys } from './keys.ts';
import { historyOf } from './operation-history.ts';
import { packBatch } from './pack-records.ts';
import { digits, optionalText, pairs, text, texts } from './replies.ts';
import type { Store } from './store.ts';

const BATCH = 50;

/**
 * A numbered step from the layout before it. It goes partition by partition, batch by batch; each batch is one script that
 * compares and sets how far the partition is, so that a killed run is gone on with and two runs do not disturb each other.
 */
interface Migration {
  readonly to: number;
  readonly what: string;
  /** Executors of the release before may run meanwhile, and after it. */
  readonly safeWithOlder: boolean;
  /** The layout counts as reached from the beginning: who does not know it stays out, and nothing is written in it before. */
  readonly bars: boolean;
  /** One batch: everything that belongs to these operations. Answers the progress that holds. */
  batch(store: Store, partition: PartitionKeys, ids: readonly string[], from: string, to: string): Promise<string>;
}

/** All there are, in order. */
const MIGRATIONS: readonly Migration[] = [
  {
    to: 2,
    what: 'an index of what was consumed, so that retention finds what is old',
    // What an older executor has consumed after its partition was done only stays longer: `again` finds it.
    safeWithOlder: true,
    bars: false,
    async batch(store, partition, ids, from, to) {
      const ends = await Promise.all(ids.map((id) => lastChange(store, id)));
      return store.write(text, {
        script: 'index-settled',
        keys: [partition.migration, partition.settled, partition.consumed],
        args: [from, to, ...ids.flatMap((id, i) => [id, ends[i] as string])],
      });
    },
  },
  {
    to: 3,
    what: 'records become one packed text each, with their history and small payloads',
    safeWithOlder: false,
    bars: true,
    batch: packBatch,
  },
];

/** Progress of a partition: `<to>` when it is done, `<to>:<score>:<operation>` on the way. */
const doneWith = ({ to }: Migration): string => String(to);
const onTheWay = ({ to }: Migration, { score, operationId }: Place): string => `${to}:${score}:${operationId}`;

export class Migrations {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async status(): Promise<LedgerLayout> {
    const meta = new Map(
      pairs(await this.#store.read(texts, { script: 'entries', keys: [this.#store.keys.meta], args: [] })),
    );
    const layout = Number(digits.parse(meta.get('layout') ?? '1'));
    const progress = await Promise.all(this.#store.partitions.map((partition) => this.#progress(partition)));
    return {
      layout,
      newest: LAYOUT,
      writes: Number(digits.parse(meta.get('writes') ?? '1')),
      migrations: MIGRATIONS.map((migration): MigrationProgress => {
        const { to, what, safeWithOlder } = migration;
        const partitions = progress.map((at) => stateOf(migration, at, layout));
        return { to, what, safeWithOlder, partitions };
      }),
    };
  }

  /**
   * Brings the ledger to the newest layout. `again`: also through what is done, for what older executors left since.
   * @throws LedgerIncompatible the layout is newer than this release knows
   */
  async migrate(options: { readonly again?: boolean; readonly signal?: AbortSignal }): Promise<LedgerLayout> {
    const { layout } = await this.status();
    refuseNewerLayout(this.#store.namespace, layout);
    for (const migration of MIGRATIONS) {
      if (migration.bars && layout < migration.to) {
        for (const partition of this.#store.partitions) await this.#begin(migration, partition);
        await this.#raise('layout', migration.to);
      }
      for (const partition of this.#store.partitions) {
        const isDone = stateOf(migration, await this.#progress(partition), layout) === 'done';
        if (isDone && options.again !== true) continue;
        if (!(await this.#through(migration, partition, options))) return this.status();
      }
      await this.#raise('layout', migration.to);
    }
    return this.status();
  }

  async writes(): Promise<number> {
    const ask = { script: 'read', keys: [this.#store.keys.meta], args: ['writes'] } as const;
    return Number(digits.parse((await this.#store.read(optionalText, ask)) ?? '1'));
  }

  /** From now on executors write what a reader of this version can read. Never goes back. */
  async raiseWrites(version: number): Promise<number> {
    return this.#raise('writes', version);
  }

  async #raise(name: 'layout' | 'writes', to: number): Promise<number> {
    const ask = { script: 'raise-meta', keys: [this.#store.keys.meta], args: [name, String(to)] } as const;
    return Number(await this.#store.write(digits, ask));
  }

  /** A partition that says nothing of a layout that is reached was made with it: so each says that it is under way. */
  async #begin(migration: Migration, partition: PartitionKeys): Promise<void> {
    const known = await this.#progress(partition);
    if (known.startsWith(String(migration.to))) return;
    await migration.batch(this.#store, partition, [], known, onTheWay(migration, BEGINNING));
  }

  /** `false`: stopped on the way. */
  async #through(
    migration: Migration,
    partition: PartitionKeys,
    { again = false, signal }: { readonly again?: boolean; readonly signal?: AbortSignal },
  ): Promise<boolean> {
    let known = await this.#progress(partition);
    let from = placeOf(migration, known);
    if (from === null) {
      if (!again) return true;
      from = BEGINNING;
    }
    for (;;) {
      if (signal?.aborted) return false;
      const { operationIds, next } = await indexPage(this.#store, partition, from, BATCH);
      const to = next === null ? doneWith(migration) : onTheWay(migration, next);
      known = await migration.batch(this.#store, partition, operationIds, known, to);
      // Whoever else migrates this partition may be further.
      from = placeOf(migration, known);
      if (from === null) return true;
    }
  }

  async #progress({ migration }: PartitionKeys): Promise<string> {
    return (await this.#store.read(optionalText, { script: 'read', keys: [migration], args: ['at'] })) ?? '';
  }
}

export function refuseNewerLayout(namespace: string, layout: number): void {
  if (layout <= LAYOUT) return;
  throw new LedgerIncompatible(
    `the ledger "${namespace}" has layout ${layout}, this version knows up to ${LAYOUT}; it was left untouched. Update this program`,
  );
}

/** Where a partition goes on with a migration, or `null`: it is through. */
function placeOf(migration: Migration, progress: string): Place | null {
  const match = /^(\d+)(?::([^:]+):(.*))?$/.exec(progress);
  if (match === null) return BEGINNING;
  const [, at, score, operationId] = match;
  if (Number(at) !== migration.to) return Number(at) > migration.to ? null : BEGINNING;
  return score === undefined || operationId === undefined ? null : { score, operationId };
}

function stateOf(migration: Migration, progress: string, layout: number): 'waiting' | 'under way' | 'done' {
  // A namespace that was made with this layout has nothing to go through.
  if (progress === '') return layout >= migration.to ? 'done' : 'waiting';
  return placeOf(migration, progress) === null ? 'done' : 'under way';
}

/** When an operation changed for the last time, ms: when it ended, of one that is over. */
async function lastChange(store: Store, operationId: string): Promise<string> {
  const last = (await historyOf(store, operationId, false)).at(-1);
  // Without a history it ages from now on.
  if (last === undefined) return String(Number.MAX_SAFE_INTEGER);
  return String(Math.max(0, Math.round(last.at)));
}
