/**
 * What each state ignores on purpose, and why. Every event is taken, refused by a named guard, or stands here; a test
 * walks every state with every event. (Evidence of an older epoch is another matter: the inbox takes it in every state.)
 */
import type { OperationEventType } from './events.ts';

type Types = readonly OperationEventType[];
type Reasons = readonly (readonly [reason: string, events: Types])[];

const SENDER_GAVE_UP: Types = ['submit.connectionLost', 'sender.lost'];
const SENDER_SENT_NOTHING: Types = ['submit.notSent', 'submit.rejected', 'submit.inputRequired'];
const BEGINNING: Types = ['submit.begin', 'submit.requeue'];
const LOOKUP_FOUND_NOTHING: Types = ['lookup.neverCreated', 'lookup.unavailable', 'lookup.failed'];
const LOOKUP: Types = ['lookup.found', 'lookup.expiredWithReceipt', ...LOOKUP_FOUND_NOTHING];
const POLL_FAILURE: Types = ['poll.failed', 'poll.notFound'];
const FETCH_FAILURE: Types = ['result.failed', 'result.notFound'];
const DELIVERY: Types = ['input.send', 'input.delivered', 'input.notDelivered'];
const ANSWERING: Types = ['input.reply', 'input.deadlinePassed', ...DELIVERY];
const ASKED: Types = ['input.requested', ...ANSWERING];
const INPUT: Types = [...ASKED, 'input.channelClosed'];
const CANCEL_TROUBLE: Types = ['cancel.refused', 'cancel.unsupported', 'cancel.unanswered'];
const CANCEL_ANSWER: Types = ['cancel.acknowledged', ...CANCEL_TROUBLE];
const BY_HAND: Types = ['reconcile.attach', 'reconcile.accept', 'reconcile.neverCreated', 'reconcile.giveUp'];

const NOT_PARKED: Reasons[number] = ['nothing is parked: the operation goes on by itself', BY_HAND];
const NOTHING_TO_ACCEPT: Reasons[number] = ['nothing is ready to be accepted', ['terminal.accept']];
const SUBMITTED_ALREADY: Reasons[number] = [
  'the submission is over: the server has named its task',
  [...SENDER_GAVE_UP, ...SENDER_SENT_NOTHING, ...BEGINNING],
];
/** Nothing is lost: the answer was about the id that is known by now. */
const FOUND_ALREADY: Reasons[number] = [
  'a look-up that is over: the id is known, and the record went on with it',
  LOOKUP,
];
const NO_ID = 'there is no id: nothing can have been polled, fetched, asked or cancelled';
const NOT_WITHOUT_ID: Types = [
  'poll.status',
  ...POLL_FAILURE,
  'result.fetched',
  ...FETCH_FAILURE,
  'cancel.confirmed',
  ...CANCEL_ANSWER,
];
/** Nothing is lost: without an id of ours, no such answer can be about this operation. */
const NO_ID_YET: Reasons[number] = [NO_ID, [...NOT_WITHOUT_ID, ...INPUT]];
/** Nothing is lost: a result is fetched, or fetched again, once its outcome was observed here. */
const NO_OUTCOME_YET: Reasons[number] = ['no outcome was observed: its result is fetched when one is', FETCH_FAILURE];
/** Nothing is lost: what is sent in CANCEL_REQUESTED is answered there, in PARKED or in the classification of a 404. */
const NO_CANCEL_SENT: Reasons[number] = [
  'no cancel was sent: a task that is cancelled shows it in its next status',
  ['cancel.confirmed', ...CANCEL_ANSWER],
];
const NOT_POLLED: Reasons[number] = ['the status is not being read here: a failed read says nothing', POLL_FAILURE];
const ROUND_DROPPED: Reasons[number] = ['no round of input is answered any more', ASKED];
const CANCEL_OF_NO_USE: Reasons[number] = [
  'the outcome decides, not what the server thinks of the cancel',
  CANCEL_ANSWER,
];
const TOO_LATE_TO_CANCEL: Reasons[number] = ['too late: the outcome was observed', ['cancel.request']];

