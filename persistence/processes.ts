import { z } from 'zod';
import type { LiveProcess } from '../machines/operation-ledger.ts';
import { pairs, texts } from './replies.ts';
import { wholeMs } from './steps.ts';
import type { Store } from './store.ts';

const PREFIX = 'process:';

/** Which processes are alive, and what the dead ones left behind. A process must be heard of before it creates. */
export class Processes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async heartbeat(processId: string, ms: number, scopes: readonly string[] = []): Promise<readonly LiveProcess[]> {
    const { processes, served } = this.#store.keys;
    const args = [processId, wholeMs(ms), JSON.stringify(scopes)];
    const alive = await this.#store.write(texts, { script: 'heartbeat', keys: [processes, served], args });
    return pairs(alive).map(([id, list]) => ({ processId: id, scopes: scopesIn(list) }));
  }

  async deadScopes(only?: readonly number[]): Promise<readonly string[]> {
    const { keys } = this.#store;
    const partitions = this.#store.partitions.filter((_, partition) => only?.includes(partition) ?? true);
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

const scopeList = z.array(z.string());

/** Of a process that says nothing, or says it in another way, nothing is known to be served. */
function scopesIn(list: string): readonly string[] {
  try {
    return scopeList.safeParse(JSON.parse(list)).data ?? [];
  } catch {
    return [];
  }
}
