/** What an operator does with the rollout rules: look at them, set one, take one back (R1, R2). */
import type { OperationLedger } from '../operation-ledger.ts';
import { NO_RULES, type RolloutRule, RolloutRules, readRules, targetOf } from './rules.ts';

/** The rollout rules of a ledger (R1, R2), and whether all of it has them. */
export interface RolloutView {
  /** One for each target at most; the most specific one decides: tool, adapter, default. */
  readonly rules: readonly RolloutRule[];
  /** How many changes there were; 0: never any. */
  readonly version: number;
  /** Every partition has the same rules. Where not, a change is under way or was interrupted: make it again. */
  readonly complete: boolean;
  /** By partition. */
  readonly versions: readonly number[];
}

/** The rules as the first partition has them: there a change begins. Throws `LedgerIncompatible` where they cannot be read. */
export async function rolloutOf(ledger: OperationLedger): Promise<RolloutView> {
  const copies = await ledger.rollouts();
  const [first] = copies;
  return {
    rules: readRules(first?.text ?? '').rules,
    version: numberOf(first?.version),
    complete: copies.every(({ version }) => version === first?.version),
    versions: copies.map(({ version }) => numberOf(version)),
  };
}

/**
 * Sets the rule of a target in every partition; every executor obeys it from its next call on. Rejects with a `ZodError` for
 * a rule that is none (a shadow of a tool that is not declared free of effects above all), and changes nothing then.
 */
export function setRolloutRule(ledger: OperationLedger, rule: RolloutRule): Promise<RolloutView> {
  return changed(ledger, (rules) => [...rules.filter((each) => targetOf(each) !== targetOf(rule)), rule]);
}

/** Takes the rule of a target back: what is less specific applies again. */
export function clearRolloutRule(
  ledger: OperationLedger,
  target: { readonly of: RolloutRule['of']; readonly name?: string },
): Promise<RolloutView> {
  return changed(ledger, (rules) => rules.filter((each) => targetOf(each) !== targetOf(target)));
}

/** Takes all rules back, also those that cannot be read: every call is an operation again, unless it took a side before. */
export async function clearRollout(ledger: OperationLedger): Promise<RolloutView> {
  for (;;) {
    const [first] = await ledger.rollouts();
    const answer = await ledger.setRollout(JSON.stringify(NO_RULES), first?.version ?? '0');
    if (answer.kind === 'set') return rolloutOf(ledger);
  }
}

async function changed(
  ledger: OperationLedger,
  change: (rules: readonly RolloutRule[]) => readonly RolloutRule[],
): Promise<RolloutView> {
  for (;;) {
    const [first] = await ledger.rollouts();
    const { rules } = readRules(first?.text ?? '');
    const next = RolloutRules.parse({ ...NO_RULES, rules: change(rules) });
    const answer = await ledger.setRollout(JSON.stringify(next), first?.version ?? '0');
    // Somebody else was faster: the same change to what they made of it.
    if (answer.kind === 'set') return rolloutOf(ledger);
  }
}

const numberOf = (version = '0'): number => Number.parseInt(version, 10);