const whileSubmitting: Reasons = [NO_ID_YET, NOT_PARKED, NOTHING_TO_ACCEPT];
const whileWorking: Reasons = [
  SUBMITTED_ALREADY,
  FOUND_ALREADY,
  NO_OUTCOME_YET,
  NO_CANCEL_SENT,
  ['no question is open', ANSWERING],
  NOT_PARKED,
  NOTHING_TO_ACCEPT,
];
const whileAsking: Reasons = [
  SUBMITTED_ALREADY,
  FOUND_ALREADY,
  NO_OUTCOME_YET,
  NO_CANCEL_SENT,
  ['one question is open already', ['input.requested']],
  NOT_PARKED,
  NOTHING_TO_ACCEPT,
];
const whileCancelling: Reasons = [
  SUBMITTED_ALREADY,
  ROUND_DROPPED,
  ['a repetition: one cancel is under way, in this generation', ['cancel.request']],
  NOT_PARKED,
];
const whileObserved: Reasons = [
  SUBMITTED_ALREADY,
  FOUND_ALREADY,
  ['the outcome was observed: its status is not read again', POLL_FAILURE],
  ROUND_DROPPED,
  CANCEL_OF_NO_USE,
  TOO_LATE_TO_CANCEL,
  NOT_PARKED,
];
const whileConcluding: Reasons = [
  ['the operation is being closed', [...SENDER_GAVE_UP, ...SENDER_SENT_NOTHING, ...BEGINNING]],
  ['the operation is being closed', ['lookup.expiredWithReceipt', ...LOOKUP_FOUND_NOTHING]],
  ['the operation is being closed', [...POLL_FAILURE, ...FETCH_FAILURE, ...ASKED, ...CANCEL_ANSWER, 'server.gone']],
  ['too late: the operation is being closed', ['cancel.request', ...BY_HAND]],
];
const over: Reasons = [
  [
    'the operation is over: its one receipt is written',
    [
      ...['submit.acknowledged', 'submit.outcome', 'poll.status', 'result.fetched', 'cancel.confirmed'],
      ...[...SENDER_GAVE_UP, ...SENDER_SENT_NOTHING, ...BEGINNING, ...LOOKUP, ...POLL_FAILURE, ...FETCH_FAILURE],
      ...[...INPUT, ...CANCEL_ANSWER, ...BY_HAND, 'server.gone', 'cancel.request', 'terminal.accept', 'epoch.adopt'],
    ] as Types,
  ],
];

