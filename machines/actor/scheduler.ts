/**
 * Claims what is due and can be served here, in batches, and drives each operation while something is due.
 * Waiting costs a row in the ledger: no timer and no actor per waiting operation. Each partition is looked at when
 * something is due there, as far as that is known: from the last look, and from nudges (`spread.ts` says who is first).
 */
import { setMaxListeners } from 'node:events';
import type { LedgerRegressed, LiveProcess, StoredRecord } from '../operation-ledger.ts';
import { EPOCH_RAISED, LedgerIncompatible, LedgerUnavailable } from '../operation-ledger.ts';
import { Agenda } from './agenda.ts';
import { FAULT_MS, OperationDrive } from './drive.ts';
import type { Environment } from './environment.ts';
import { wordsOf } from './log.ts';
import { reclaimOwn } from './reclaim.ts';
import { Spread } from './spread.ts';
import type { Opened } from './store.ts';
import { EpochIsOver } from './tenure.ts';

/** A partition that others look after is looked at without a reason so many times less often than an own one. */
const RARELY = 6;
/** Every so many signs of life it is asked who died unheard of. */
const SWEEP_EVERY = 6;
/** So many records are claimed at once at most. */
const AT_ONCE = 64;
/** Shortest pause between two looks, ms: what becomes due together is claimed together. */
const GATHER_MS = 20;
const HOUSEKEEPING_MS = 5_000;
const RETRY_MS = 500;

export interface SchedulerOptions {
  readonly env: Environment;
  readonly processId: string;
  /** Operations driven at the same time. */
  readonly concurrency: number;
  /** How long a process counts as alive after its last sign of life, ms. */
  readonly processTimeoutMs: number;
  /** Longest time between two looks at a partition of one's own, ms: what a lost nudge costs at most. */
  readonly lookEveryMs: number;
  /** How long something has to be due before another executor than the first in line takes it, ms. */
  readonly graceMs: number;
}

/** What the creator of an operation knows of it without reading. */
export interface Made extends Omit<Opened, 'record'> {
  /** The call, as the ledger keeps it. */
  readonly requestText: string;
}

export class Scheduler {
  readonly #env: Environment;
  readonly #drives = new Map<string, { readonly drive: OperationDrive; readonly ended: Promise<void> }>();
  /** Claimed once more while their drive was leaving: driven again after it. */
  readonly #again = new Set<string>();
  /** Nothing is claimed any more, and the drives end: at a stop, and when the epoch is over. */
  readonly #ending = new AbortController();
  /** The loops end, too. */
  readonly #stop = new AbortController();
  readonly #agenda: Agenda;
  readonly #spread: Spread;
  /** Partitions in which something waits that only this process can serve. */
  readonly #keeps = new Set<number>();
  /** Scopes of processes that died and left something behind. */
  #dead: readonly string[] = [];
  #nudge = new AbortController();
  /** Ledger time until which nobody wakes it. */
  #restsUntil = 0;
  #loops: Promise<void>[] = [];
  /** Partitions whose history went backwards, as far as it was told. */
  readonly #regressed = new Set<number>();
  #unsubscribe: (() => void) | null = null;

