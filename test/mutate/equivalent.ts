/**
 * Mutants that nobody can tell from what they were made of, each with the reason. They are judged all the same: one that is
 * killed after all does not belong here. A check goes rather than that it gets a place in this list.
 *
 * Where the reason is that a state never meets what its handler is prepared for, it names a fact, and the fact is proven on
 * every record of the races and of the explorations (`chart-suite.ts`): the baseline of the run fails where it does not hold.
 */
import type { ToolOperationContext } from '../../machines/tool-operation/context.ts';

export interface Fact {
  readonly says: string;
  readonly states: RegExp;
  readonly holds: (context: ToolOperationContext) => boolean;
}

export const FACTS = {
  noId: {
    says: 'no id and no outcome is known before the first id is taken, and in what is concluded or searched without one',
    states:
      /^(SUBMITTING\.(queued|sending)|SUBMISSION_UNKNOWN|NOT_FOUND_SAFE|PARKED\.searching|CONCLUDING\.notSubmitted)$/,
    holds: ({ taskId, terminal }) => taskId === null && terminal === null,
  },
  notWanted: {
    says: 'a cancel of a call that is queued, or safe to queue again, ends it at once: none is wanted there',
    states: /^(SUBMITTING\.queued|NOT_FOUND_SAFE)$/,
    holds: ({ cancel }) => cancel === null,
  },
  anId: {
    says: 'an id is known wherever one is asked for',
    states: /^(WORKING|INPUT_REQUIRED|CANCEL_REQUESTED|CLASSIFYING_NOT_FOUND)\b|^PARKED\.watching$/,
    holds: ({ taskId }) => taskId !== null,
  },
  itsResult: {
    says: 'what is verified has its result',
    states: /^FETCHING_RESULT\.verified$/,
    holds: ({ result }) => result !== null,
  },
} as const satisfies Record<string, Fact>;

/** What a state never meets. */
const never = (fact: Fact): string => `never met there: ${fact.says}`;
const { noId, notWanted, anId, itsResult } = FACTS;

const needless = (state: string, event: string, place: string, told: string) =>
  `${state} on ${event}: ${place} (${told}) removed`;
const SECOND_OUTCOME = 'secondOutcomeSeen, to PARKED.disputed';
const ID_KNOWN = 'neverCreatedButIdKnown, to PARKED.watching';
const CONTRADICTED = 'receiptContradicted, to PARKED.disputed';
const TO_CANCEL = 'to CANCEL_REQUESTED.sending';

export const EQUIVALENT: Readonly<Record<string, string>> = {
  // Handlers that several states share, in a state that cannot meet one of their cases.
  ...Object.fromEntries(
    [
      'SUBMITTING.queued',
      'SUBMITTING.sending',
      'SUBMISSION_UNKNOWN',
      'NOT_FOUND_SAFE',
      'PARKED.searching',
      'CONCLUDING.notSubmitted',
    ].map((state) => [needless(state, 'submit.outcome', '1 of 2', SECOND_OUTCOME), never(noId)]),
  ),
  ...Object.fromEntries(
    ['SUBMISSION_UNKNOWN', 'PARKED.searching'].flatMap((state) => [
      [needless(state, 'lookup.neverCreated', '1 of 5', ID_KNOWN), never(noId)],
      [needless(state, 'lookup.expiredWithReceipt', '2 of 5', CONTRADICTED), never(noId)],
    ]),
  ),
  ...Object.fromEntries(
    ['SUBMITTING.queued', 'NOT_FOUND_SAFE'].map((state) => [
      needless(state, 'submit.acknowledged', '2 of 3', `submissionFoundToCancel, ${TO_CANCEL}`),
      never(notWanted),
    ]),
  ),
  [needless('NOT_FOUND_SAFE', 'lookup.found', '2 of 3', `lookupFoundToCancel, ${TO_CANCEL}`)]: never(notWanted),
  ...Object.fromEntries(
    [
      ['2 of 5', 'neverCreatedAfterKeyExpired, to PARKED.waiting'],
      ['3 of 5', 'neverCreatedAndCancelled, to CONCLUDING.notSubmitted'],
      ['4 of 5', 'neverCreatedAndSafe, to NOT_FOUND_SAFE'],
      ['5 of 5', 'isCurrentLookup, to PARKED.searching'],
    ].map(([place = '', told = '']) => [
      needless('CLASSIFYING_NOT_FOUND', 'lookup.neverCreated', place, told),
      `the case before it is always met: ${anId.says}`,
    ]),
  ),
  [needless('INPUT_REQUIRED.expired', 'poll.status', '1 of 5', 'isReusedTaskId, to PARKED.disputed')]:
    'INPUT_REQUIRED as a whole does the same, and nothing in between takes it',
  [needless('CANCEL_REQUESTED.confirmed', 'input.channelClosed', '1 of 1', 'candidateArrived')]:
    'CANCEL_REQUESTED as a whole does the same',
  // Parts that the candidates before already answered.
  'isPassing without matchesTaskCreatedAt': 'wherever a status is read, isReusedTaskId is asked first',
  'isEvidenceOfTask without matchesTaskCreatedAt': 'wherever a task is told of, isReusedTaskId is asked first',
  'creationIsPaused without not creationIsAllowed': 'mayBegin is asked first, and takes what is allowed',
  'resultDiffersWithinBudget without bringsOtherResult':
    'resultVerified is asked first, and takes every result of the task that is no other one',
  'cancelIsSendable without taskIdIsKnown': never(anId),
  'acceptOutcome without resultIsInHand': never(itsResult),
};

/** The first fact that a record of this state disproves. */
export function disproven(state: string, context: ToolOperationContext): string | null {
  const fact = Object.values(FACTS).find(({ states, holds }) => states.test(state) && !holds(context));
  return fact ? `${state}: not so: ${fact.says}` : null;
}
