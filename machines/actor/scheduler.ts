/**
 * Claims what is due and can be served here, in batches, and drives each operation while something is due.
 * Waiting costs a row in the ledger: no timer and no actor per waiting operation.
 */
import { setMaxListeners } from 'node:events';
import type { StoredRecord } from '../operation-ledger.ts';
import { EPOCH_RAISED, LedgerIncompatible, type LedgerRegressed, LedgerUnavailable } from '../operation-ledger.ts';
import { FAULT_MS, OperationDrive } from './drive.ts';
import type { Environment } from './environment.ts';
import { reclaimOwn } from './reclaim.ts';
import { EpochIsOver } from './tenure.ts';

/** Longest sleep between two looks at the ledger, ms: a nudge shortens it, a lost nudge costs at most this. */
const IDLE_MS = 1_000;
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
  #nudge = new AbortController();
  /** Ledger time of the next look, as far as it is known here. */
  #wakeAt = 0;
  #loops: Promise<void>[] = [];
  /** Partitions whose history went backwards, as far as it was told. */
  #regressed: ReadonlySet<string> = new Set();
  #unsubscribe: (() => void) | null = null;

  constructor(private readonly options: SchedulerOptions) {
    this.#env = options.env;
    // One signal for all drives: many listeners are meant.
    setMaxListeners(0, this.#ending.signal);
    const { over } = this.#env.tenure;
    over.addEventListener('abort', () => void this.#leave(over.reason as EpochIsOver), { once: true });
  }

  start(): void {
    this.#unsubscribe = this.#env.store.onForeignChange((operationId) => this.#changed(operationId));
    this.#loops = [this.#claimLoop(), this.#housekeeping()];
  }

  /** Stops claiming, ends the waiting for answers (nothing is cancelled), gives leases back. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#stop.abort();
    this.#nudge.abort();
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
    await env.ledger.heartbeat(processId, 1).catch(() => undefined);
  }

  /** Looks at the ledger now. */
  nudge(): void {
    this.#expect(0);
  }

  /** Something will be due at this time: look then at the latest. */
  #expect(at: number | null): void {
    if (at === null || at >= this.#wakeAt) return;
    this.#wakeAt = at;
    this.#nudge.abort();
  }

  /** Drives a record whose lease this executor holds already (the creator's). */
  take(record: StoredRecord, askedAt: number): void {
    const running = this.#drives.get(record.operationId);
    if (running) {
      this.#again.add(record.operationId);
      running.drive.wake();
      return;
    }
    const { env } = this.options;
    let drive: OperationDrive;
    try {
      drive = new OperationDrive(env, record, askedAt, this.#ending.signal);
    } catch (error) {
      this.#unreadable(record, error);
      return;
    }
    const ended = drive
      .run()
      .catch((error: unknown) => this.#fault(record, error))
      .finally(() => {
        this.#drives.delete(record.operationId);
        if (this.#again.delete(record.operationId)) return this.#takeCurrent(record.operationId);
        this.#expect(this.#drives.size + 1 >= this.options.concurrency ? 0 : drive.context.dueAt);
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

  #changed(operationId: string): void {
    const running = this.#drives.get(operationId);
    if (running) running.drive.wake();
    if (operationId === EPOCH_RAISED) void this.#env.tenure.look().catch(() => undefined);
    this.nudge();
  }

  async #claimLoop(): Promise<void> {
    const { env, concurrency } = this.options;
    let away = false;
    while (!this.#ending.signal.aborted) {
      let sleepMs = IDLE_MS;
      this.#wakeAt = Number.POSITIVE_INFINITY;
      try {
        await env.time.sync();
        const limit = Math.min(64, concurrency - this.#drives.size);
        if (limit > 0) {
          const askedAt = env.clock.monotonic();
          const { claimed, nextDueAt, epochOver, regressed } = await env.ledger.claimDue({
            owner: env.executorId,
            scopes: env.connections.scopes(),
            limit,
            leaseMs: env.leaseMs,
            executionEpoch: env.executionEpoch,
          });
          for (const record of claimed) this.take(record, askedAt);
          if (epochOver !== undefined) env.tenure.end(epochOver);
          this.#tellRegressed(regressed ?? []);
          this.#expect(claimed.length === limit ? 0 : nextDueAt);
        }
        if (away) env.log({ level: 'info', event: 'ledger.back' });
        away = false;
      } catch (error) {
        if (!away) env.log({ level: 'error', event: 'ledger.away', detail: { why: (error as Error).message } });
        away = true;
        sleepMs = RETRY_MS;
      }
      await this.#rest(sleepMs, away);
    }
  }

  /** Once for each: an operator has to look, and nothing of that partition is driven until then. */
  #tellRegressed(regressed: readonly LedgerRegressed[]): void {
    for (const { partition, message } of regressed) {
      if (this.#regressed.has(partition)) continue;
      this.#env.log({ level: 'error', event: 'ledger.regressed', detail: { partition, why: message } });
    }
    this.#regressed = new Set(regressed.map(({ partition }) => partition));
  }

  /** Until something is expected to be due, or for `longestMs`. */
  async #rest(longestMs: number, away: boolean): Promise<void> {
    const { clock, time } = this.#env;
    const end = clock.monotonic() + longestMs;
    await clock.sleep(away ? longestMs : GATHER_MS, this.#ending.signal);
    while (!this.#ending.signal.aborted && !away) {
      this.#nudge = new AbortController();
      const ms = Math.min(end - clock.monotonic(), this.#wakeAt - time.now());
      if (ms <= 0) return;
      await clock.sleep(ms, AbortSignal.any([this.#ending.signal, this.#nudge.signal]));
    }
  }

  /** Signs of life of this process, and operations whose process gave none for too long. */
  async #housekeeping(): Promise<void> {
    const { env, processId, processTimeoutMs } = this.options;
    let heardAt = env.clock.monotonic();
    while (!this.#stop.signal.aborted) {
      try {
        await env.ledger.heartbeat(processId, processTimeoutMs);
        const silentMs = env.clock.monotonic() - heardAt;
        heardAt = env.clock.monotonic();
        if (await env.tenure.look()) {
          if (silentMs > processTimeoutMs) await reclaimOwn(env, processId);
          await this.#takeFromDead();
        }
      } catch (error) {
        env.log({ level: 'debug', event: 'housekeeping.failed', detail: { why: (error as Error).message } });
      }
      await env.clock.sleep(Math.min(HOUSEKEEPING_MS, processTimeoutMs / 3), this.#stop.signal);
    }
  }

  async #takeFromDead(): Promise<void> {
    const { env } = this.options;
    const dead = await env.ledger.deadScopes();
    if (dead.length === 0 || this.#ending.signal.aborted) return;
    const askedAt = env.clock.monotonic();
    const { claimed } = await env.ledger.claimDue({
      owner: env.executorId,
      scopes: dead,
      limit: 64,
      leaseMs: env.leaseMs,
      executionEpoch: env.executionEpoch,
    });
    for (const record of claimed) this.take(record, askedAt);
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
      detail: { why: error instanceof Error ? error.message : String(error) },
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
