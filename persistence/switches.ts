import type { AdapterState } from '../machines/operation-ledger.ts';
import { adapterSwitch } from './keys.ts';
import { adapterState, optionalText, pairs, text, texts } from './replies.ts';
import type { Store } from './store.ts';

/** Switches for the fleet: written into every partition, so that each script sees its own copy (design section 4; R4). */
export class Switches {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async setAdapter(adapter: string, state: AdapterState): Promise<void> {
    for (const partition of this.#store.partitions) {
      await this.#store.write(text, {
        script: 'switch',
        keys: [partition.switches],
        args: [adapterSwitch(adapter), state],
        confirm: true,
        history: { partition },
      });
    }
  }

  async adapterState(adapter: string, operationId: string): Promise<AdapterState> {
    const keys = [this.#store.partitionOf(operationId).switches];
    const set = await this.#store.read(optionalText, { script: 'read', keys, args: [adapterSwitch(adapter)] });
    return set === null ? 'active' : adapterState.parse(set);
  }

  async adapters(): Promise<Readonly<Record<string, readonly AdapterState[]>>> {
    const found = await Promise.all(
      this.#store.partitions.map(async ({ switches }) =>
        pairs(await this.#store.read(texts, { script: 'entries', keys: [switches], args: [] })),
      ),
    );
    const prefix = adapterSwitch('');
    const names = new Set(found.flat().flatMap(([name]) => (name.startsWith(prefix) ? [name] : [])));
    return Object.fromEntries(
      [...names].sort().map((name) => [
        name.slice(prefix.length),
        found.map((partition) => {
          const set = partition.find(([each]) => each === name)?.[1];
          return set === undefined ? 'active' : adapterState.parse(set);
        }),
      ]),
    );
  }
}
