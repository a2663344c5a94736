/**
 * One event in each state that takes it. The rows of the races show it in the state where it matters most; a state that
 * shares the handler must not lose it. Ways and words of the states are those of `scenario.ts`.
 */
import { expect } from 'vitest';
import type { ToolOperationContext } from '../../machines/tool-operation/context.ts';
import {
  check,
  DEDUPLICATING,
  ERROR_RESULT,
  into,
  OTHER_RESULT,
  RESULT,
  remember,
  type Scenario,
  START,
  type Step,
  say,
  wait,
} from './scenario.ts';

const parkedFor = (reason: NonNullable<ToolOperationContext['parked']>['reason']) =>
  check((context) => expect(context.parked?.reason).toBe(reason));
const REBORN = { createdAt: '2026-12-02T09:00:00Z' };
const FOREIGN = { taskId: 'task-2', foreign: true };
const expiry = { earliest: START + 1_000, latest: START + 2_000 };
const DAY = 86_400_001;

type Places = Readonly<Record<string, readonly Step[]>>;
const inEach = (places: Places, title: string, ...then: readonly Step[]): readonly Scenario[] =>
  Object.entries(places).map(([place, steps]) => ({ title: `${title}: ${place}`, steps: [...steps, ...then] }));

// --- more ways, each into a state with something that the state is rarely seen with -----------------------------------
const wanted: Step = [say.cancel(), 'taken'];
const searchingToCancel: Step[] = [...into.searching, wanted];
/** Concluded as never created although a call was on its way once: its sender, or a second look-up, may say otherwise. */
const concluded: Step[] = [...into.safe, [say.cancel(), 'CONCLUDING.notSubmitted']];
const refused: Step[] = [...into.sending, remember('send'), [say.rejected(), 'CONCLUDING.notSubmitted']];
const gone: Step[] = [...into.working, [say.gone(), 'PARKED.waiting']];
const goneAfterOutcome: Step[] = [...into.completed, [say.gone(), 'PARKED.waiting']];
const unknownOutcome: Step[] = [
  ...into.completed,
  [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
  [say.noLookup(), 'PARKED.watching'],
];
/** The server said how it ended, forgot it, and now says that it works: how it ended is not forgotten here. */
const revived: Step[] = [...unknownOutcome, [say.status('working'), 'WORKING.polling']];
const revivedListening: Step[] = [...revived, [say.status('input_required'), 'WORKING.listening']];
const revivedAsking: Step[] = [...revivedListening, [say.question(), 'INPUT_REQUIRED.awaiting']];
const revivedExpired: Step[] = [...revivedAsking, wait(300_001), [say.deadlinePassed(), 'INPUT_REQUIRED.expired']];
const revivedToCancel = (cancel: Step[]): Step[] => [
  ...cancel,
  [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
  [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
  [say.noLookup(), 'PARKED.watching'],
];
const heard: Step[] = [...into.cancelling, [say.heard(), 'CANCEL_REQUESTED.confirming']];
const revivedConfirming: Step[] = [...revivedToCancel(heard), [say.status('working'), 'CANCEL_REQUESTED.confirming']];
const revivedSending: Step[] = [
  ...revivedToCancel(into.confirming),
  wait(60_001),
  [say.status('working'), 'CANCEL_REQUESTED.sending'],
];
/** At once, without an id. */
const atOnce: Step[] = [...into.sending, remember('send'), [say.outcome(), 'TERMINAL_OBSERVED.outcome']];
const atOnceRetrying: Step[] = [...atOnce, [say.fetchFailed(), 'FETCHING_RESULT.retrying']];
const unreadable: Step[] = [...atOnceRetrying, wait(60_001), [say.fetchFailed(), 'PARKED.waiting']];
/** A second attempt is on its way while the first may still be: both meet in one key. */
const secondSending: Step[] = [
  ...into.unknown,
  [say.neverCreated(0), 'NOT_FOUND_SAFE'],
  [say.requeue(), 'SUBMITTING.queued'],
  [say.begin(), 'SUBMITTING.sending'],
  remember('second'),
];
const secondUnknown: Step[] = [...secondSending, [say.connectionLost(), 'SUBMISSION_UNKNOWN']];
const secondSearching: Step[] = [...secondUnknown, wait(60_001), [say.lookupFailed(), 'PARKED.searching']];
const secondWaiting: Step[] = [...secondUnknown, [say.noLookup(), 'PARKED.waiting']];

const WITHOUT_ID: Places = {
  queued: into.secondQueued,
  unknown: into.unknown,
  safe: into.safe,
  searching: into.searching,
  waiting: into.noLookup,
  concluded,
};
const STATUS_IS_READ: Places = {
  polling: into.working,
  listening: into.listening,
  asking: into.asking,
  expired: into.inputExpired,
  cancelling: into.cancelling,
  confirming: into.confirming,
  classifying: into.missing,
  watching: into.unknownId,
  waiting: gone,
};
const WITH_ID: Places = {
  ...STATUS_IS_READ,
  completed: into.completed,
  verified: into.verified,
};

const bothAttempts = (scenario: Scenario): Scenario => ({ ...scenario, given: DEDUPLICATING });

export const EVERY_PLACE: readonly { readonly row: string; readonly scenarios: readonly Scenario[] }[] = [
  {
    row: 'B4, F9: the reply to tools/call, wherever it arrives',
    scenarios: [
      ...inEach(WITHOUT_ID, "another operation's id is disputed", [
        say.acknowledged(FOREIGN, 'send'),
        'PARKED.disputed',
      ]),
      ...inEach(
        { unknown: [...into.unknown, wanted], searching: searchingToCancel, concluded },
        'a cancel that waited for the id is sent',
        [say.acknowledged({}, 'send'), 'CANCEL_REQUESTED.sending'],
      ),
      ...inEach(
        { safe: into.safe, searching: into.searching, waiting: into.noLookup, concluded: refused },
        'an outcome at once is an outcome',
        [say.outcome(RESULT, 'send'), 'TERMINAL_OBSERVED.outcome'],
      ),
      ...inEach(WITH_ID, 'an outcome without an id, after an id: a second operation', [
        say.outcome(RESULT, 'send'),
        'PARKED.disputed',
      ]),
      ...inEach(WITH_ID, 'the same id with another birth is another task', [
        say.acknowledged(REBORN, 'send'),
        'PARKED.disputed',
      ]),
      {
        title:
          'at once, twice, with different results: the first is final, the other is recorded, also while it is read',
        steps: [
          ...atOnceRetrying,
          [say.outcome(OTHER_RESULT, 'send'), 'taken'],
          check((context) => expect(context.result).toEqual(RESULT)),
          [say.fetched(OTHER_RESULT), 'refused'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
        ],
      },
      {
        title: 'at once: a stored result that reads differently is not it',
        steps: [...atOnce, [say.fetched(OTHER_RESULT), 'refused']],
      },
    ],
  },
  {
    row: 'B4: the sender says that nothing was sent, or that the server refused, wherever the record is by then',
    scenarios: [
      ...inEach({ searching: into.searching, waiting: into.noLookup }, 'nothing was sent: another attempt is safe', [
        say.notSent('send'),
        'NOT_FOUND_SAFE',
      ]),
      ...inEach(
        { unknown: [...into.unknown, wanted], searching: searchingToCancel, waiting: [...into.noLookup, wanted] },
        'nothing was sent, and nobody wants it any more',
        [say.notSent('send'), 'CONCLUDING.notSubmitted'],
      ),
      ...inEach(
        { unknown: into.unknown, searching: into.searching, waiting: into.noLookup },
        'refused before dispatch: nothing was created',
        [say.rejected('send'), 'CONCLUDING.notSubmitted'],
      ),
      ...[
        ...inEach(
          { unknown: [...secondUnknown, wanted], waiting: [...secondWaiting, wanted] },
          'nothing of this attempt was sent, but an earlier one may still arrive',
          [say.notSent('second'), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ),
        ...inEach(
          { searching: [...secondSearching, wanted] },
          'nothing of this attempt was sent, but an earlier one may still arrive',
          [say.notSent('second'), 'taken'],
          parkedFor('late-submission-possible'),
        ),
        ...inEach(
          { unknown: secondUnknown, waiting: secondWaiting },
          'this attempt was refused, but an earlier one may still arrive',
          [say.rejected('second'), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ),
        ...inEach(
          { searching: secondSearching },
          'this attempt was refused, but an earlier one may still arrive',
          [say.rejected('second'), 'taken'],
          parkedFor('late-submission-possible'),
        ),
      ].map(bothAttempts),
    ],
  },
  {
    row: 'B13: what the look-up says, wherever it arrives',
    scenarios: [
      ...inEach(
        { safe: into.safe, searching: into.searching, waiting: into.noLookup, concluded },
        "another operation's id is disputed",
        [say.found(FOREIGN), 'PARKED.disputed'],
      ),
      ...inEach(
        { searching: searchingToCancel, waiting: [...into.noLookup, wanted], concluded },
        'a cancel that waited for the id is sent',
        [say.found(), 'CANCEL_REQUESTED.sending'],
      ),
      ...inEach({ safe: into.safe, concluded: refused }, 'found after all', [say.found(), 'WORKING.polling']),
      ...inEach(
        { unknown: into.unknown, searching: into.searching, waiting: into.noLookup },
        "another operation's receipt is disputed",
        [say.receipt({ status: 'completed', ...FOREIGN }, RESULT), 'PARKED.disputed'],
      ),
      ...inEach(
        { unknown: into.unknown, searching: into.searching, waiting: into.noLookup, classifying: into.missing },
        'a receipt of a cancel',
        [say.receipt({ status: 'cancelled' }, null), 'TERMINAL_OBSERVED.cancelled'],
      ),
      ...inEach(
        { unknown: into.unknown, searching: into.searching, waiting: into.noLookup, classifying: into.missing },
        'a receipt with its result',
        [say.receipt({ status: 'failed' }, ERROR_RESULT), 'TERMINAL_OBSERVED.outcome'],
      ),
      ...inEach(
        { unknown: into.unknown, searching: into.searching, classifying: into.missing },
        'a receipt without its result',
        [say.receipt({ status: 'completed' }, null), 'PARKED.waiting'],
        parkedFor('result-unavailable'),
      ),
      ...inEach(
        { waiting: into.noLookup },
        'a receipt without its result',
        [say.receipt({ status: 'completed' }, null), 'taken'],
        parkedFor('result-unavailable'),
      ),
      ...inEach(
        { unknown: into.unknown, searching: into.searching, waiting: into.noLookup, classifying: into.missing },
        'a receipt that says no end is none',
        [say.receipt({ status: 'working' }, RESULT), 'refused'],
        [say.receipt({ status: 'working' }, null), 'refused'],
      ),
      {
        title: 'a receipt that contradicts the outcome that came at once',
        steps: [
          ...unreadable,
          [say.receipt({ status: 'failed' }, RESULT), 'PARKED.disputed'],
          parkedFor('contradiction'),
        ],
      },
      {
        title: 'never created, while it searches slowly: after the key expired',
        steps: [...into.searching, wait(DAY), [say.neverCreated(1), 'PARKED.waiting'], parkedFor('key-expired')],
      },
      {
        title: 'never created, while it searches slowly: nobody wants it any more',
        steps: [...searchingToCancel, [say.neverCreated(1), 'CONCLUDING.notSubmitted']],
      },
      {
        title: 'never created, while it searches slowly: the key stays open for what was sent',
        steps: [...into.searching, [say.neverCreated(0), 'taken'], parkedFor('late-submission-possible')],
      },
      {
        title: 'the server offers no look-up any more',
        steps: [...into.searching, [say.noLookup(), 'PARKED.waiting'], parkedFor('no-lookup')],
      },
      {
        title: 'silent until the budget is over, under another session',
        steps: [
          ...into.working,
          [say.notFound(true), 'CLASSIFYING_NOT_FOUND'],
          wait(60_001),
          [say.lookupFailed(), 'PARKED.watching'],
          parkedFor('session-lost'),
        ],
      },
      {
        title: 'silent until the budget is over, after the expiry',
        steps: [
          ...into.sending,
          [say.acknowledged({ expiry }), 'WORKING.polling'],
          wait(3_000),
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          wait(60_001),
          [say.lookupFailed(), 'PARKED.watching'],
          parkedFor('expired'),
        ],
      },
    ],
  },
  {
    row: 'F9, B12: a status, wherever it is read',
    scenarios: [
      ...inEach({ ...WITH_ID, retrying: into.retrying }, 'an id with another birth is disputed', [
        say.status('completed', {}, REBORN),
        'PARKED.disputed',
      ]),
      ...inEach(STATUS_IS_READ, 'cancelled', [say.status('cancelled'), 'TERMINAL_OBSERVED.cancelled']),
      ...inEach(
        {
          polling: revived,
          listening: revivedListening,
          asking: revivedAsking,
          expired: revivedExpired,
          cancelling: revivedSending,
          confirming: revivedConfirming,
          waiting: goneAfterOutcome,
        },
        'another end than the one that was observed is disputed',
        [say.status('failed'), 'PARKED.disputed'],
        parkedFor('contradiction'),
      ),
      ...inEach({ completed: into.completed, verified: into.verified }, 'working, after its end: out of order', [
        say.status('working'),
        'refused',
      ]),
      {
        title: 'completed once more, with another result: the first is final, the other is recorded',
        steps: [
          ...into.verified,
          [say.status('completed', {}, {}, OTHER_RESULT), 'taken'],
          check((context) => expect(context.result).toEqual(RESULT)),
        ],
      },
      {
        title: 'working, after the deadline of a lost question: goes on',
        steps: [
          ...into.asking,
          [say.channelClosed(), 'WORKING.listening'],
          wait(300_001),
          [say.status('working'), 'WORKING.polling'],
        ],
      },
    ],
  },
  {
    row: 'B11: a result, wherever it arrives',
    scenarios: [
      ...inEach(
        { polling: into.working, asking: into.asking, cancelling: into.cancelling, waiting: gone },
        'before the end is known: kept',
        [say.fetched(), 'taken'],
        check((context) => expect(context.candidate).toEqual(RESULT)),
      ),
      ...inEach(
        { confirmed: into.confirmed },
        'after the cancel won: for the audit',
        [say.fetched(), 'taken'],
        check((context) => expect(context).toMatchObject({ candidate: null, result: null })),
      ),
      {
        title: 'on the channel, and not the one in hand: recorded',
        steps: [
          ...into.working,
          [say.status('completed', {}, {}, RESULT), 'TERMINAL_OBSERVED.outcome'],
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.channelClosed({}, OTHER_RESULT), 'taken'],
          check((context) => expect(context.result).toEqual(RESULT)),
        ],
      },
    ],
  },
  {
    row: "B9: a cancel's success, wherever it arrives",
    scenarios: [
      ...inEach(
        {
          cancelling: into.cancelling,
          completed: into.completed,
          verified: into.verified,
          classifying: into.missing,
          watching: into.unknownId,
          waiting: gone,
        },
        'of an id with another birth: disputed',
        [say.confirmed({}, REBORN), 'PARKED.disputed'],
      ),
      ...inEach(
        { cancelling: revivedSending, confirming: revivedConfirming, waiting: goneAfterOutcome },
        'after another end was observed: disputed',
        [say.confirmed(), 'PARKED.disputed'],
        parkedFor('contradiction'),
      ),
    ],
  },
  {
    row: 'B10: whatever comes after the cancel won, or after a human gave up, is for the audit',
    scenarios: inEach(
      {
        confirmed: into.confirmed,
        'given up': [...into.unknownId, [say.giveUp(), 'CONCLUDING.givenUp']],
      },
      'kept, not acted on',
      [say.acknowledged({ taskId: 'task-2' }, 'send'), 'taken'],
      [say.outcome(RESULT, 'send'), 'taken'],
      [say.found({ taskId: 'task-2' }), 'taken'],
      [say.status('completed'), 'taken'],
      [say.fetched(OTHER_RESULT), 'taken'],
      [say.confirmed(), 'taken'],
      [say.channelClosed({}, RESULT), 'taken'],
      check((context) => expect(context.candidate).toEqual(RESULT)),
    ),
  },
  {
    row: 'B13: the only process that could be asked is gone',
    scenarios: [
      {
        title: 'safe to send again: nothing was created, nothing can be',
        steps: [...into.safe, [say.gone(), 'CONCLUDING.notSubmitted']],
      },
      {
        title: 'queued once more, while an earlier attempt may have arrived',
        given: DEDUPLICATING,
        steps: [...secondSending.slice(0, -2), [say.gone(), 'PARKED.waiting'], parkedFor('server-gone')],
      },
      { title: 'searching', steps: [...into.searching, [say.gone(), 'PARKED.waiting'], parkedFor('server-gone')] },
    ],
  },
  {
    row: 'G5: a human, wherever the operation is parked',
    scenarios: [
      ...inEach(
        { searching: searchingToCancel, watching: revivedToCancel(heard) },
        'attached, and a cancel is wanted',
        [say.attach(), 'CANCEL_REQUESTED.sending'],
      ),
      {
        title: 'attached to another id than the one on record: refused, also when a cancel is wanted',
        steps: [...revivedToCancel(heard), [say.attach('task-9'), 'refused']],
      },
      {
        title: 'never created, while it searches slowly',
        steps: [...into.searching, [say.declareNeverCreated(), 'CONCLUDING.notSubmitted']],
      },
    ],
  },
  {
    row: 'F8: an id to ask again is only taken from an older epoch',
    scenarios: [
      {
        title: "another server's id does not wake a record that waits",
        steps: [
          ...into.noLookup,
          [say.acknowledged({}, { endpointId: 'server-2' }), 'refused'],
          [say.found({}, { endpointId: 'server-2' }), 'refused'],
        ],
      },
    ],
  },
];
