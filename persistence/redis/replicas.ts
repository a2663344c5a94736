import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import { z } from 'zod';
import { LedgerUnavailable } from '../../machines/operation-ledger.ts';
import type { Stored } from '../packing.ts';
import { loadScripts, type ScriptName } from '../scripts.ts';
import type { RedisClient } from './client.ts';

/** How many replicas must have a step that must not be forgotten; `auto`: one, where the primary has any. */
export type WaitForReplicas = 'auto' | 'none' | number;

/** How long one step waits for them, ms. Afterwards its outcome is unknown, and it is sent again. */
const CONFIRM_MS = 500;
/** How long a primary without replicas is believed to have none, ms. */
const BELIEVED_MS = 1_000;

const CUT_SHORT = new Error('the pipeline was cut short');

interface Job {
  readonly script: ScriptName;
  readonly keys: readonly string[];
  readonly args: readonly Stored[];
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** What goes to one primary together: the steps of one hash tag on a cluster, all of them elsewhere. */
interface Group {
  readonly queue: Job[];
  sending: boolean;
  /** Its primary has replicas, and a step waits for one of them. */
  confirms: boolean;
  /** When the primary was seen without replicas. */
  aloneAt: number;
}

interface Options {
  readonly where: string;
  readonly wanted: WaitForReplicas;
  readonly commandTimeoutMs: number;
  readonly isCluster: boolean;
  /** For steps that need no confirmation, and for looking. */
  readonly client: RedisClient;
  /** A second connection: waiting for a replica stops everything behind it on the same one. */
  readonly open: () => RedisClient;
}

/**
 * Sends steps that an asynchronous failover must not forget, and waits until a replica has them: script and WAIT in one
 * round trip, several steps under one WAIT. It improves what a failover can lose; only the history mark detects what it did.
 */
export class Replicas {
  readonly #options: Options;
  readonly #groups = new Map<string, Group>();
  /** Histories (replication ids) that had a replica once: whoever lost it is waited for, an isolated primary in vain. */
  readonly #replicated = new Set<string>();
  readonly #shas = new Map<ScriptName, string>();
  #lane: RedisClient | undefined;

  constructor(options: Options) {
    this.#options = options;
    for (const { name, text } of loadScripts().values()) {
      this.#shas.set(name, createHash('sha1').update(text).digest('hex'));
    }
  }

  /** Runs a step until enough replicas have it. Rejects with what Redis said, or with `LedgerUnavailable`. */
  run(
    script: ScriptName,
    keys: readonly string[],
    args: readonly Stored[],
    plainly: () => Promise<unknown>,
  ): Promise<unknown> {
    const { wanted } = this.#options;
    if (wanted === 'none' || wanted === 0) return plainly();
    const group = this.#groupOf(keys[0] ?? '');
    if (wanted === 'auto' && !group.confirms) {
      if (performance.now() - group.aloneAt < BELIEVED_MS) return plainly();
      return this.#look(group, script, keys, args);
    }
    return this.#enqueue(group, script, keys, args);
  }

  close(): void {
    this.#lane?.disconnect();
  }

