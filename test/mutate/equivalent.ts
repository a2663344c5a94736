/**
 * Mutants that nobody can tell from what they were made of, each with the reason. They are judged all the same: one that is
 * killed after all does not belong here. A check goes rather than that it gets a place in this list.
 *
 * Facts are what handlers rest on that are not prepared for everything: proven on every record of the races and of the
 * explorations (`chart-suite.ts`); the baseline of the run fails where one does not hold.
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

export const EQUIVALENT: Readonly<Record<string, string>> = {
  // B11 asks for it by name, and it stays.
  'acceptOutcome without resultIsInHand': `never met there: ${FACTS.itsResult.says}`,
};

/** The first fact that a record of this state disproves. */
export function disproven(state: string, context: ToolOperationContext): string | null {
  const fact = Object.values(FACTS).find(({ states, holds }) => states.test(state) && !holds(context));
  return fact ? `${state}: not so: ${fact.says}` : null;
}
