/** When each partition is to be looked at next, in ledger time (ms). */
export class Agenda {
  readonly #at: number[];

  /** All of them at once, at first. */
  constructor(partitions: number) {
    this.#at = Array.from({ length: partitions }, () => 0);
  }

  /** The earliest of all. */
  get next(): number {
    return Math.min(...this.#at);
  }

  /** At this time at the latest. */
  expect(partition: number, at: number): void {
    this.#at[partition] = Math.min(this.#at[partition] ?? at, at);
  }

  expectAll(at: number): void {
    for (const partition of this.#at.keys()) this.expect(partition, at);
  }

  /** Those whose time has come; without another word the next time of each is what `again` says. */
  take(now: number, again: (partition: number) => number): readonly number[] {
    const due = [...this.#at.keys()].filter((partition) => (this.#at[partition] ?? 0) <= now);
    for (const partition of due) this.#at[partition] = again(partition);
    return due;
  }
}
