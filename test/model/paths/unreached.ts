/**
 * Transitions that the chart writes down and that nothing in the closed system brings about within its bounds, each with
 * why. `never`: proven by the chart itself. `outside`: the closed system has no such actor. `bounds`: its settings do not
 * put so much into one way; the exploration of each setting is exhaustive, so that is all there is to it.
 */
import { allTransitions, type TransitionName } from './transitions.ts';

type Kind = 'never' | 'outside' | 'bounds';
interface Reason {
  readonly kind: Kind;
  readonly why: string;
}

const RULES: readonly (readonly [RegExp, Kind, string])[] = [
  [/^(ACCEPTED|CANCELLED_ACCEPTED|NOT_SUBMITTED|GIVEN_UP) /, 'never', 'a final state takes nothing any more'],
  [/#2$/, 'never', 'the same guard said no to the same event right before, for the state itself'],
  [
    /^CANCEL_REQUESTED\.confirmed (submit|result|cancel)\S* \[(second|candidate|isReusedTaskId|cancelConfirmed)/,
    'never',
    'what is for the audit here is taken before, under a guard that this one includes',
  ],
  [/ server\.gone /, 'outside', 'its servers have a URL; only one that runs on stdio is ever gone'],
  [/\[handMayBringOutcome\]/, 'outside', 'its human brings no result'],
  [
    /\[(isEvidenceOfOlderEpoch|old\w+|adoptsNewerEpoch)\]/,
    'bounds',
    'the epoch is raised in one setting, which has no questions, no liar and no forgetting',
  ],
  [
    /\[(second\w+|otherOutcomeSeen|resultDiffers\w*|isReusedTaskId|outcomeContradicted|\w+WrongTask|cancelConfirmedTooLate|receiptContradicted)\]/,
    'bounds',
    'a liar tells one lie a way, about a status, a result, a cancel or the id of a new task',
  ],
  [/ lookup\.expiredWithReceipt /, 'bounds', 'what shows receipts has no human, and its receipts carry the results'],
  [
    /\[(handDeclaresCancelled|attachToCancel)\]/,
    'bounds',
    'a human gives one command a way, not a cancel and a verdict',
  ],
  [
    /^(INPUT_REQUIRED|WORKING\.listening)|input\.(requested|channelClosed)/,
    'bounds',
    'a way with a question has one question and one further fault',
  ],
  [
    /\[(earlierSendStillOpen|senderKnowsUnsent|nothingCanBeCreated|isAnswerOfSender)\]|cancel\.request \[always\]/,
    'bounds',
    'a second attempt beside an open first one is made at a server that deduplicates, with one fault a way',
  ],
];
const OTHERWISE: Reason = { kind: 'bounds', why: 'takes more faults at once than the settings put into one way' };

export function reasonOf(name: TransitionName): Reason {
  const rule = RULES.find(([pattern]) => pattern.test(name));
  return rule ? { kind: rule[1], why: rule[2] } : OTHERWISE;
}

/** All that is declared and not among these, by reason. */
export function unreached(reached: readonly TransitionName[]): ReadonlyMap<string, readonly TransitionName[]> {
  const known = new Set(reached);
  const byReason = new Map<string, TransitionName[]>();
  for (const name of allTransitions) {
    if (known.has(name)) continue;
    const { kind, why } = reasonOf(name);
    byReason.set(`${kind}: ${why}`, [...(byReason.get(`${kind}: ${why}`) ?? []), name]);
  }
  return byReason;
}
