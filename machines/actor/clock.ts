/** The executor's only source of time and chance: replaced by a seeded virtual one in tests. Times: ms. */
export interface Clock {
  /** Monotonic; its zero means nothing. */
  monotonic(): number;
  /** 0 (included) to 1 (excluded). */
  random(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The process's own. A sleep ends after 24.8 days at the latest. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  random: () => Math.random(),
  // Every drive sleeps behind its lease, and is woken by an abort: no error is made for that.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const awake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', awake);
        resolve();
      };
      const timer = setTimeout(awake, Math.min(ms, 2 ** 31 - 1));
      signal?.addEventListener('abort', awake, { once: true });
    }),
};

/** Ledger time without a round trip per question: the ledger's clock at the last look, carried on monotonically. */
export class LedgerTime {
  #offset: number | null = null;
  #readAt = 0;

  constructor(
    private readonly read: () => Promise<number>,
    private readonly clock: Clock,
  ) {}

  /** Looks at the ledger's clock when the last look is older than half a minute. */
  async sync(): Promise<void> {
    const before = this.clock.monotonic();
    if (this.#offset !== null && before - this.#readAt < 30_000) return;
    const ledgerNow = await this.read();
    this.#readAt = this.clock.monotonic();
    this.#offset = ledgerNow - this.#readAt;
  }

  /** The ledger said so by now: an answer that was under way for long made its clock look slow here. */
  atLeast(ledgerNow: number): void {
    const offset = ledgerNow - this.clock.monotonic();
    if (this.#offset !== null && offset > this.#offset) this.#offset = offset;
  }

  /** ms of ledger time. Throws before the first `sync`. */
  now(): number {
    if (this.#offset === null) throw new Error('the ledger clock was not read yet');
    return Math.floor(this.#offset + this.clock.monotonic());
  }
}
