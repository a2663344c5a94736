/** Whether the ledger answers while a command follows an operation: said once when it goes, once when it is back. */
import { LedgerUnavailable, type OperationLedger, systemClock } from '../../machines/index.ts';
import { ledgerTrouble } from './failure.ts';
import type { Output } from './output.ts';
import { oneLine } from './text.ts';

/** Between two looks, ms. */
const LOOK_MS = 1_000;
/** How long one look waits: a server that is cut off does not refuse, it is silent. */
const SILENT_MS = 3_000;

export class LedgerWatch {
  #trouble: string | null = null;

  constructor(
    private readonly ledger: Pick<OperationLedger, 'now'>,
    private readonly output: Output,
  ) {}

  /** Looks until `signal` aborts. */
  async keep(signal: AbortSignal): Promise<void> {
    for (;;) {
      await systemClock.sleep(LOOK_MS, signal);
      const trouble = signal.aborted ? null : await this.look();
      if (signal.aborted) return;
      this.#tell(trouble);
    }
  }

  /** Why the ledger does not answer now; `null`: it does. */
  async look(): Promise<string | null> {
    const enough = new AbortController();
    const answers = this.ledger.now().then(
      () => null,
      (error: unknown) => (error instanceof LedgerUnavailable ? ledgerTrouble(error) : null),
    );
    const silent = systemClock
      .sleep(SILENT_MS, enough.signal)
      .then(() => `it has not answered for ${SILENT_MS / 1_000} s`);
    return Promise.race([answers, silent]).finally(() => enough.abort());
  }

  /** A look that an absent ledger only delays. `null`: the waiting was stopped meanwhile. */
  async patiently<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    while (!signal.aborted) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
        await systemClock.sleep(LOOK_MS, signal);
      }
    }
    return null;
  }

  #tell(trouble: string | null): void {
    const { output } = this;
    const [was, is] = [this.#trouble !== null, trouble !== null];
    this.#trouble = trouble;
    if (was === is) return;
    output.emit({ type: 'ledger', answers: !is, message: trouble });
    if (trouble === null) {
      output.say('the ledger answers again');
    } else {
      output.say(output.paint.yellow(`the ledger does not answer (${oneLine(trouble, 300)})`));
      output.say('  the call goes on at its server; nothing new is known until the ledger is back. Trying again');
    }
  }
}
