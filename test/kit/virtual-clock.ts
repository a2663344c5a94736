/**
 * Time and chance of a test, by a seed. Whoever sleeps waits for nobody: once nothing watched is on its way, the clock
 * jumps to the next one to wake. What really takes time (a step of the ledger, an answer of a server) takes none here.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../machines/actor/clock.ts';
import type { OperationProtocol } from '../../machines/index.ts';
import { withSessions } from './sessions.ts';

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/**
 * The `clock` of an executor, for a test. It jumps from one sleep to the next as soon as nothing that it watches is on its way: the
 * ledger (`watch`), the protocols (`watchProtocol`), and what the test itself does (`during`). The same seed gives the same run.
 */
export class VirtualClock implements Clock {
  #now = 0;
  #state: number;
  #onTheirWay = 0;
  #sleepers: Sleeper[] = [];
  #running = false;

  constructor(
    seed: number,
    /** What the ledger's clock says at the beginning, ms. */
    private readonly epoch = Date.UTC(2030, 0, 1),
  ) {
    this.#state = seed >>> 0;
  }

  /** ms since the beginning of the test. */
  monotonic(): number {
    return this.#now;
  }

  /** For `openLedger`: the same time, as the ledger tells it. */
  readonly ledgerNow = (): number => this.epoch + Math.floor(this.#now);

  /** From 0 to 1, without 1: the next number of the seed (mulberry32). */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Ends when the clock has jumped there, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      };
      const sleeper = { at: this.#now + Math.max(0, ms), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
      void this.#run();
    });
  }

  /** Time stands still until this has settled. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#onTheirWay += 1;
    try {
      return await work;
    } finally {
      this.#onTheirWay -= 1;
      void this.#run();
    }
  }

  /** Time stands still while any promise of this object's methods is on its way. */
  watch<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (object, name) => {
        const member: unknown = Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const result: unknown = member.apply(object, args);
          return result instanceof Promise ? this.during(result) : result;
        };
      },
    });
  }

  /** The same protocol: time stands still while it, or one of the sessions that it opens, has a promise on its way. */
  watchProtocol(protocol: OperationProtocol): OperationProtocol {
    return this.watch(withSessions(protocol, (session) => this.watch(session)));
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    // What just settled gets its turn, and may send the next thing on its way.
    for (await turn(); this.#onTheirWay === 0 && this.#wakeNext(); await turn());
    this.#running = false;
  }
  /** Of those that wake at the same time, the one that lay down first. `false`: nobody sleeps. */
  #wakeNext(): boolean {
    const [first, ...others] = this.#sleepers;
    if (first === undefined) return false;
    const next = others.reduce((earliest, sleeper) => (sleeper.at < earliest.at ? sleeper : earliest), first);
    this.#now = Math.max(this.#now, next.at);
    next.wake();
    return true;
  }
}
