/**
 * The time of one walk, of its ledger and its executors alike: it runs by itself only as fast as the machine does, and
 * jumps when the walk says that a deadline passes. Whoever sleeps for longer than a moment wakes at a jump.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../machines/actor/clock.ts';

/** ms. Shorter sleeps are pauses between two looks, and are slept. */
const MOMENT_MS = 30;

export class HandClock implements Clock {
  #ahead = 0;
  readonly #sleepers = new Set<{ readonly until: number; wake(): void }>();

  monotonic(): number {
    return performance.now() + this.#ahead;
  }
  /** For `openLedger`. */
  readonly ledgerNow = (): number => Math.floor(performance.timeOrigin + this.monotonic());
  /** How far it is before the time of the servers, ms. */
  get ahead(): number {
    return this.#ahead;
  }
  random(): number {
    return 0;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    if (ms <= MOMENT_MS) {
      await delay(Math.min(ms, 1), undefined, signal ? { signal } : {}).catch(() => undefined);
      return;
    }
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { until: this.monotonic() + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  jump(ms: number): void {
    this.#ahead += ms;
    const now = this.monotonic();
    for (const sleeper of [...this.#sleepers]) if (sleeper.until <= now) sleeper.wake();
  }
}