export const ignoredEvents = {
  'SUBMITTING.queued': [
    ['nothing of this attempt was sent', ['submit.rejected', 'submit.inputRequired', ...SENDER_GAVE_UP]],
    ['it is on the queue already', ['submit.requeue']],
    // Nothing is lost: the next attempt is on the queue because it meets an earlier one in the same key (or that is closed).
    ['a look-up of an earlier attempt: this attempt goes out under the same key and meets what there is', LOOKUP],
    ...whileSubmitting,
  ],
  'SUBMITTING.sending': [
    ['it was taken off the queue already', BEGINNING],
    // Nothing is lost: as above; the reply, or the look-up after it, names the task.
    ['a look-up of an earlier attempt: this attempt is on its way under the same key and meets what there is', LOOKUP],
    ...whileSubmitting,
  ],
  'SUBMITTING.asked': [
    ['this attempt is over: it ended with questions', [...SENDER_SENT_NOTHING, ...SENDER_GAVE_UP]],
    ['nothing is sent before there is an answer', BEGINNING],
    // Nothing is lost: the next attempt goes out under the same key and meets what there is.
    ['a look-up of an earlier attempt: this attempt goes out under the same key and meets what there is', LOOKUP],
    ['there is no task yet: the answer goes out with the call', ['input.requested', ...DELIVERY]],
    [NO_ID, [...NOT_WITHOUT_ID, 'input.channelClosed']],
    NOT_PARKED,
    NOTHING_TO_ACCEPT,
  ],
  SUBMISSION_UNKNOWN: [
    ['a repetition: the sender is lost already', SENDER_GAVE_UP],
    ['it may have been sent: never again on a guess', BEGINNING],
    ...whileSubmitting,
  ],
  NOT_FOUND_SAFE: [
    [
      'proven already: this attempt created nothing',
      [...SENDER_SENT_NOTHING, ...SENDER_GAVE_UP, ...LOOKUP_FOUND_NOTHING],
    ],
    ['never created and gone: the next attempt, under the same key, is told so', ['lookup.expiredWithReceipt']],
    ['it goes back on the queue first', ['submit.begin']],
    ...whileSubmitting,
  ],
  'WORKING.polling': whileWorking,
  'WORKING.listening': whileWorking,
  'INPUT_REQUIRED.awaiting': [['nothing was answered yet', DELIVERY], NOT_POLLED, ...whileAsking],
  'INPUT_REQUIRED.replied': [
    ['a repetition: one round is answered at most once', ['input.reply']],
    ['it was answered in time', ['input.deadlinePassed']],
    ['the answer is not on its way yet', ['input.delivered', 'input.notDelivered']],
    NOT_POLLED,
    ...whileAsking,
  ],
  'INPUT_REQUIRED.sending': [
    ['a repetition: one round is answered at most once', ['input.reply', 'input.send']],
    ['it was answered in time', ['input.deadlinePassed']],
    NOT_POLLED,
    ...whileAsking,
  ],
  'INPUT_REQUIRED.expired': [['too late: the deadline is over', ANSWERING], ...whileAsking],
  'CANCEL_REQUESTED.sending': [FOUND_ALREADY, NO_OUTCOME_YET, NOT_POLLED, NOTHING_TO_ACCEPT, ...whileCancelling],
  'CANCEL_REQUESTED.confirming': [
    FOUND_ALREADY,
    NO_OUTCOME_YET,
    ['a repetition: the status is being read because of it', CANCEL_TROUBLE],
    NOTHING_TO_ACCEPT,
    ...whileCancelling,
  ],
  'CANCEL_REQUESTED.confirmed': [
    [
      'the cancel won',
      ['lookup.expiredWithReceipt', ...LOOKUP_FOUND_NOTHING, ...POLL_FAILURE, ...FETCH_FAILURE, ...CANCEL_ANSWER],
    ],
    ...whileCancelling,
  ],
  'TERMINAL_OBSERVED.outcome': [NOTHING_TO_ACCEPT, ...whileObserved],
  'TERMINAL_OBSERVED.cancelled': [
    // Nothing is lost: acceptance itself takes one look at a result, for the audit (B12).
    [
      'a cancelled call has no success payload; acceptance looks for one for the audit',
      ['result.fetched', ...FETCH_FAILURE],
    ],
    ['nothing is owed to the server any more', ['server.gone']],
    ...whileObserved,
  ],
  'FETCHING_RESULT.retrying': [NOTHING_TO_ACCEPT, ...whileObserved],
  'FETCHING_RESULT.verified': [['the result is in hand', [...FETCH_FAILURE, 'server.gone']], ...whileObserved],
  CLASSIFYING_NOT_FOUND: [
    SUBMITTED_ALREADY,
    ['the id is unknown already: key, receipt and session are asked why', [...POLL_FAILURE, ...FETCH_FAILURE]],
    ['the look-up decides what becomes of the cancel', CANCEL_TROUBLE],
    ROUND_DROPPED,
    NOT_PARKED,
    NOTHING_TO_ACCEPT,
  ],
  'PARKED.watching': [
    SUBMITTED_ALREADY,
    FOUND_ALREADY,
    ['nothing is fetched here: the status is read first', FETCH_FAILURE],
    ROUND_DROPPED,
    ['the status decides what became of the cancel', CANCEL_TROUBLE],
    ['the id is known: something was created', ['reconcile.neverCreated']],
    NOTHING_TO_ACCEPT,
  ],
  'PARKED.searching': [['parked because of it', [...SENDER_GAVE_UP, ...BEGINNING]], NO_ID_YET, NOTHING_TO_ACCEPT],
  'PARKED.waiting': [
    ['parked because of it', [...SENDER_GAVE_UP, ...BEGINNING]],
    ['nothing is asked here any more', [...LOOKUP_FOUND_NOTHING, ...POLL_FAILURE, ...FETCH_FAILURE, 'server.gone']],
    ROUND_DROPPED,
    ['only a confirmed cancel would decide something', CANCEL_ANSWER],
    NOTHING_TO_ACCEPT,
  ],
  'PARKED.disputed': [
    ['only a human decides', [...SENDER_GAVE_UP, ...SENDER_SENT_NOTHING, ...BEGINNING]],
    ['only a human decides', ['lookup.expiredWithReceipt', ...LOOKUP_FOUND_NOTHING, ...POLL_FAILURE, ...FETCH_FAILURE]],
    ['only a human decides', [...ASKED, ...CANCEL_ANSWER, 'server.gone']],
    [
      'it is disputed which task is ours: none is cancelled, attached or denied',
      ['cancel.request', 'reconcile.attach', 'reconcile.neverCreated'],
    ],
    NOTHING_TO_ACCEPT,
  ],
  'CONCLUDING.notSubmitted': [
    // Nothing is lost: they name an id, and there is none of ours.
    [
      'there is no id: such an answer is about something else',
      ['poll.status', 'result.fetched', 'cancel.confirmed', 'input.channelClosed'],
    ],
    ...whileConcluding,
  ],
  'CONCLUDING.givenUp': whileConcluding,
  ACCEPTED: over,
  CANCELLED_ACCEPTED: over,
  NOT_SUBMITTED: over,
  GIVEN_UP: over,
} as const satisfies Record<string, Reasons>;

/** Why a state ignores an event, or `null` if it listens to it. */
export function ignoredBecause(state: string, event: OperationEventType): string | null {
  const table: Readonly<Record<string, Reasons>> = ignoredEvents;
  return table[state]?.find(([, events]) => events.includes(event))?.[0] ?? null;
}
