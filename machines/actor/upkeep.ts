/** What an executor looks after now and then: the form of the records that the fleet is to write, and retention. */
import type { z } from 'zod';
import { READER_VERSION } from '../tool-operation/context.ts';
import type { Environment } from './environment.ts';
import { wordsOf } from './log.ts';
import { purge, Retention } from './retention.ts';

/** How often the switch is looked at, ms. An older one is harmless: every executor reads what it makes this one write. */
const LOOK_MS = 60_000;

export interface UpkeepOptions {
  /** Absent: nothing is purged. */
  readonly retention?: z.input<typeof Retention>;
  /** ms between two purges of this executor. Default: an hour. */
  readonly purgeEveryMs?: number;
}

export class Upkeep {
  readonly #stop = new AbortController();
  readonly #retention: Retention | null;
  #writes = 1;
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: UpkeepOptions) {
    this.#retention = options.retention === undefined ? null : Retention.parse(options.retention);
  }

  /** The `minReaderVersion` that this executor writes: what the fleet was set to, as far as this release can. */
  readonly writes = (): number => this.#writes;

  async start(env: Environment): Promise<void> {
    await this.#look(env);
    this.#running = this.#run(env);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #look({ ledger }: Environment): Promise<void> {
    this.#writes = Math.min(await ledger.writes(), READER_VERSION);
  }

  async #run(env: Environment): Promise<void> {
    const everyMs = this.options.purgeEveryMs ?? 3_600_000;
    let purgeAt = env.clock.monotonic() + (this.#retention === null ? Number.POSITIVE_INFINITY : 0);
    while (!this.#stop.signal.aborted) {
      if (env.clock.monotonic() >= purgeAt) {
        await this.#attempt(env, 'purge', () => this.#purge(env));
        purgeAt = env.clock.monotonic() + everyMs;
      }
      await env.clock.sleep(Math.min(LOOK_MS, purgeAt - env.clock.monotonic()), this.#stop.signal);
      if (!this.#stop.signal.aborted) await this.#attempt(env, 'look', () => this.#look(env));
    }
  }

  async #purge(env: Environment): Promise<void> {
    if (this.#retention === null) return;
    const { records, receipts, tombstones } = await purge(env.ledger, this.#retention, { signal: this.#stop.signal });
    if (records.count + receipts.count + tombstones.count === 0) return;
    env.log({
      level: 'info',
      event: 'ledger.purged',
      detail: { records: records.count, receipts: receipts.count, tombstones: tombstones.count },
    });
  }

  /** An absent ledger is no reason to stop: it is tried again at the next turn. */
  async #attempt(env: Environment, what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      env.log({ level: 'warn', event: `upkeep.${what}-failed`, detail: { why: wordsOf(error) } });
    }
  }
}