  /** Sends the step and asks its primary about replicas; if it has any, the step is sent once more, to be confirmed. */
  async #look(group: Group, script: ScriptName, keys: readonly string[], args: readonly Stored[]): Promise<unknown> {
    const { client, isCluster } = this.#options;
    const results = await this.#exec(client, [{ script, keys, args }], (pipeline) => {
      pipeline.info('replication');
      if (isCluster) pipeline.call('CLUSTER', 'KEYSLOT', keys[0] ?? '').call('CLUSTER', 'SLOTS');
    });
    const reply = answerIn(results[0]);
    const { history, replicas } = replicationOf(String(answerIn(results[1])));
    if (replicas > 0) this.#replicated.add(history);
    // One whose link is down is not connected, and may take over all the same.
    const isBacked = isCluster && hasReplica(results[2]?.[1], results[3]?.[1]);
    if (!isBacked && !this.#replicated.has(history)) {
      group.aloneAt = performance.now();
      return reply;
    }
    group.confirms = true;
    return this.#enqueue(group, script, keys, args);
  }

  #enqueue(group: Group, script: ScriptName, keys: readonly string[], args: readonly Stored[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      group.queue.push({ script, keys, args, resolve, reject });
      if (!group.sending) void this.#drain(group);
    });
  }

  async #drain(group: Group): Promise<void> {
    group.sending = true;
    while (group.queue.length > 0) {
      const jobs = group.queue.splice(0);
      try {
        await this.#confirm(group, jobs);
      } catch (error) {
        this.#lookAgain(group);
        for (const job of jobs) job.reject(error);
      }
    }
    group.sending = false;
  }

  async #confirm(group: Group, jobs: readonly Job[]): Promise<void> {
    const { wanted, commandTimeoutMs, where } = this.#options;
    const enough = wanted === 'auto' ? 1 : Number(wanted);
    const withinMs = Math.min(CONFIRM_MS, Math.floor(commandTimeoutMs / 2));
    this.#lane ??= this.#options.open();
    const results = await this.#exec(this.#lane, jobs, (pipeline) => pipeline.wait(enough, withinMs));
    // A primary that became a replica meanwhile refuses to wait: nobody has confirmed anything.
    const [refused, count] = results[jobs.length] ?? [CUT_SHORT, null];
    const confirmed = refused ? 0 : Number(count);
    if (confirmed < enough) this.#lookAgain(group);
    for (const [index, job] of jobs.entries()) {
      const [error, reply] = results[index] ?? [CUT_SHORT, null];
      if (error) job.reject(error);
      else if (confirmed >= enough) job.resolve(reply);
      else job.reject(unconfirmed(where, confirmed, enough, withinMs));
    }
  }

  /** One round trip. A server that does not know a script yet is told all of it. */
  async #exec(
    client: RedisClient,
    calls: readonly Pick<Job, 'script' | 'keys' | 'args'>[],
    last: (pipeline: ReturnType<RedisClient['pipeline']>) => unknown,
  ): Promise<[Error | null, unknown][]> {
    const send = async (whole: boolean) => {
      const pipeline = client.pipeline();
      for (const { script, keys, args } of calls) {
        if (whole)
          pipeline.callBuffer('eval', [loadScripts().get(script)?.text ?? '', String(keys.length), ...keys, ...args]);
        else pipeline.callBuffer('evalsha', [this.#shas.get(script) ?? '', String(keys.length), ...keys, ...args]);
      }
      last(pipeline);
      return (await pipeline.exec()) ?? [];
    };
    const results = await send(false);
    // A pipeline that ends with WAIT is not sent on to another node by itself: the next attempt finds it.
    if (client instanceof Cluster && results.some(([error]) => error?.message.startsWith('MOVED'))) {
      client.refreshSlotsCache();
    }
    return results.some(([error]) => error?.message.startsWith('NOSCRIPT')) ? send(true) : results;
  }

  /** The next step asks again who is primary there and whether it has replicas. */
  #lookAgain(group: Group): void {
    group.confirms = false;
    group.aloneAt = Number.NEGATIVE_INFINITY;
  }

  #groupOf(key: string): Group {
    const name = this.#options.isCluster ? (/\{([^}]+)\}/.exec(key)?.[1] ?? key) : '';
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const group: Group = { queue: [], sending: false, confirms: false, aloneAt: Number.NEGATIVE_INFINITY };
    this.#groups.set(name, group);
    return group;
  }
}

export function replicationOf(info: string): { readonly history: string; readonly replicas: number } {
  const field = (name: string): string => new RegExp(`^${name}:([^\\r\\n]*)`, 'm').exec(info)?.[1] ?? '';
  return { history: field('master_replid'), replicas: Number(field('connected_slaves')) };
}

const Slot = z.coerce.number();
const Ranges = z.array(z.tuple([z.number(), z.number(), z.unknown()]).rest(z.unknown()));

/** Does the cluster know of a replica, neither failed nor empty, for this slot? Answers of `CLUSTER KEYSLOT` and `CLUSTER SLOTS`. */
function hasReplica(keySlot: unknown, slots: unknown): boolean {
  const slot = Slot.safeParse(keySlot).data ?? Number.NaN;
  const range = Ranges.safeParse(slots).data?.find(([first, last]) => first <= slot && slot <= last);
  return range !== undefined && range.length > 3;
}

function answerIn(result: [Error | null, unknown] | undefined): unknown {
  const [error, value] = result ?? [CUT_SHORT, null];
  if (error) throw error;
  return value;
}

function unconfirmed(where: string, confirmed: number, enough: number, withinMs: number): LedgerUnavailable {
  return new LedgerUnavailable(
    `Redis at ${where} took the step, but ${confirmed} of ${enough} replicas confirmed it within ${withinMs} ms: a failover could forget it, ` +
      'so its outcome counts as unknown; it can safely be sent again. Bring the replicas back, or set waitForReplicas.',
  );
}
