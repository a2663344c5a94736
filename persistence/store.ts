import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import type { z } from 'zod';
import { LedgerIncompatible, LedgerRegressed, LedgerUnavailable } from '../machines/operation-ledger.ts';
import type { SeenHistory } from './history.ts';
import { Keys, LAYOUT, PACKED_LAYOUT, type PartitionKeys } from './keys.ts';
import type { Stored } from './packing.ts';
import { digits, optionalText } from './replies.ts';
import type { ScriptHost } from './script-host.ts';
import type { ScriptName } from './scripts.ts';

export interface StoreOptions {
  readonly namespace: string;
  /** The namespace that keeps what is known of servers; default: the same. */
  readonly servers?: string;
  /** The clock of a test; without it the store's own is used. */
  readonly now?: () => number;
  /** How long a step is sent again before its outcome is reported as unknown. */
  readonly definiteWithinMs: number;
  /** The layout as it was found; default: the newest. */
  readonly layout?: number;
  /** What was seen of the partitions' histories, outside of the store. */
  readonly seen: SeenHistory;
}

/** A script with its keys and arguments (without the first, the clock). */
export interface Ask {
  readonly script: ScriptName;
  readonly keys: readonly string[];
  readonly args: readonly Stored[];
  readonly nudge?: string;
  /** The step must not be forgotten by a failover: `ScriptHost.run`. */
  readonly confirm?: boolean;
  /** Of the scripts of the history: whose, and what to do with a record of an older one (default: refuse). */
  readonly history?: { readonly partition: PartitionKeys; readonly how?: 'keep' | 'adopt' };
}

/** What all verbs share: the partitions, the clock, and sending a script until its answer is definite. */
export class Store {
  readonly namespace: string;
  readonly keys: Keys;
  readonly partitions: readonly PartitionKeys[];
  readonly #host: ScriptHost;
  readonly #options: StoreOptions;
  #layout: number;
  readonly #closing = new AbortController();

  constructor(host: ScriptHost, partitions: number, options: StoreOptions) {
    this.namespace = options.namespace;
    this.keys = new Keys(options.namespace, options.servers);
    this.partitions = Array.from({ length: partitions }, (_, partition) => this.keys.partition(partition));
    this.#host = host;
    this.#options = options;
    this.#layout = options.layout ?? LAYOUT;
    // One signal for all steps that are being sent again.
    setMaxListeners(0, this.#closing.signal);
  }

  /** The number of the partition that an operation's id names; `null`: it names none of this ledger. */
  partitionNumberOf(operationId: string): number | null {
    const digits = /^p(\d{2,})\.[0-9a-f]{64}$/.exec(operationId)?.[1];
    const partition = Number(digits ?? Number.NaN);
    return partition < this.partitions.length ? partition : null;
  }

  partition(number: number): PartitionKeys {
    const keys = this.partitions[number];
    if (keys === undefined) throw new RangeError(`this ledger has no partition ${number}`);
    return keys;
  }

  /** The keys of the partition that an operation's id names. */
  partitionOf(operationId: string): PartitionKeys {
    const keys = this.partitions[this.partitionNumberOf(operationId) ?? -1];
    if (keys === undefined) {
      throw new RangeError(
        `"${operationId.slice(0, 100)}" is no operation of this ledger (namespace "${this.namespace}", ${this.partitions.length} partitions)`,
      );
    }
    return keys;
  }

  /**
   * Before a record is written, which executors of the release before could not read.
   * @throws LedgerIncompatible the ledger has a layout that they go on with
   */
  async refuseOlderLayout(): Promise<void> {
    if (this.#layout >= PACKED_LAYOUT) return;
    const ask = { script: 'read', keys: [this.keys.meta], args: ['layout'] } as const;
    this.#layout = Number(digits.parse((await this.write(optionalText, ask)) ?? '1'));
    if (this.#layout >= PACKED_LAYOUT) return;
    throw new LedgerIncompatible(
      `the ledger "${this.namespace}" has layout ${this.#layout}, this version writes layout ${PACKED_LAYOUT}; it was left untouched. Stop the executors of the release before, then: toolop migrate`,
    );
  }

  /** Runs a reading script once: who asks will ask again. */
  async read<T extends z.ZodType>(schema: T, ask: Ask): Promise<z.output<T>> {
    const { now, seen } = this.#options;
    const { history } = ask;
    const partition = history?.partition;
    const answer = await this.#host.run(
      ask.script,
      partition ? [...ask.keys, partition.mark] : ask.keys,
      [
        now ? String(now()) : '',
        ...ask.args,
        ...(partition ? [history?.how ?? '', ...seen.argumentsFor(partition.name)] : []),
      ],
      ask.nudge,
      ask.confirm,
    );
    const reply = partition ? seen.take(partition.name, answer) : answer;
    const parsed = schema.safeParse(reply);
    if (!parsed.success) throw new Error(`the script ${ask.script} gave an unknown answer: ${parsed.error.message}`);
    return parsed.data;
  }

  /** Runs a writing script until the answer is definite; the same command id makes a repetition answer alike. */
  async write<T extends z.ZodType>(schema: T, ask: Ask): Promise<z.output<T>> {
    try {
      return await this.read(schema, ask);
    } catch (error) {
      if (!mayBeSentAgain(error)) throw error;
      return this.#writeAgain(schema, ask, error);
    }
  }

  #writeAgain<T extends z.ZodType>(schema: T, ask: Ask, problem: unknown): Promise<z.output<T>> {
    // The attempt that was made counts as the first.
    return pRetry((attempt) => (attempt === 1 ? Promise.reject(problem) : this.read(schema, ask)), {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: this.#options.definiteWithinMs,
      minTimeout: 25,
      maxTimeout: 1000,
      randomize: true,
      signal: this.#closing.signal,
      shouldRetry: ({ error }) => mayBeSentAgain(error),
    });
  }

  get seen(): SeenHistory {
    return this.#options.seen;
  }

  subscribe(listener: (operationId: string) => void): () => void {
    return this.#host.subscribe(listener);
  }

  durability(): ReturnType<ScriptHost['durability']> {
    return this.#host.durability();
  }

  async close(): Promise<void> {
    this.#closing.abort(new LedgerUnavailable('the ledger was closed; the outcome of what was under way is unknown'));
    this.#options.seen.close();
    await this.#host.close();
  }
}

const mayBeSentAgain = (error: unknown): boolean =>
  error instanceof LedgerUnavailable && !(error instanceof LedgerRegressed);
