import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Durability, ScriptHost } from '../script-host.ts';
import { loadScripts, type ScriptName } from '../scripts.ts';
import { redisDurability } from './durability.ts';
import { unavailable } from './errors.ts';

/** How long a server may take to say goodbye, ms. */
const FAREWELL_MS = 1_000;

type Command = (numberOfKeys: number, ...keysAndArgs: string[]) => Promise<unknown>;

export interface RedisHostOptions {
  /** `redis://` or `rediss://`, with user and password where needed. */
  readonly url: string;
  /** The Pub/Sub channel of the nudges. */
  readonly channel: string;
  /** How long one attempt may take before its outcome counts as unknown. */
  readonly commandTimeoutMs: number;
}

/** Runs the scripts on a Redis server. One socket carries all of them; nudges arrive on a second one. */
export class RedisHost implements ScriptHost {
  readonly #options: RedisHostOptions;
  readonly #where: string;
  readonly #redis: Redis;
  readonly #commands = new Map<ScriptName, Command>();
  readonly #listeners = new Set<(operationId: string) => void>();
  readonly #pending = new Set<(error: Error) => void>();
  #subscriber: Redis | undefined;
  #lastProblem: Error | undefined;

  constructor(options: RedisHostOptions) {
    this.#options = options;
    this.#where = withoutPassword(options.url);
    this.#redis = new Redis(options.url, {
      // 6.0.0 decodes some large RESP3 numbers wrongly.
      protocol: 2,
      // A dead server is reported by the next attempt, not by silence; a script is safe to send again.
      maxRetriesPerRequest: 1,
      commandTimeout: options.commandTimeoutMs,
      // A command timeout keeps the socket: only this ends a half-open one.
      socketTimeout: options.commandTimeoutMs * 3,
      connectTimeout: options.commandTimeoutMs,
      keepAlive: 10_000,
      enableReadyCheck: true,
      retryStrategy: reconnectDelay,
      // After a failover the old address may answer as a replica: look again who is primary.
      reconnectOnError: (error) => /^(READONLY|NOREPLICAS|LOADING|MASTERDOWN)/.test(error.message),
    });
    this.#redis.on('error', (error) => {
      this.#lastProblem = error;
    });
    this.#redis.on('ready', () => {
      this.#lastProblem = undefined;
    });
    for (const { name, text } of loadScripts().values()) {
      const command = `toolop_${name}`;
      this.#redis.defineCommand(command, { lua: text });
      this.#commands.set(name, Reflect.get(this.#redis, command).bind(this.#redis));
    }
  }

  async run(script: ScriptName, keys: readonly string[], args: readonly string[], nudge?: string): Promise<unknown> {
    try {
      const reply = await this.#send(script, keys, args);
      if (nudge !== undefined) this.#redis.publish(this.#options.channel, nudge).catch(lossy);
      return reply;
    } catch (error) {
      throw unavailable(error, this.#where, this.#lastProblem);
    }
  }

  subscribe(listener: (operationId: string) => void): () => void {
    this.#listeners.add(listener);
    this.#subscriber ??= this.#listen();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#subscriber?.disconnect();
      this.#subscriber = undefined;
    };
  }

  async durability(): Promise<Durability> {
    try {
      return await redisDurability(this.#redis, this.#where);
    } catch (error) {
      throw unavailable(error, this.#where, this.#lastProblem);
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#subscriber?.disconnect();
    this.#subscriber = undefined;
    // Whoever is not connected has nothing to wait for, and a server that is silent is not waited for.
    if (this.#redis.status === 'ready')
      await Promise.race([this.#redis.quit().catch(lossy), delay(FAREWELL_MS, undefined, { ref: false })]);
    this.#redis.disconnect();
    for (const reject of this.#pending) reject(new Error('the connection was closed'));
  }

  /** Settles at `close` too: a command that waits for a reconnection is not told by `disconnect`. */
  #send(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const command = this.#commands.get(script) as Command;
    return new Promise((resolve, reject) => {
      this.#pending.add(reject);
      command(keys.length, ...keys, ...args)
        .finally(() => this.#pending.delete(reject))
        .then(resolve, reject);
    });
  }

  #listen(): Redis {
    const subscriber = new Redis(this.#options.url, {
      protocol: 2,
      maxRetriesPerRequest: null,
      keepAlive: 10_000,
      retryStrategy: reconnectDelay,
    });
    subscriber.on('error', lossy);
    subscriber.on('message', (_channel, operationId: string) => {
      for (const listener of this.#listeners) listener(operationId);
    });
    subscriber.subscribe(this.#options.channel).catch(lossy);
    return subscriber;
  }
}

/** Nudges may get lost: the poll is the truth. */
function lossy(): void {}

function reconnectDelay(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 5), 500) * (0.75 + Math.random() / 2);
}

function withoutPassword(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
