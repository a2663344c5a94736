/** Questions that have keys (2026-07-28): with the status of a task, and before there is one. Rows of the races. */
import { expect } from 'vitest';
import type { ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { Row } from './race-scenarios.ts';
import { able, check, into, KEY, POLICY, remember, type Scenario, START, type Step, say, wait } from './scenario.ts';

const KEYED = able({ input: 'status', inputRedelivery: true });
const parkedFor = (reason: NonNullable<ToolOperationContext['parked']>['reason']) =>
  check((context) => expect(context.parked?.reason).toBe(reason));
const holds = (part: Partial<ToolOperationContext>) => check((context) => expect(context).toMatchObject(part));

const keyed = say.question('e', 'f', undefined, [KEY]);
const answered: readonly Step[] = [
  ...into.listening,
  remember('before'),
  [keyed, 'INPUT_REQUIRED.awaiting'],
  [say.reply(1), 'INPUT_REQUIRED.replied'],
  [say.sendInput(), 'INPUT_REQUIRED.sending'],
];
const second: readonly Step[] = [
  ...into.asked,
  [say.reply(1), 'SUBMITTING.queued'],
  [say.begin(), 'SUBMITTING.sending'],
];
const late = (title: string, ...then: readonly Step[]): Scenario => ({
  title,
  given: KEYED,
  steps: [...into.sending, remember('send'), ...then],
});

export const QUESTIONS: readonly Row[] = [
  {
    row: 'B7 F3: a question that has a key is asked once, whatever is listed again',
    scenarios: [
      {
        title: 'its keys are on record; it is no repetition of anything',
        given: KEYED,
        steps: [
          ...into.listening,
          [keyed, 'INPUT_REQUIRED.awaiting'],
          holds({ input: { keys: [KEY], possiblyRepeat: false } as ToolOperationContext['input'] }),
        ],
      },
      {
        title: 'answered, and listed again: the same round, working',
        given: KEYED,
        steps: [
          ...answered,
          [say.delivered(), 'WORKING.listening'],
          holds({ answeredKeys: [KEY] }),
          [say.status('input_required'), 'taken'],
          [keyed, 'refused'],
          [say.question('8', '9', undefined, [KEY, 'd'.repeat(16)]), 'refused'],
          [say.question('8', '9', undefined, ['d'.repeat(16)]), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2, input: { possiblyRepeat: false } as ToolOperationContext['input'] }),
        ],
      },
      {
        title: 'the answer may not have arrived: the same round goes out again, nobody is asked',
        given: KEYED,
        steps: [
          ...answered,
          [say.notDelivered(), 'WORKING.listening'],
          [keyed, 'INPUT_REQUIRED.replied'],
          holds({ inputRound: 1 }),
        ],
      },
      {
        title: 'the same, out of date and after its deadline: a human has answered it all the same',
        given: KEYED,
        steps: [
          ...answered,
          [say.notDelivered(), 'WORKING.listening'],
          remember('listed'),
          [say.status('working'), 'WORKING.polling'],
          wait(POLICY.inputDeadlineMs + 1),
          [say.question('e', 'f', 'listed', [KEY]), 'refused'],
        ],
      },
    ],
  },
  {
    row: 'B4 B7: the server asks before it makes a task: a recorded round of the submission',
    scenarios: [
      {
        title:
          'answered: the call goes out again, as its next attempt under the same key, and no task of it is ours yet',
        given: KEYED,
        steps: [
          ...second,
          holds({ attempt: 2, closedThroughAttempt: 1, sentThroughAttempt: 2, inputRound: 1 }),
          [say.acknowledged(), 'WORKING.polling'],
          holds({ input: null, answeredKeys: [] }),
        ],
      },
      {
        title: 'asked once more; then a result at once',
        given: KEYED,
        steps: [
          ...second,
          [say.asked('8', '9'), 'SUBMITTING.asked'],
          holds({ inputRound: 2 }),
          [say.reply(1), 'refused'],
          [say.reply(2, '8'), 'SUBMITTING.queued'],
          [say.begin(), 'SUBMITTING.sending'],
          [say.outcome(), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'the answered call is lost: looked up like any other, and sent again with the same answer',
        given: KEYED,
        steps: [
          ...second,
          [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
          [say.neverCreated(2), 'NOT_FOUND_SAFE'],
          [say.requeue(), 'SUBMITTING.queued'],
          holds({ attempt: 3, input: { delivery: 'recorded' } as ToolOperationContext['input'] }),
        ],
      },
      {
        title: 'cancelled meanwhile: nothing was created',
        given: KEYED,
        steps: [...into.asked, [say.cancel(), 'CONCLUDING.notSubmitted']],
      },
      {
        title: 'nobody answers in time: nothing was created; the time on a human was not the wait',
        given: KEYED,
        steps: [
          ...into.asked,
          [say.deadlinePassed(), 'refused'],
          wait(POLICY.inputDeadlineMs + 1),
          [say.reply(1), 'refused'],
          [say.deadlinePassed({ inputRound: 0 }), 'refused'],
          [say.deadlinePassed(), 'CONCLUDING.notSubmitted'],
        ],
      },
      {
        title: 'an earlier attempt is still open: neither a cancel nor the deadline proves anything',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [
          ...into.asked,
          wait(POLICY.inputDeadlineMs + 1),
          [say.deadlinePassed(), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ],
      },
      {
        title: 'the same, cancelled',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [...into.asked, [say.cancel(), 'PARKED.searching'], parkedFor('late-submission-possible')],
      },
      {
        title: 'the earlier attempt made a task after all',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [...into.asked, [say.acknowledged({}, { attempt: 1 }), 'WORKING.polling']],
      },
      {
        title: '... or one that is not ours',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [
          ...into.asked,
          [say.acknowledged({ foreign: true }, { attempt: 1 }), 'PARKED.disputed'],
          parkedFor('contradiction'),
        ],
      },
      {
        title: '... or was done at once',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [...into.asked, [say.outcome(undefined, { attempt: 1 }), 'TERMINAL_OBSERVED.outcome']],
      },
      {
        title: 'the only process that could ask is gone',
        given: KEYED,
        steps: [...into.asked, [say.gone(), 'CONCLUDING.notSubmitted']],
      },
      {
        title: '... with an earlier attempt still open',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [...into.asked, [say.gone(), 'PARKED.waiting'], parkedFor('server-gone')],
      },
      {
        title: 'asked when a cancel is wanted: nothing was created',
        given: KEYED,
        steps: [...into.sending, [say.cancel(), 'taken'], [say.asked(), 'CONCLUDING.notSubmitted']],
      },
      {
        title: 'the same, with an earlier attempt still open',
        given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
        steps: [
          ...into.sending,
          [say.cancel(), 'taken'],
          [say.asked(), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ],
      },
      late(
        'late, while it is looked up',
        [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
        [say.asked('e', 'f', 'send'), 'SUBMITTING.asked'],
      ),
      late(
        'late, when it is parked',
        [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
        [say.noLookup(), 'PARKED.waiting'],
        [say.asked('e', 'f', 'send'), 'SUBMITTING.asked'],
        holds({ parked: null }),
      ),
      late(
        'late, when it is searched for',
        [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
        wait(60_001),
        [say.lookupFailed(), 'PARKED.searching'],
        [say.asked('e', 'f', 'send'), 'SUBMITTING.asked'],
      ),
      ...['looked up', 'parked', 'searched for'].flatMap((meanwhile) => {
        const there: readonly Step[] = {
          'looked up': [],
          parked: [[say.noLookup(), 'PARKED.waiting'] as const],
          'searched for': [wait(60_001), [say.lookupFailed(), 'PARKED.searching'] as const],
        }[meanwhile] as readonly Step[];
        const steps = (...then: readonly Step[]): readonly Step[] => [
          ...into.unknown,
          ...there,
          [say.cancel(), 'taken'],
          ...then,
        ];
        return [
          {
            title: `late, and nobody wants it any more, while it is ${meanwhile}: nothing was created`,
            given: KEYED,
            steps: steps([say.asked('e', 'f', 'send'), 'CONCLUDING.notSubmitted']),
          },
          {
            title: `the same while it is ${meanwhile}, with an earlier attempt still open`,
            given: { ...KEYED, attempt: 2, sentThroughAttempt: 1 },
            steps: steps(
              [say.asked('e', 'f', 'send'), meanwhile === 'searched for' ? 'taken' : 'PARKED.searching'],
              parkedFor('late-submission-possible'),
            ),
          },
        ];
      }),
      {
        title: 'late, when its task was known and its server is gone: it says nothing new',
        given: KEYED,
        steps: [...into.working, [say.gone(), 'PARKED.waiting'], [say.asked(), 'refused']],
      },
      {
        title: '... nor when that task was to be cancelled',
        given: KEYED,
        steps: [...into.cancelling, [say.gone(), 'PARKED.waiting'], [say.asked(), 'refused']],
      },
      late(
        'late, of an earlier attempt',
        [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
        [say.neverCreated(1), 'NOT_FOUND_SAFE'],
        [say.requeue(), 'SUBMITTING.queued'],
        [say.begin(), 'SUBMITTING.sending'],
        [say.asked('e', 'f', 'send'), 'refused'],
      ),
    ],
  },
  {
    row: 'B4: a look-up that repeats the call (AIP-155) is one only while the key is remembered',
    scenarios: [
      {
        title: 'forgotten by now: parked as that',
        given: { ...able({ lookup: 'repeat', deduplicates: true }), keyValidUntil: START + 1_000 },
        steps: [...into.unknown, wait(1_001), [say.noLookup(), 'PARKED.waiting'], parkedFor('key-expired')],
      },
      {
        title: 'forgotten while it was searched for',
        given: { ...able({ lookup: 'repeat', deduplicates: true }), keyValidUntil: START + 70_000 },
        steps: [...into.searching, wait(10_001), [say.noLookup(), 'PARKED.waiting'], parkedFor('key-expired')],
      },
    ],
  },
  {
    row: 'R4: under an adapter that is switched off nothing new is submitted; what was sent is found out',
    scenarios: [
      { title: 'nothing was sent', steps: [[say.ended(), 'CONCLUDING.notSubmitted']] },
      { title: 'not the current step', steps: [[say.ended({ attempt: 2 }), 'refused']] },
      {
        title: 'an earlier attempt can still create it',
        given: { attempt: 2, sentThroughAttempt: 1 },
        steps: [[say.ended(), 'PARKED.searching'], parkedFor('late-submission-possible')],
      },
    ],
  },
];
