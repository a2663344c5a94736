/** Waiting one behind the other: whose turn it is acts, the others only wait. */
export class Line {
  #length = 0;
  #last: Promise<void> = Promise.resolve();

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Runs `turn` once all who came before are through; resolves with it, or as soon as `signal` aborts. */
  async behindOthers(signal: AbortSignal, turn: () => Promise<void>): Promise<void> {
    this.#length++;
    const mine = this.#last.then(() => (signal.aborted ? undefined : turn()));
    this.#last = mine.then(
      () => this.#leave(),
      () => this.#leave(),
    );
    const given = new AbortController();
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true, signal: given.signal });
    });
    await Promise.race([mine, stopped]).finally(() => given.abort());
  }

  #leave(): void {
    this.#length--;
  }
}
