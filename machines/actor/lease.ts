/** A held lease: renewed while an effect is in flight, and looked at once more right before a submission is written. */
import type { StoredRecord } from '../operation-ledger.ts';
import type { Environment } from './environment.ts';

/** A reason that is made once: without one each abort makes an error. */
const ENDED = 'the lease is held no longer';

export class HeldLease {
  #validUntil: number;
  #lost = false;
  readonly #stop = new AbortController();

  constructor(
    private readonly env: Environment,
    private readonly record: StoredRecord,
    /** Monotonic time before the claim was asked for: the lease is at least as long from then. */
    askedAt: number,
    private readonly onRevision: (revision: string) => void,
  ) {
    this.#validUntil = askedAt + env.leaseMs;
    void this.#renew();
  }

  /** Still ours, on the monotonic clock: also after a stop of the whole process. */
  isHeld(): boolean {
    return !this.#lost && this.env.clock.monotonic() < this.#validUntil;
  }

  /** Ends the renewing; the lease itself is given back by a commit or by `releaseLease`. */
  end(): void {
    this.#stop.abort(ENDED);
  }

  async #renew(): Promise<void> {
    const { clock, ledger, executorId, leaseMs } = this.env;
    const { operationId, lease } = this.record;
    while (!this.#stop.signal.aborted) {
      await clock.sleep(leaseMs / 3, this.#stop.signal);
      if (this.#stop.signal.aborted || lease === null) return;
      const askedAt = clock.monotonic();
      try {
        const renewed = await ledger.renewLease(operationId, executorId, lease.epoch, leaseMs);
        if (renewed === null) {
          this.#lost = true;
          return;
        }
        this.#validUntil = askedAt + leaseMs;
        this.onRevision(renewed.revision);
      } catch {
        // The ledger is away: the lease runs out on the monotonic clock by itself.
      }
    }
  }
}
