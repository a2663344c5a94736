/** A real ledger, one call of which is kept waiting until the test lets it through: what happens meanwhile came before its commit. */
import type { OperationLedger } from '../../machines/index.ts';

export interface LedgerCall {
  readonly method: string;
  readonly args: readonly unknown[];
  /** The state that the step makes, where it is a step. */
  readonly state: string | null;
}

export interface Held {
  /** The call is asked for, and waits. */
  readonly asked: Promise<void>;
  letThrough(): void;
}

export class HeldLedger {
  readonly ledger: OperationLedger;
  /** Calls that were asked for, in order. */
  readonly calls: LedgerCall[] = [];
  readonly #kept: (() => void)[] = [];
  #holding: { readonly fits: (call: LedgerCall) => boolean; readonly hold: () => Promise<void> } | null = null;

  constructor(real: OperationLedger) {
    this.ledger = new Proxy(real, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        if (['operationIdOf', 'partitionOf', 'onChange', 'close'].includes(String(name))) return member.bind(target);
        return async (...args: unknown[]) => {
          await this.#asked({ method: String(name), args, state: stateOf(args[0]) });
          return member.apply(target, args);
        };
      },
    });
  }

  /** Keeps the next call that fits. */
  hold(fits: (call: LedgerCall) => boolean): Held {
    let letThrough: () => void = () => undefined;
    const open = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      const hold = () => {
        resolve();
        return open;
      };
      this.#holding = { fits, hold };
    });
    this.#kept.push(letThrough);
    return { asked, letThrough };
  }

  /** Everything that is kept, and nothing is from now on. */
  letThrough(): void {
    this.#holding = null;
    for (const letThrough of this.#kept) letThrough();
  }

  async #asked(call: LedgerCall): Promise<void> {
    const holding = this.#holding;
    const isIt = holding?.fits(call) ?? false;
    this.calls.push(call);
    if (!isIt) return;
    this.#holding = null;
    await holding?.hold();
  }
}

const stateOf = (step: unknown): string | null =>
  typeof step === 'object' && step !== null && 'state' in step ? String(step.state) : null;
