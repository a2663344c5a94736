import { z } from 'zod';
import { texts } from './replies.ts';
import { wholeMs } from './steps.ts';
import type { Store } from './store.ts';

const PREFIX = 'process:';

/** Which processes are alive, and what the dead ones left behind. A process must be heard of before it creates. */
export class Processes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async heartbeat(processId: string, ms: number): Promise<void> {
    const keys = [this.#store.keys.processes];
    await this.#store.write(z.literal(1), { script: 'heartbeat', keys, args: [processId, wholeMs(ms)] });
  }

  async deadScopes(): Promise<readonly string[]> {
    const { partitions, keys } = this.#store;
    // The scopes first: a process that is heard of afterwards is alive.
    const scopes = await Promise.all(
      partitions.map((partition) => this.#store.read(texts, { script: 'scopes', keys: [partition.scopes], args: [] })),
    );
    const alive = new Set(await this.#store.read(texts, { script: 'processes', keys: [keys.processes], args: [] }));
    const waiting = await Promise.all(
      partitions.map(async (partition, i) => {
        const dead = (scopes[i] ?? []).filter((scope) => !alive.has(scope.slice(PREFIX.length)));
        if (dead.length === 0) return [];
        return this.#store.write(texts, {
          script: 'waiting',
          keys: [partition.scopes, ...dead.map((scope) => partition.due(scope))],
          args: dead,
        });
      }),
    );
    return [...new Set(waiting.flat())];
  }
}
