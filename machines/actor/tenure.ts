/** The execution epoch that an executor works under, and whether it is over (R3). */
import type { OperationLedger } from '../operation-ledger.ts';
import { PlainError } from './log.ts';

/** The record, or the ledger, belongs to a newer execution epoch: this executor may read it, and nothing else. */
export class EpochIsOver extends PlainError {
  override readonly name = 'EpochIsOver';
  constructor(
    own: number,
    readonly current: number,
  ) {
    super(`this executor runs under epoch ${own}, the ledger is at ${current}: it claims and sends nothing any more`);
  }
}

export class Tenure {
  #epoch: number | null;
  readonly #over = new AbortController();

  /** `fixed`: an epoch that was chosen for this executor, in place of the ledger's. */
  constructor(
    private readonly ledger: Pick<OperationLedger, 'epoch'>,
    private readonly fixed: number | null,
  ) {
    this.#epoch = fixed;
  }

  /** Throws before the first `begin`, unless it was fixed. */
  get epoch(): number {
    if (this.#epoch === null) throw new Error('the execution epoch of the ledger was not read yet');
    return this.#epoch;
  }

  /** Aborts, for good, when the epoch is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Takes the ledger's epoch as it is now, unless one was fixed. */
  async begin(): Promise<void> {
    if (this.fixed === null) this.#epoch = await this.ledger.epoch();
  }

  /** The first time only, for whoever begins nothing that lasts. */
  async beginOnce(): Promise<void> {
    if (this.#epoch === null) await this.begin();
  }

  /** Whether the ledger still is where it was, or where this executor was sent ahead to. */
  async look(): Promise<boolean> {
    const current = await this.ledger.epoch();
    if (current > this.epoch) this.end(current);
    return !this.over.aborted;
  }

  /** The ledger's epoch is newer. */
  end(current: number): void {
    if (!this.over.aborted) this.#over.abort(new EpochIsOver(this.epoch, current));
  }
}
