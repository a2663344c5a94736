/** Which side a call takes (R1, R2): decided once by call node, recorded at first contact, and never changed by a later rule. */
import type { OperationLedger, Side, SideAnswer, StoredRollout } from '../operation-ledger.ts';
import { modeText, type RolloutRules, readRules, ruleOf, sideUnder } from '../rollout/rules.ts';

/** How a call is to be made. */
export interface Route {
  /** Where its operation stands, if it has or gets one. */
  readonly operationId: string;
  /** Only a call with the side `operation` may be submitted. */
  readonly side: Side;
  /** When the side was recorded, ms of ledger time; `null`: not recorded (it has a record, or there are no rules). */
  readonly recordedAt: number | null;
  /** The rule that decided, as in `tool 5%`; `null`: none did. */
  readonly rule: string | null;
}

/** What there is of an operation already. */
export type Known = Extract<SideAnswer, { readonly kind: 'record' | 'purged' }>;

/** A call as far as rules look at it. */
export interface Contact {
  readonly operationId: string;
  readonly tool: string;
  readonly adapter: string;
}

export class Routes {
  readonly #ledger: OperationLedger;
  /** As they were seen last. The ledger tells when its partition has others. */
  #seen: { readonly version: string; readonly rules: RolloutRules } = opened({ version: '0', text: '' });

  constructor(ledger: OperationLedger) {
    this.#ledger = ledger;
  }

  /** Takes the recorded side, or decides and records. Throws `LedgerIncompatible` where the rules cannot be read. */
  async take(contact: Contact): Promise<{ readonly route: Route; readonly known: Known | null }> {
    const { operationId } = contact;
    for (;;) {
      const { version, rules } = this.#seen;
      const rule = ruleOf(rules, contact);
      const answer = await this.#ledger.takeSide({
        operationId,
        version,
        // Where no rule is, everything is an operation, whose record says so itself.
        side: rule && sideUnder(rule, operationId),
        why: rule === null ? '' : `${rule.of} ${modeText(rule.mode)}`,
      });
      switch (answer.kind) {
        case 'record':
        case 'purged':
          return { route: { operationId, side: 'operation', recordedAt: null, rule: null }, known: answer };
        case 'side': {
          const { side, recordedAt, why } = answer;
          return { route: { operationId, side, recordedAt, rule: why }, known: null };
        }
        case 'none':
          return { route: { operationId, side: 'operation', recordedAt: null, rule: null }, known: null };
        case 'rules':
          this.#seen = opened(answer.rollout);
      }
    }
  }
}

const opened = ({ version, text }: StoredRollout) => ({ version, rules: readRules(text) });
