import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { LedgerUnavailable } from '../../machines/operation-ledger.ts';
import type { Stored } from '../packing.ts';
import { type Durability, type ScriptHost, textOf } from '../script-host.ts';
import { loadScripts, type ScriptName } from '../scripts.ts';
import { parseRedisAddress, publicAddress, type RedisAddress } from './address.ts';
import { connectTo, type RedisClient } from './client.ts';
import { redisDurability } from './durability.ts';
import { unavailable } from './errors.ts';
import { Replicas, type WaitForReplicas } from './replicas.ts';

/** How long a server may take to say goodbye, ms. */
const FAREWELL_MS = 1_000;

/** Between nudges that are published together. */
const SEPARATOR = ',';

type Command = (numberOfKeys: number, ...keysAndArgs: Stored[]) => Promise<unknown>;

export interface RedisHostOptions {
  /** One server, a cluster, or Sentinels: `address.ts`. */
  readonly url: string;
  /** The Pub/Sub channel of the nudges. */
  readonly channel: string;
  /** How long one attempt may take before its outcome counts as unknown. */
  readonly commandTimeoutMs: number;
  /** Default: `auto`. */
  readonly waitForReplicas?: WaitForReplicas;
}

/**
 * Runs the scripts on Redis. One connection (to each node, on a cluster) carries all of them; nudges arrive on a second one,
 * and what waits for a replica has a third.
 */
export class RedisHost implements ScriptHost {
  readonly #options: RedisHostOptions;
  readonly #where: string;
  readonly #address: RedisAddress;
  readonly #client: RedisClient;
  readonly #replicas: Replicas;
  readonly #commands = new Map<ScriptName, Command>();
  readonly #listeners = new Set<(operationId: string) => void>();
  readonly #pending = new Set<(error: Error) => void>();
  #stopListening: (() => void) | undefined;
  readonly #nudges: string[] = [];
  #lastProblem: Error | undefined;

  constructor(options: RedisHostOptions) {
    this.#options = options;
    this.#address = parseRedisAddress(options.url);
    this.#where = publicAddress(options.url);
    this.#client = this.#connect();
    for (const { name, text } of loadScripts().values()) {
      const command = `toolop_${name}`;
      this.#client.defineCommand(command, { lua: text });
      this.#commands.set(name, Reflect.get(this.#client, `${command}Buffer`).bind(this.#client));
    }
    this.#replicas = new Replicas({
      where: this.#where,
      wanted: options.waitForReplicas ?? 'auto',
      commandTimeoutMs: options.commandTimeoutMs,
      isCluster: this.#address.kind === 'cluster',
      client: this.#client,
      open: () => this.#connect(),
    });
  }

  async run(
    script: ScriptName,
    keys: readonly string[],
    args: readonly Stored[],
    nudge?: string,
    confirm = false,
  ): Promise<unknown> {
    const plainly = () => (this.#commands.get(script) as Command)(keys.length, ...keys, ...args);
    try {
      const reply = await this.#settled(confirm ? this.#replicas.run(script, keys, args, plainly) : plainly());
      if (nudge !== undefined) this.#announce(nudge);
      return textsOf(reply);
    } catch (error) {
      throw unavailable(error, this.#where, this.#lastProblem);
    }
  }

  /** What is to be announced in one turn of the event loop goes together. */
  #announce(nudge: string): void {
    this.#nudges.push(nudge);
    if (this.#nudges.length === 1) setImmediate(() => this.#publish());
  }

  #publish(): void {
    const nudges = this.#nudges.splice(0);
    if (nudges.length > 0) this.#client.publish(this.#options.channel, nudges.join(SEPARATOR)).catch(lossy);
  }

  subscribe(listener: (operationId: string) => void): () => void {
    this.#listeners.add(listener);
    this.#stopListening ??= this.#listen();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stopListening?.();
      this.#stopListening = undefined;
    };
  }

  async durability(): Promise<Durability> {
    try {
      return await this.#settled(
        redisDurability(this.#client, this.#address, this.#where, this.#options.waitForReplicas ?? 'auto'),
      );
    } catch (error) {
      throw unavailable(error, this.#where, this.#lastProblem);
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#replicas.close();
    this.#publish();
    // Whoever is not connected has nothing to wait for, and a server that is silent is not waited for.
    if (this.#client.status === 'ready')
      await Promise.race([this.#client.quit().catch(lossy), delay(FAREWELL_MS, undefined, { ref: false })]);
    this.#client.disconnect();
    for (const reject of this.#pending) reject(new Error('the connection was closed'));
  }

  #connect(): RedisClient {
    const client = connectTo(this.#address, { commandTimeoutMs: this.#options.commandTimeoutMs, givesUp: true });
    const note = (error: Error) => {
      this.#lastProblem = error;
    };
    const forget = () => {
      this.#lastProblem = undefined;
    };
    if (client instanceof Redis) client.on('error', note).on('ready', forget);
    else client.on('error', lossy).on('node error', note).on('refresh', forget);
    return client;
  }

  /**
   * Settles at `close` too, and after a while: a command that waits for a reconnection is not told by `disconnect`, and one
   * that waits for a cluster to be complete is told by nobody.
   */
  #settled<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const limitMs = this.#options.commandTimeoutMs * 2;
      const timer =
        this.#address.kind === 'single'
          ? undefined
          : setTimeout(() => reject(new LedgerUnavailable(this.#silence(limitMs))), limitMs);
      this.#pending.add(reject);
      answer
        .finally(() => {
          clearTimeout(timer);
          this.#pending.delete(reject);
        })
        .then(resolve, reject);
    });
  }

  #silence(limitMs: number): string {
    const why = this.#lastProblem === undefined ? '' : ` (${this.#lastProblem.message})`;
    return `Redis at ${this.#where} did not answer within ${limitMs} ms${why}; whether the step was taken is unknown. Check its nodes; the step can safely be sent again.`;
  }

  /** On a cluster every node passes announcements on to all others, and ioredis keeps a connection for them already. */
  #listen(): () => void {
    const { channel, commandTimeoutMs } = this.#options;
    const heard = (_channel: string, nudges: string) => {
      for (const nudge of nudges.split(SEPARATOR)) {
        for (const listener of this.#listeners) listener(nudge);
      }
    };
    if (this.#address.kind === 'cluster') {
      const client = this.#client;
      client.on('message', heard);
      client.subscribe(channel).catch(lossy);
      return () => {
        client.off('message', heard);
        client.unsubscribe(channel).catch(lossy);
      };
    }
    const subscriber = connectTo(this.#address, { commandTimeoutMs, givesUp: false });
    // On every connection anew: a subscription that failed once is not taken up again by itself.
    const subscribe = () => void subscriber.subscribe(channel).catch(lossy);
    subscriber.on('error', lossy).on('message', heard).on('ready', subscribe);
    return () => subscriber.disconnect();
  }
}

/** Replies come as bytes, since some of them are no texts. */
function textsOf(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return textOf(reply);
  return Array.isArray(reply) ? reply.map(textsOf) : reply;
}

/** Nudges may get lost: the poll is the truth. */
function lossy(): void {}
