/** What a gate plays on: a Redis of its own, servers behind fronts, executors of this process that share one ledger. */
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import {
  Executor,
  type ExecutorOptions,
  type OperationLedger,
  systemClock,
  type ToolCall,
} from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import type { ScriptedOptions } from '../../kit/servers/mcp-2025-11-25/options.ts';
import { startRedis } from '../../support/redis.ts';
import type { GateScript } from './deeds.ts';
import { type GateServer, startServers } from './servers.ts';

export const NAMESPACE = 'gates';
/** Few, so that looking for what is due costs little beside thousands of operations. */
const PARTITIONS = 4;

export interface FieldOptions {
  readonly servers: readonly Partial<ScriptedOptions>[];
  readonly executors: number;
  readonly executor: Partial<ExecutorOptions>;
  /** How far the clock of each executor is ahead of the one before it, ms. */
  readonly clocksApartMs?: number;
}

export class Field {
  readonly #closers: (() => Promise<unknown>)[] = [];
  readonly #executors: Executor[] = [];

  private constructor(
    private readonly options: FieldOptions,
    readonly address: string,
    readonly ledger: OperationLedger,
    readonly servers: readonly GateServer[],
  ) {}

  /** Opens a field, plays on it, and leaves nothing of it. */
  static async play<T>(options: FieldOptions, signal: AbortSignal, game: (field: Field) => Promise<T>): Promise<T> {
    const closers: (() => Promise<unknown>)[] = [];
    try {
      // Nothing is killed here but executors: what a power cut loses is not asked, and syncing each step is left out.
      const redis = await startRedis({ appendonly: false });
      closers.push(() => redis.stop());
      const { servers, close } = await startServers(options.servers);
      closers.push(close);
      const ledger = await openLedger(redis.url, { namespace: NAMESPACE, partitions: PARTITIONS });
      closers.push(() => ledger.close());
      const field = new Field(options, redis.url, ledger, servers);
      closers.push(() => field.#close());
      for (let nth = 0; nth < options.executors; nth++) field.#executors.push(await field.#start(nth));
      signal.throwIfAborted();
      return await game(field);
    } finally {
      for (const close of closers.reverse()) await close().catch(() => undefined);
    }
  }

  get executors(): readonly Executor[] {
    return this.#executors;
  }

  executor(nth: number): Executor {
    return this.#executors[nth % this.#executors.length] as Executor;
  }

  call(server: number, script: GateScript, more: Partial<ToolCall> = {}): ToolCall {
    const { url } = this.servers[server % this.servers.length] as GateServer;
    const callNodeId = script.callNode;
    return { callNodeId, endpoint: { kind: 'http', url }, tool: 'work', arguments: { script }, ...more };
  }

  /** Another executor in the place of this one, which stops serving and leaves everything to the others. */
  async replace(nth: number): Promise<void> {
    const old = this.executor(nth);
    this.#executors[nth] = await this.#start(nth);
    await old.stop();
  }

  async #start(nth: number): Promise<Executor> {
    const { clocksApartMs = 0 } = this.options;
    const ledger = await openLedger(this.address, { namespace: NAMESPACE });
    this.#closers.push(() => ledger.close());
    const executor = new Executor({
      ledger,
      namespace: NAMESPACE,
      protocols: [mcp20251125({ clientInfo: { name: `executor ${nth}`, version: '1' } })],
      endpoints: this.servers.map(({ url }) => ({ kind: 'http', url })),
      ...(clocksApartMs === 0
        ? {}
        : { clock: { ...systemClock, monotonic: () => systemClock.monotonic() + nth * clocksApartMs } }),
      ...this.options.executor,
    });
    this.#closers.push(() => executor.stop());
    return executor.start();
  }

  async #close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close().catch(() => undefined);
  }
}
