/**
 * All operations of a ledger in short rows: read page by page in the background, the newest first, and kept up by the ledger's
 * nudges, and by a slow round over everything where a nudge was lost. Answers from the first moment with what it has, and says
 * how much that is. No record is opened again that did not change.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailable, type OperationLedger, type SummaryAnswer } from '../../machines/index.ts';
import { ledgerTrouble } from '../cli/failure.ts';
import type { ListView } from '../view/schema.ts';
import { type ListQuery, pageOf } from './query.ts';
import { Names, rowOf } from './row.ts';
import { Rows } from './rows.ts';

export interface CatalogueOptions {
  /** Records that are read at once: opening them is this process's work, which has to answer in between. */
  readonly pageSize?: number;
  /** More rows are not kept. */
  readonly maxRows?: number;
  /** ms between two rounds over everything. */
  readonly sweepEveryMs?: number;
}

/** Nudges that come together are read together, ms. */
const GATHER_MS = 60;
/** Pages that are under way at once: while one is opened, the ledger looks for the next. */
const LINES = 2;
/** Between two pages, where all are known already, ms. */
const UNHURRIED_MS = 20;
/** The same while somebody comes in, and how long that takes after each request. */
const WAY_MS = 10;
const ENTRY_MS = 60;
/** Between two tries where the ledger is away, ms. */
const AWAY_MS = 1_000;

/** Where a partition is to be read on. */
interface Place {
  readonly partition: number;
  readonly cursor?: string;
}

export class Catalogue {
  readonly #ledger: OperationLedger;
  readonly #rows: Rows;
  readonly #names = new Names();
  readonly #changed = new Set<() => void>();
  readonly #nudged = new Set<string>();
  readonly #stop = new AbortController();
  readonly #pageSize: number;
  readonly #sweepEveryMs: number;
  #filled = false;
  #held: number | null = null;
  #round = 0;
  #enteredAt = Number.NEGATIVE_INFINITY;
  #trouble: string | null = null;
  #gathering: NodeJS.Timeout | undefined;
  #unsubscribe: () => void = () => undefined;
  #work: Promise<unknown> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();

  constructor(ledger: OperationLedger, options: CatalogueOptions = {}) {
    this.#ledger = ledger;
    this.#pageSize = options.pageSize ?? 64;
    this.#rows = new Rows(options.maxRows ?? 250_000);
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
    const page = pageOf(this.#rows, query);
    const { size, full } = this.#rows;
    // It may have grown since it was counted.
    const held = this.#held === null ? null : Math.max(this.#held, size);
    const progress = !this.#filled ? 'filling' : full && held !== size ? 'capped' : 'complete';
    return { now, ...page, operations: size, held, progress, trouble: this.#trouble };
  }

  /** Unchanged polls move the due time and are announced to nobody: what is on a screen is read again. */
  refresh(operationIds: readonly string[]): void {
    for (const operationId of operationIds) {
      const row = this.#rows.get(operationId);
      if (row && row.dueAt !== null) this.#hear(operationId);
    }
  }

  /** Somebody comes in, who is let past the reading. */
  makeWay(): void {
    this.#enteredAt = performance.now();
  }

  async #keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begun = performance.now();
      await this.#goRound(signal);
      this.#filled ||= !signal.aborted;
      this.#tell();
      // What takes long is done seldom: it is for lost nudges only.
      await pause(Math.max(this.#sweepEveryMs, (performance.now() - begun) * 10), signal);
    }
  }

  /** Everything once, a page of each partition in turn; what it did not meet was purged, or is asked for once more. */
  async #goRound(signal: AbortSignal): Promise<void> {
    this.#round += 1;
    const places: Place[] = Array.from({ length: this.#ledger.partitions }, (_, partition) => ({ partition }));
    const line = async () => {
      for (let place = places.shift(); place !== undefined && !signal.aborted; place = places.shift()) {
        const cursor = await this.#readPage(place, signal);
        if (cursor !== null) places.push({ partition: place.partition, cursor });
        this.#tell();
        // Others have their turn: a request that waits is answered before the next page.
        await pause(this.#restMs(), signal);
      }
    };
    await Promise.all([this.#count(signal), ...Array.from({ length: LINES }, line)]);
    if (signal.aborted) return;
    for (const { operationId, round } of this.#rows.values()) if (round < this.#round) this.#hear(operationId);
  }

  #restMs(): number {
    if (this.#filled) return UNHURRIED_MS;
    return performance.now() < this.#enteredAt + ENTRY_MS ? WAY_MS : 0;
  }

  async #count(signal: AbortSignal): Promise<void> {
    this.#held = (await this.#patiently(() => this.#ledger.operationCount(), signal)) ?? this.#held;
    this.#tell();
  }

  async #readPage(place: Place, signal: AbortSignal): Promise<string | null> {
    const limit = this.#pageSize;
    const page = await this.#patiently(() => this.#ledger.newest({ ...place, limit }), signal);
    if (page === null) return null;
    await this.#read(page.operationIds, signal);
    return page.cursor;
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
      const batch = [...this.#nudged].slice(0, this.#pageSize);
      for (const operationId of batch) this.#nudged.delete(operationId);
      await this.#read(batch, signal);
      this.#tell();
    }
  }

  async #read(operationIds: readonly string[], signal: AbortSignal): Promise<void> {
    const asked = operationIds.map((operationId) => ({
      operationId,
      revision: this.#rows.get(operationId)?.revision.toString() ?? null,
    }));
    const answers = await this.#patiently(() => this.#ledger.summaries(asked), signal);
    if (answers === null) return;
    for (const [index, { operationId }] of asked.entries()) this.#take(operationId, answers[index] as SummaryAnswer);
  }

  #take(operationId: string, answer: SummaryAnswer): void {
    if (answer.kind === 'none') this.#rows.remove(operationId);
    // Also an older revision than the one that is known: a ledger that lost steps shows what it has.
    if (answer.kind === 'summary') this.#rows.put(rowOf(answer.summary, this.#names));
    const row = this.#rows.get(operationId);
    if (row === undefined) return;
    row.round = this.#round;
    if (answer.kind === 'known') row.dueAt = answer.dueAt;
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

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
