/** The operator of the ledger, who does after a failover what the README says: sees that steps were forgotten, and lets it go on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailable, type OperationLedger, type PartitionHistory } from '../../machines/index.ts';

const LOOK_MS = 1_000;

export class Operator {
  /** What was acknowledged: partitions that showed less than was seen of them. */
  readonly acknowledged: PartitionHistory[] = [];
  readonly #ledger: OperationLedger;
  readonly #stop = new AbortController();

  constructor(ledger: OperationLedger) {
    this.#ledger = ledger;
  }

  /** Acknowledged steps that were seen, and are gone. */
  get forgotten(): number {
    return this.acknowledged.reduce((sum, { shown, seen }) => sum + seen.number - shown.number, 0);
  }

  async watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.look();
      } catch (error) {
        // While nobody is master, nobody can be asked.
        if (!(error instanceof LedgerUnavailable)) throw error;
      }
      await sleep(LOOK_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async look(): Promise<void> {
    const regressed = (await this.#ledger.histories()).filter((each) => each.regressed);
    if (regressed.length === 0) return;
    await this.#ledger.acknowledgeRegress(
      'the operator',
      regressed.map(({ partition }) => partition),
    );
    this.acknowledged.push(...regressed);
  }

  stop(): void {
    this.#stop.abort();
  }
}
