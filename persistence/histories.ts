import type { HistoryMark, PartitionHistory } from '../machines/operation-ledger.ts';
import { isOlder, NOTHING_SEEN } from './history.ts';
import type { PartitionKeys } from './keys.ts';
import { mark, milliseconds, pairs, texts } from './replies.ts';
import type { Store } from './store.ts';

/** Looking at the histories of the partitions, and letting one go on that went backwards. */
export class Histories {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  all(): Promise<readonly PartitionHistory[]> {
    return Promise.all(this.#store.partitions.map((partition) => this.#look(partition)));
  }

  async acknowledge(by: string, names: readonly string[]): Promise<readonly PartitionHistory[]> {
    const partitions = names.map((name) => {
      const found = this.#store.partitions.find((each) => each.name === name);
      if (found !== undefined) return found;
      throw new RangeError(`"${name.slice(0, 40)}" is no partition of this ledger: they are p00 to ${this.#last()}`);
    });
    const answers: PartitionHistory[] = [];
    for (const partition of partitions) {
      const { shown, seen } = await this.#look(partition);
      const now = await this.#store.write(mark, {
        script: 'acknowledge',
        keys: [partition.mark],
        args: [String(shown.epoch), String(seen.epoch), by.slice(0, 200)],
        confirm: true,
      });
      this.#store.seen.note(partition.name, now);
      answers.push(await this.#look(partition));
    }
    return answers;
  }

  async #look(partition: PartitionKeys): Promise<PartitionHistory> {
    // `mark`: epoch and number, and where a regress was noticed those that were seen before. `by`, `at`: who acknowledged.
    const entries = await this.#store.read(texts, { script: 'entries', keys: [partition.mark], args: [] });
    const fields = new Map(pairs(entries));
    const numbers = (fields.get('mark') ?? '1 0').split(' ');
    const [shown, noted] = [mark.parse(numbers.slice(0, 2)), numbers.slice(2)];
    const known = [this.#store.seen.of(partition.name), noted.length === 0 ? NOTHING_SEEN : mark.parse(noted)];
    const seen = known.reduce(newer, shown);
    const at = fields.get('at');
    return {
      partition: partition.name,
      shown,
      seen,
      regressed: isOlder(shown, seen),
      acknowledged: at === undefined ? null : { by: fields.get('by') ?? '', at: milliseconds.parse(at) },
    };
  }

  #last(): string {
    return this.#store.partitions.at(-1)?.name ?? '';
  }
}

const newer = (one: HistoryMark, other: HistoryMark): HistoryMark => (isOlder(one, other) ? other : one);