  constructor(private readonly options: SchedulerOptions) {
    const { ledger } = options.env;
    this.#env = options.env;
    this.#agenda = new Agenda(ledger.partitions);
    this.#spread = new Spread(options.processId, ledger.partitions, options.graceMs);
    // One signal for all drives: many listeners are meant.
    setMaxListeners(0, this.#ending.signal);
    this.#ending.signal.addEventListener('abort', () => this.#nudge.abort(), { once: true });
    const { over } = this.#env.tenure;
    over.addEventListener('abort', () => void this.#leave(over.reason as EpochIsOver), { once: true });
  }

  /** @param alive whose signs of life are known */
  start(alive: readonly LiveProcess[]): void {
    this.#spread.update(alive);
    this.#unsubscribe = this.#env.store.onForeignChange((operationId) => this.changed(operationId));
    this.#loops = [this.#claimLoop(), this.#housekeeping()];
  }

  /** Stops claiming, ends the waiting for answers (nothing is cancelled), gives leases back. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#stop.abort();
    this.#unsubscribe?.();
    await Promise.all(this.#loops);
    await Promise.all([...this.#drives.values()].map(({ ended }) => ended));
  }

  /**
   * R3: the epoch is over, and this executor has nothing to do here any more. The answer to a call that it sent is waited for
   * and told, and so long it counts as alive; all leases are given back.
   */
  async #leave({ message, current }: EpochIsOver): Promise<void> {
    const { env, processId } = this.options;
    const drives = this.#drives.size;
    env.log({ level: 'warn', event: 'epoch.over', detail: { why: message, current, drives } });
    this.#ending.abort();
    await Promise.all([...this.#drives.values()].map(({ ended }) => ended));
    this.#stop.abort();
    this.#unsubscribe?.();
    await Promise.all(this.#loops);
    // What only this process could serve is somebody else's to park, now.
    await env.ledger.heartbeat(processId, 1, []).catch(() => undefined);
  }

  /** Looks at the whole ledger now. */
  nudge(): void {
    this.#agenda.expectAll(0);
    this.#nudge.abort();
  }

  /** This operation may be due, by a step of this process or of another one. */
  changed(operationId: string): void {
    if (operationId === EPOCH_RAISED) void this.#env.tenure.look().catch(() => undefined);
    this.#drives.get(operationId)?.drive.wake();
    this.#expect(operationId, this.#env.time.now());
  }

  /** This operation waits for nobody else. */
  keep({ operationId, scope }: Pick<StoredRecord, 'operationId' | 'scope'>): void {
    const partition = this.#env.ledger.partitionOf(operationId);
    if (partition !== null && scope === `process:${this.options.processId}`) this.#keeps.add(partition);
  }

  /** Something of this operation is due from this time on: look in time. */
  #expect(operationId: string, dueAt: number | null): void {
    const partition = this.#env.ledger.partitionOf(operationId);
    if (partition === null || dueAt === null) return;
    this.#expectAt(partition, dueAt + this.#patienceMs(partition));
  }

  #expectAt(partition: number, at: number): void {
    this.#agenda.expect(partition, at);
    if (at < this.#restsUntil) this.#nudge.abort();
  }

  /** How long what is due in a partition may wait before this process has to look; infinite: others serve all of it. */
  #patienceMs(partition: number): number {
    if (this.#keeps.has(partition)) return 0;
    const scopes = this.#env.connections.scopes().filter((scope) => !scope.startsWith('process:'));
    return Math.min(...scopes.map((scope) => this.#spread.patienceMs(partition, scope)));
  }

  /** Operations in hand. */
  get driven(): number {
    return this.#drives.size;
  }

  get #isFull(): boolean {
    return this.#drives.size >= this.options.concurrency;
  }

  /** Drives a record whose lease this executor holds already. `made`: by its creator, who knows what is in it. */
  take(record: StoredRecord, askedAt: number, made?: Made): void {
    this.keep(record);
    const running = this.#drives.get(record.operationId);
    if (running) {
      this.#again.add(record.operationId);
      running.drive.wake();
      return;
    }
    const { env } = this.options;
    let drive: OperationDrive;
    try {
      // Its command may have been repeated, and the record have gone on since.
      const known = made !== undefined && record.revision === '1' ? { record, ...made } : env.store.open(record);
      drive = new OperationDrive(env, known, askedAt, this.#ending.signal, made?.requestText ?? null);
    } catch (error) {
      this.#unreadable(record, error);
      return;
    }
    const ended = drive
      .run()
      .catch((error: unknown) => this.#fault(record, error))
      .finally(() => {
        if (this.#isFull) this.#nudge.abort();
        this.#drives.delete(record.operationId);
        if (this.#again.delete(record.operationId)) return this.#takeCurrent(record.operationId);
        this.#expect(record.operationId, drive.context.dueAt);
      });
    this.#drives.set(record.operationId, { drive, ended });
  }

  /** The lease may still be ours: drive what the ledger holds now, or leave it to the next claim. */
  async #takeCurrent(operationId: string): Promise<void> {
    const { env } = this.options;
    const askedAt = env.clock.monotonic();
    const current = await env.ledger.load(operationId).catch(() => null);
    if (current?.lease?.owner !== env.executorId || this.#ending.signal.aborted) return;
    const renewed = await env.ledger
      .renewLease(operationId, env.executorId, current.lease.epoch, env.leaseMs)
      .catch(() => null);
    if (renewed !== null) this.take(current, askedAt);
  }

  async #claimLoop(): Promise<void> {
    const { env } = this.options;
    let away = false;
    while (!this.#ending.signal.aborted) {
      try {
        await env.time.sync();
        if (!this.#isFull) await this.#look();
        if (away) env.log({ level: 'info', event: 'ledger.back' });
        away = false;
      } catch (error) {
        if (!away) env.log({ level: 'error', event: 'ledger.away', detail: { why: wordsOf(error) } });
        away = true;
      }
      await this.#rest(away);
    }
  }

  /** Claims in the partitions whose time has come. */
  async #look(): Promise<void> {
    const { env, concurrency, lookEveryMs } = this.options;
    const now = env.time.now();
    const partitions = this.#agenda.take(
      now,
      (partition) => now + (this.#patienceMs(partition) === 0 ? lookEveryMs : RARELY * lookEveryMs),
    );
    if (partitions.length === 0) return;
    const askedAt = env.clock.monotonic();
    try {
      const {
        claimed,
        now: dueBy,
        nextDue,
        regressed,
        epochOver,
      } = await env.ledger.claimDue({
        owner: env.executorId,
        scopes: [...env.connections.scopes(), ...this.#dead],
        limit: Math.min(AT_ONCE, concurrency - this.#drives.size),
        leaseMs: env.leaseMs,
        executionEpoch: env.executionEpoch,
        partitions,
        overdueMs: (partition, scope) => this.#spread.patienceMs(partition, scope),
      });
      env.time.atLeast(dueBy);
      for (const [partition, at] of nextDue) this.#agenda.expect(partition, at);
      for (const record of claimed) this.take(record, askedAt);
      this.#tellRegressed(partitions, regressed);
      if (epochOver !== undefined) env.tenure.end(epochOver);
    } catch (error) {
      for (const partition of partitions) this.#agenda.expect(partition, now);
      throw error;
    }
  }

  /** Once for each: an operator has to look, and nothing of that partition is driven until then. */
  #tellRegressed(asked: readonly number[], regressed: ReadonlyMap<number, LedgerRegressed>): void {
    for (const partition of asked) {
      const problem = regressed.get(partition);
      if (problem === undefined) this.#regressed.delete(partition);
      else if (!this.#regressed.has(partition)) {
        this.#regressed.add(partition);
        const detail = { partition: problem.partition, why: problem.message };
        this.#env.log({ level: 'error', event: 'ledger.regressed', detail });
      }
    }
  }

  /** Until something is expected to be due, or has room. */
  async #rest(away: boolean): Promise<void> {
    const { clock, time } = this.#env;
    this.#restsUntil = 0;
    await clock.sleep(away ? RETRY_MS : GATHER_MS, this.#ending.signal);
    while (!this.#ending.signal.aborted && !away) {
      this.#nudge = new AbortController();
      this.#restsUntil = this.#isFull ? Number.POSITIVE_INFINITY : this.#agenda.next;
      const ms = this.#restsUntil - time.now();
      if (ms <= 0) return;
      // Its end nudges it: a signal made of both each time would be kept by the one that lasts (Node 20 forgets none).
      await clock.sleep(ms, this.#nudge.signal);
    }
  }

  /** Signs of life of this process, and operations whose process gave none for too long. */
  async #housekeeping(): Promise<void> {
    const { env, processId, processTimeoutMs } = this.options;
    let heardAt = env.clock.monotonic();
    for (let round = 0; !this.#stop.signal.aborted; round++) {
      try {
        const { changed, gone } = this.#spread.update(await this.giveSignOfLife());
        // What is ours from now on is looked at now.
        if (changed) this.nudge();
        const silentMs = env.clock.monotonic() - heardAt;
        heardAt = env.clock.monotonic();
        if (await env.tenure.look()) {
          if (silentMs > processTimeoutMs) await reclaimOwn(env, processId);
          if (gone || this.#dead.length > 0 || round === 0) await this.#sweep(() => true);
          else if (round % SWEEP_EVERY === 0) await this.#sweep((partition) => this.#spread.isFirst(partition));
        }
      } catch (error) {
        env.log({ level: 'debug', event: 'housekeeping.failed', detail: { why: wordsOf(error) } });
      }
      await env.clock.sleep(Math.min(HOUSEKEEPING_MS, processTimeoutMs / 3), this.#stop.signal);
    }
  }

  /** Says that this process lives and whom it serves. Answers who else does. */
  giveSignOfLife(): Promise<readonly LiveProcess[]> {
    const { env, processId, processTimeoutMs } = this.options;
    const scopes = env.connections.scopes().filter((scope) => !scope.startsWith('process:'));
    return env.ledger.heartbeat(processId, processTimeoutMs, scopes);
  }

  /** Who died and left something behind: also processes that this one never heard of. */
  async #sweep(where: (partition: number) => boolean): Promise<void> {
    const { ledger } = this.#env;
    const before = this.#dead;
    this.#dead = await ledger.deadScopes([...Array(ledger.partitions).keys()].filter(where));
    if (this.#dead.some((scope) => !before.includes(scope))) this.nudge();
  }

  /** A drive that ended by an error has given its lease back, for later. */
  #fault(record: StoredRecord, error: unknown): void {
    const { env } = this.options;
    if (error instanceof EpochIsOver) {
      env.tenure.end(error.current);
      return;
    }
    const known = error instanceof LedgerUnavailable || error instanceof LedgerIncompatible;
    env.log({
      level: 'error',
      event: known ? 'drive.stopped' : 'drive.failed',
      operationId: record.operationId,
      detail: { why: wordsOf(error) },
    });
  }

  /** A record that this version cannot read is left alone, for an executor that can. */
  #unreadable(record: StoredRecord, error: unknown): void {
    const { env } = this.options;
    this.#fault(record, error);
    if (record.lease === null) return;
    const later = env.time.now() + FAULT_MS;
    void env.ledger
      .releaseLease(record.operationId, env.executorId, record.lease.epoch, later, record.revision)
      .catch(() => undefined);
  }
}
