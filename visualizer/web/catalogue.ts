/**
 * All operations of a ledger in short rows: read page by page in the background, and kept up by the ledger's nudges, and
 * by a slow sweep where a nudge was lost. Answers from the first moment with what it has, and says how much that is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailable, type OperationLedger } from '../../machines/index.ts';
import { ledgerTrouble } from '../cli/failure.ts';
import type { ListView } from '../view/schema.ts';
import { type ListQuery, pageOf } from './query.ts';
import { Names, type Row, rowOf } from './row.ts';

export interface CatalogueOptions {
  /** Records that are read at once: a file is read by this process itself, which has to answer in between. */
  readonly pageSize?: number;
  /** More rows are not kept. */
  readonly maxRows?: number;
  /** ms between two sweeps over everything. */
  readonly sweepEveryMs?: number;
}

/** Nudges that come together are read together, ms. */
const GATHER_MS = 60;
/** How many records are read at once after nudges. */
const BATCH = 100;
/** Between two tries where the ledger is away, ms. */
const AWAY_MS = 1_000;

export class Catalogue {
  readonly #ledger: OperationLedger;
  readonly #rows = new Map<string, Row>();
  readonly #names = new Names();
  readonly #changed = new Set<() => void>();
  readonly #nudged = new Set<string>();
  readonly #stop = new AbortController();
  readonly #pageSize: number;
  readonly #maxRows: number;
  readonly #sweepEveryMs: number;
  #ordered: readonly Row[] | null = null;
  #progress: ListView['progress'] = 'filling';
  #trouble: string | null = null;
  #gathering: NodeJS.Timeout | undefined;
  #unsubscribe: () => void = () => undefined;
  #work: Promise<unknown> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();

  constructor(ledger: OperationLedger, options: CatalogueOptions = {}) {
    this.#ledger = ledger;
    this.#pageSize = options.pageSize ?? 50;
    this.#maxRows = options.maxRows ?? 250_000;
    this.#sweepEveryMs = options.sweepEveryMs ?? 60_000;
  }

  start(): this {
    // First: what changes while the ledger is read is not missed.
    this.#unsubscribe = this.#ledger.onChange((operationId) => this.#hear(operationId));
    this.#work = this.#keep(this.#stop.signal);
    return this;
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    clearTimeout(this.#gathering);
    await Promise.all([this.#work, this.#reading]);
  }

  /** Told, without hurry, that a page may look otherwise now. Returns the unsubscribe. */
  onChange(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }

  page(query: ListQuery, now: number): ListView {
    this.#ordered ??= [...this.#rows.values()].sort(latestFirst);
    return {
      now,
      ...pageOf(this.#ordered, query),
      operations: this.#rows.size,
      progress: this.#progress,
      trouble: this.#trouble,
    };
  }

  /** Unchanged polls move the due time and are announced to nobody: what is on a screen is read again. */
  refresh(operationIds: readonly string[]): void {
    for (const operationId of operationIds) {
      const row = this.#rows.get(operationId);
      if (row && row.dueAt !== null) this.#hear(operationId);
    }
  }

  async #keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begun = performance.now();
      await this.#sweep(signal);
      if (this.#progress === 'filling') this.#progress = 'complete';
      this.#tell();
      // What takes long is done seldom: it is for lost nudges only.
      await pause(Math.max(this.#sweepEveryMs, (performance.now() - begun) * 10), signal);
    }
  }

  /** Everything once: what was purged since the last time goes. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    const before = new Set(this.#rows.keys());
    let cursor: string | undefined;
    do {
      const page = await this.#patiently(
        () => this.#ledger.list({ limit: this.#pageSize, ...(cursor === undefined ? {} : { cursor }) }),
        signal,
      );
      if (page === null) return;
      for (const summary of page.operations) {
        seen.add(summary.operationId);
        this.#take(rowOf(summary, this.#names));
      }
      cursor = page.cursor ?? undefined;
      this.#tell();
      // Others have their turn: a request that waits is answered before the next page.
      await pause(this.#progress === 'filling' ? 0 : 20, signal);
    } while (cursor !== undefined && !signal.aborted);
    if (signal.aborted) return;
    for (const operationId of before) if (!seen.has(operationId)) this.#forget(operationId);
  }

  #hear(operationId: string): void {
    // Not of the ledger: the news that an epoch was raised.
    if (this.#ledger.partitionOf(operationId) === null) return;
    this.#nudged.add(operationId);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#reading = this.#reading.then(() => this.#readNudged(this.#stop.signal));
    }, GATHER_MS);
  }

  async #readNudged(signal: AbortSignal): Promise<void> {
    while (this.#nudged.size > 0 && !signal.aborted) {
      const batch = [...this.#nudged].slice(0, BATCH);
      for (const operationId of batch) this.#nudged.delete(operationId);
      const records = await this.#patiently(() => Promise.all(batch.map((id) => this.#ledger.load(id))), signal);
      if (records === null) return;
      for (const [index, record] of records.entries()) {
        if (record) this.#take(rowOf(record, this.#names));
        else this.#forget(batch[index] as string);
      }
      this.#tell();
    }
  }

  #take(row: Row): void {
    const known = this.#rows.get(row.operationId);
    if (known && known.revision >= row.revision && known.dueAt === row.dueAt) return;
    if (!known && this.#rows.size >= this.#maxRows) {
      this.#progress = 'capped';
      return;
    }
    this.#rows.set(row.operationId, row);
    this.#ordered = null;
  }

  #forget(operationId: string): void {
    if (this.#rows.delete(operationId)) this.#ordered = null;
  }

  #tell(): void {
    for (const listener of this.#changed) listener();
  }

  /** Reads until the ledger answers. `null`: it is over. */
  async #patiently<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    while (!signal.aborted) {
      try {
        const answer = await read();
        this.#say(null);
        return answer;
      } catch (error) {
        this.#say(error instanceof LedgerUnavailable ? ledgerTrouble(error) : String(error));
        await pause(AWAY_MS, signal);
      }
    }
    return null;
  }

  #say(trouble: string | null): void {
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    this.#tell();
  }
}

const latestFirst = (a: Row, b: Row): number =>
  b.updatedAt - a.updatedAt || (a.operationId < b.operationId ? -1 : a.operationId > b.operationId ? 1 : 0);

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
