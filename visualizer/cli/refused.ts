/** Why a command was refused, for people: what was wrong and what to do. The names of the guards are for `--json`. */
import type { CommandAnswer } from '../../machines/index.ts';
import { ExitCode } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { oneLine } from './text.ts';
import { stateView } from './views.ts';
import type { Workplace } from './workplace.ts';

type Refused = Extract<CommandAnswer, { kind: 'refused' }>;

/** The first that is among the guards is the reason; `not x`: refused because x holds. */
export const REFUSALS: readonly (readonly [guard: string, why: string, command: 'answer' | 'show' | 'reconcile'])[] = [
  ['matchesInputRound', 'this answer is for another question than the one that is open now', 'answer'],
  ['matchesSchemaDigest', 'the form of the question is not the one that this answer was made for', 'answer'],
  ['beforeDeadline', 'the time in which the question could be answered is over', 'show'],
  ['beforeInputDeadline', 'the time in which the question could be answered is over', 'show'],
  ['replyFitsSchema', 'the answer does not fit what the question asks for', 'answer'],
  ['notOpen', 'the question is not open any more', 'show'],
  ['attachesKnownTask', 'the operation has a task id already, and it is another one', 'reconcile'],
  ['taskIsOurs', 'this task belongs to another operation of the ledger', 'reconcile'],
  ['cancelIsSupported', 'the server declared no cancel for tasks: the call can only be waited for', 'show'],
  ['outcomeIsObserved', 'the server has confirmed the cancel: it cannot have ended otherwise', 'reconcile'],
  ['handBringsResult', 'its result is not on record, so that one has to be given (--result or --error)', 'reconcile'],
  ['not taskIdIsKnown', 'the server has named its task: something was created', 'reconcile'],
  ['taskIdIsKnown', 'the server has not named a task yet', 'show'],
  ['not terminalIsObserved', 'too late: the server has said how it ended', 'show'],
  ['not cancelIsWanted', 'a cancel is under way already', 'show'],
];

/** `problems`: what exactly does not fit, where that is known. */
export function refusalWords(answer: Refused, problems: readonly string[] = []): string {
  // Without a guard, the reason is in words already, and names the state where that matters.
  if (answer.guards.length === 0) return answer.reason;
  const known = REFUSALS.find(([guard]) => answer.guards.includes(guard));
  const why = [known?.[1] ?? 'it does not fit where the operation stands', ...new Set(problems)];
  return `${why.join('; ')} (it is in ${oneLine(answer.opened.record.state)})`;
}

export interface RefusedOptions {
  readonly problems?: readonly string[];
  /** In place of a look at what the refusal is about. */
  readonly next?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export function refused(
  place: Workplace,
  operationId: string,
  answer: Refused,
  { problems = [], next, detail = {} }: RefusedOptions = {},
): CliFailure {
  const command = REFUSALS.find(([guard]) => answer.guards.includes(guard))?.[2] ?? 'show';
  return new CliFailure(
    ExitCode.notSubmitted,
    refusalWords(answer, problems),
    next ?? `look at it: ${place.hint(command, operationId)}`,
    { guards: answer.guards, reason: answer.reason, ...detail, ...stateView(answer.opened) },
  );
}
