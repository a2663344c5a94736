import { type AdapterState, EPOCH_RAISED } from '../machines/operation-ledger.ts';
import { adapterSwitch, CREATION_SWITCH, EPOCH_SWITCH, type PartitionKeys } from './keys.ts';
import { adapterState, creationSwitch, executionEpoch, optionalText, pairs, text, texts } from './replies.ts';
import type { Store } from './store.ts';

/** The switches of one partition, by name. */
type Settings = ReadonlyMap<string, string>;

/** Switches for the fleet: written into every partition, so that each script sees its own copy (design section 4; R3, R4). */
export class Switches {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  setAdapter(adapter: string, state: AdapterState): Promise<void> {
    return this.#set(adapterSwitch(adapter), state);
  }

  async adapterState(adapter: string, operationId: string): Promise<AdapterState> {
    const keys = [this.#store.partitionOf(operationId).switches];
    const set = await this.#store.read(optionalText, { script: 'read', keys, args: [adapterSwitch(adapter)] });
    return set === null ? 'active' : adapterState.parse(set);
  }

  async adapters(): Promise<Readonly<Record<string, readonly AdapterState[]>>> {
    const found = await this.#all();
    const prefix = adapterSwitch('');
    const names = new Set(found.flatMap((set) => [...set.keys()].filter((name) => name.startsWith(prefix))));
    return Object.fromEntries(
      [...names].sort().map((name) => [
        name.slice(prefix.length),
        found.map((set) => {
          const state = set.get(name);
          return state === undefined ? 'active' : adapterState.parse(state);
        }),
      ]),
    );
  }

  async raiseEpoch(to?: number): Promise<number> {
    const newest = await this.epoch();
    const target = to ?? newest + 1;
    if (!Number.isSafeInteger(target) || target < newest) {
      throw new RangeError(`the execution epoch is ${newest} and never goes back: ${target} cannot be raised to`);
    }
    const { partitions } = this.#store;
    for (const partition of partitions) {
      await this.#store.write(executionEpoch, {
        script: 'raise',
        keys: [partition.switches],
        args: [String(target)],
        confirm: true,
        history: { partition },
        ...(partition === partitions.at(-1) ? { nudge: EPOCH_RAISED } : {}),
      });
    }
    return target;
  }

  async epoch(): Promise<number> {
    return Math.max(...(await this.epochs()));
  }

  async epochs(): Promise<readonly number[]> {
    return (await this.#all()).map(epochOf);
  }

  setCreation(allowed: boolean): Promise<void> {
    return this.#set(CREATION_SWITCH, allowed ? 'on' : 'off');
  }

  async creation(): Promise<readonly boolean[]> {
    return (await this.#all()).map(creationIn);
  }

  async creationOf(operationId: string): Promise<{ readonly allowed: boolean; readonly epoch: number }> {
    const set = await this.#in(this.#store.partitionOf(operationId));
    return { allowed: creationIn(set), epoch: epochOf(set) };
  }

  async #set(name: string, value: string): Promise<void> {
    for (const partition of this.#store.partitions) {
      await this.#store.write(text, {
        script: 'switch',
        keys: [partition.switches],
        args: [name, value],
        confirm: true,
        history: { partition },
      });
    }
  }

  #all(): Promise<readonly Settings[]> {
    return Promise.all(this.#store.partitions.map((partition) => this.#in(partition)));
  }

  async #in({ switches }: PartitionKeys): Promise<Settings> {
    return new Map(pairs(await this.#store.read(texts, { script: 'entries', keys: [switches], args: [] })));
  }
}

const epochOf = (set: Settings): number => executionEpoch.parse(set.get(EPOCH_SWITCH) ?? '1');
const creationIn = (set: Settings): boolean => creationSwitch.parse(set.get(CREATION_SWITCH) ?? 'on') === 'on';
