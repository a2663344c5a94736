/** The table of the design ("Races, decided") as event sequences: one entry per row, each with its variants. */
import { expect } from 'vitest';
import type { ToolOperationContext } from '../../machines/tool-operation/context.ts';
import { EVERY_PLACE } from './every-place.ts';
import { QUESTIONS } from './questions.ts';
import {
  able,
  BORN,
  COOPERATIVE,
  check,
  DEDUPLICATING,
  digestOf,
  ERROR_RESULT,
  into,
  NO_CANCEL,
  OTHER_RESULT,
  POLICY,
  RESULT,
  remember,
  type Scenario,
  START,
  type Step,
  say,
  wait,
} from './scenario.ts';

export interface Row {
  /** The brief's rows that it proves, and what holds. */
  readonly row: string;
  readonly scenarios: readonly Scenario[];
}

const parkedFor = (reason: NonNullable<ToolOperationContext['parked']>['reason']) =>
  check((context) => expect(context.parked?.reason).toBe(reason));
const holds = (part: Partial<ToolOperationContext>) => check((context) => expect(context).toMatchObject(part));
const audited = (...kinds: string[]) =>
  check((context) => expect(context.audit.map(({ kind }) => kind)).toEqual(kinds));
const OLDER = { executionEpoch: 4 };
const expiry = { earliest: START + 1_000, latest: START + 2_000 };
const REBORN = { createdAt: '2026-12-02T09:00:00Z' };
const FOREIGN = { taskId: 'task-2', foreign: true };

export const RACES: readonly Row[] = [
  {
    row: 'B4: the executor dies in SUBMITTING / sending: looked up, never sent again on a guess',
    scenarios: [
      {
        title: 'found by the key',
        steps: [
          ...into.sending,
          [say.senderLost(), 'SUBMISSION_UNKNOWN'],
          [say.begin(), 'refused'],
          [say.found(), 'WORKING.polling'],
          holds({ taskId: 'task-1', taskCreatedAt: BORN, attempt: 1 }),
        ],
      },
      {
        title: 'the look-up fails for a while: the budget counts, then it searches slowly',
        steps: [
          ...into.unknown,
          [say.lookupFailed(), 'taken'],
          wait(60_001),
          [say.lookupFailed(), 'PARKED.searching'],
          parkedFor('lookup-budget'),
          [say.lookupFailed(), 'taken'],
          [say.found(), 'WORKING.polling'],
          holds({ parked: null }),
        ],
      },
      {
        title: 'a server without look-up: a human, and late evidence still counts',
        steps: [...into.noLookup, parkedFor('no-lookup'), [say.acknowledged({}, 'send'), 'WORKING.polling']],
      },
      {
        title: 'the process that had the server is gone (stdio)',
        steps: [...into.sending, [say.gone(), 'PARKED.waiting'], parkedFor('server-gone')],
      },
      {
        title: 'the server is gone while it is looked up, or searched for',
        steps: [...into.unknown, [say.gone({ endpointId: 'server-2' }), 'refused'], [say.gone(), 'PARKED.waiting']],
      },
    ],
  },
  {
    row: 'B4, B13: nothing of a queued call was sent: it waits, or ends as not submitted',
    scenarios: [
      {
        title: 'unreachable within the budget, then for good',
        steps: [
          [say.notSent(), 'taken'],
          wait(600_001),
          [say.notSent(), 'CONCLUDING.notSubmitted'],
          holds({ notSubmitted: { outcome: 'refused', reason: 'for a test' } }),
          [say.accept(), 'NOT_SUBMITTED'],
          holds({ effectReconciliationRequired: false }),
        ],
      },
      {
        title: 'unreachable for good with an earlier attempt open: searched for',
        given: DEDUPLICATING,
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.requeue(), 'SUBMITTING.queued'],
          wait(600_001),
          [say.notSent(), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ],
      },
      {
        title: 'the server is gone before anything was sent',
        steps: [
          [say.gone({ endpointId: 'server-2' }), 'refused'],
          [say.gone(), 'CONCLUDING.notSubmitted'],
        ],
      },
      {
        title: 'the server is gone with an earlier attempt open',
        given: DEDUPLICATING,
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.gone(), 'PARKED.waiting'],
          parkedFor('server-gone'),
        ],
      },
      {
        title: 'R3: creation is switched off: it waits on the queue, and does not spin',
        steps: [
          [say.begin(false), 'taken'],
          check((context) => expect(context.dueAt).toBeGreaterThan(START + 5_000)),
          [say.begin(), 'SUBMITTING.sending'],
        ],
      },
      {
        title: 'a server that loses every call: the second attempt at once, each after it later than the one before',
        steps: [
          ...into.safe,
          [say.requeue(), 'SUBMITTING.queued'],
          check(({ dueAt, updatedAt }) => expect(dueAt).toBeLessThanOrEqual(updatedAt + 1_000)),
          ...[2, 3].flatMap((attempt): Step[] => [
            [say.begin(), 'SUBMITTING.sending'],
            [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
            [say.neverCreated(attempt), 'NOT_FOUND_SAFE'],
            [say.requeue(), 'SUBMITTING.queued'],
            check(({ dueAt }) =>
              expect(dueAt).toBeGreaterThanOrEqual(START + POLICY.pollIntervalMs * 2 ** (attempt - 2)),
            ),
          ]),
          holds({ attempt: 4 }),
        ],
      },
      {
        title: 'R3: nor is a further attempt made',
        steps: [
          ...into.safe,
          [say.requeue(false), 'taken'],
          [say.requeue(), 'SUBMITTING.queued'],
          holds({ attempt: 2 }),
        ],
      },
    ],
  },
  {
    row: 'B4, F1: the reply to tools/call comes late: taken in queued, sending, SUBMISSION_UNKNOWN, NOT_FOUND_SAFE, PARKED',
    scenarios: [
      { title: 'in sending', steps: [...into.sending, [say.acknowledged(), 'WORKING.polling']] },
      { title: 'in SUBMISSION_UNKNOWN', steps: [...into.unknown, [say.acknowledged({}, 'send'), 'WORKING.polling']] },
      { title: 'in NOT_FOUND_SAFE', steps: [...into.safe, [say.acknowledged({}, 'send'), 'WORKING.polling']] },
      {
        title: 'in queued, at the second attempt',
        steps: [...into.secondQueued, [say.acknowledged({}, 'send'), 'WORKING.polling']],
      },
      {
        title: 'in sending of the second attempt',
        steps: [
          ...into.secondQueued,
          [say.begin(), 'SUBMITTING.sending'],
          [say.acknowledged({}, 'send'), 'WORKING.polling'],
          [say.acknowledged(), 'refused'],
        ],
      },
      { title: 'in PARKED.searching', steps: [...into.searching, [say.acknowledged({}, 'send'), 'WORKING.polling']] },
      {
        title: 'in CONCLUDING, before anybody accepted that nothing was created',
        steps: [
          ...into.noLookup,
          [say.declareNeverCreated(), 'CONCLUDING.notSubmitted'],
          [say.acknowledged({}, 'send'), 'WORKING.polling'],
          holds({ notSubmitted: null }),
        ],
      },
      {
        title: 'an attempt that was never made is nobody of ours',
        steps: [
          ...into.sending,
          [say.acknowledged({}, { attempt: 2 }), 'refused'],
          [say.acknowledged({}, { attempt: 0 }), 'refused'],
        ],
      },
      {
        title: 'from another endpoint, tool version or request: refused',
        steps: [
          ...into.sending,
          [say.acknowledged({}, { endpointId: 'server-2' }), 'refused'],
          [say.acknowledged({}, { toolVersion: digestOf('9') }), 'refused'],
          [say.acknowledged({}, { requestDigest: digestOf('9') }), 'refused'],
        ],
      },
      {
        title: 'the same id again is a repetition, another id a contradiction (WORKING)',
        steps: [
          ...into.working,
          [say.acknowledged({}, 'send'), 'refused'],
          [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed'],
          parkedFor('contradiction'),
        ],
      },
      {
        title: 'another id is a contradiction in INPUT_REQUIRED',
        steps: [...into.asking, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']],
      },
      {
        title: 'in CANCEL_REQUESTED',
        steps: [...into.cancelling, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']],
      },
      {
        title: 'in TERMINAL_OBSERVED',
        steps: [...into.completed, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']],
      },
      {
        title: 'in FETCHING_RESULT',
        steps: [...into.verified, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']],
      },
      {
        title: 'in CLASSIFYING_NOT_FOUND',
        steps: [...into.missing, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']],
      },
      {
        title: 'in PARKED.watching',
        steps: [...into.unknownId, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']],
      },
      {
        title: 'an id after an outcome that came at once: two operations',
        steps: [
          ...into.sending,
          remember('send'),
          [say.outcome(), 'TERMINAL_OBSERVED.outcome'],
          [say.acknowledged({}, 'send'), 'PARKED.disputed'],
        ],
      },
      {
        title: 'an outcome without an id after an id: two operations',
        steps: [...into.working, [say.outcome(RESULT, 'send'), 'PARKED.disputed'], parkedFor('contradiction')],
      },
    ],
  },
  {
    row: 'B11: an outcome that comes at once has no task id, and needs its result all the same',
    scenarios: [
      {
        title: 'completed',
        steps: [
          ...into.sending,
          [say.outcome(), 'TERMINAL_OBSERVED.outcome'],
          holds({ taskId: null, terminal: { status: 'completed' } as never }),
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'failed, and late',
        steps: [
          ...into.unknown,
          [say.outcome(ERROR_RESULT, 'send'), 'TERMINAL_OBSERVED.outcome'],
          holds({ terminal: { status: 'failed' } as never }),
        ],
      },
      {
        title: 'twice: the first stays, a different one is recorded',
        steps: [
          ...into.sending,
          remember('send'),
          [say.outcome(), 'TERMINAL_OBSERVED.outcome'],
          [say.outcome(RESULT, 'send'), 'refused'],
          [say.outcome(OTHER_RESULT, 'send'), 'taken'],
          holds({ result: RESULT }),
          audited('submit.outcome'),
        ],
      },
      {
        title: 'its stored result cannot be read: nothing can be asked, a human has to',
        steps: [
          ...into.sending,
          [say.outcome(), 'TERMINAL_OBSERVED.outcome'],
          [say.fetchFailed(), 'FETCHING_RESULT.retrying'],
          wait(60_001),
          [say.fetchFailed(), 'PARKED.waiting'],
          parkedFor('result-unavailable'),
        ],
      },
      {
        title: 'a result under another attempt is not the one that was stored',
        steps: [
          ...into.sending,
          [say.outcome(), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(RESULT, { attempt: 2 }), 'refused'],
        ],
      },
    ],
  },
  {
    row: 'B4: tools/call answered with an error: definitely not done only before dispatch; the rest cannot be known',
    scenarios: [
      {
        title: 'rejected before dispatch: not submitted',
        steps: [
          ...into.sending,
          [say.rejected(), 'CONCLUDING.notSubmitted'],
          holds({ notSubmitted: { outcome: 'refused', reason: 'for a test' } }),
        ],
      },
      {
        title: 'rejected at the second attempt while the first could still arrive: searched for',
        given: DEDUPLICATING,
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.requeue(), 'SUBMITTING.queued'],
          [say.begin(), 'SUBMITTING.sending'],
          [say.rejected(), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ],
      },
      {
        title: 'provably not written: back on the queue',
        steps: [...into.sending, [say.notSent(), 'SUBMITTING.queued'], holds({ attempt: 1, sentThroughAttempt: 0 })],
      },
      {
        title: 'provably not written, said when the record had gone on',
        steps: [
          ...into.unknown,
          [say.notSent('send'), 'NOT_FOUND_SAFE'],
          holds({ sentThroughAttempt: 0, closedThroughAttempt: 1 }),
        ],
      },
      {
        title: 'said when it was parked',
        steps: [...into.noLookup, [say.notSent('send'), 'NOT_FOUND_SAFE'], [say.requeue(), 'SUBMITTING.queued']],
      },
      {
        title: 'G2: an executor that lost its lease on the queue knows nothing of the send of another',
        steps: [
          remember('queue'),
          ...into.sending,
          [say.notSent('queue'), 'refused'],
          [say.rejected('queue'), 'refused'],
        ],
      },
      {
        title: 'G2: what the sender of an earlier send says is not about this one',
        steps: [
          ...into.sending,
          remember('first'),
          [say.notSent(), 'SUBMITTING.queued'],
          [say.begin(), 'SUBMITTING.sending'],
          [say.notSent('first'), 'refused'],
          [say.senderLost('first'), 'refused'],
          [say.connectionLost('first'), 'refused'],
          [say.senderLost({ attempt: 2 }), 'refused'],
        ],
      },
      {
        title: 'not written and cancelled: not submitted',
        steps: [
          ...into.sending,
          [say.cancel(), 'taken'],
          [say.notSent(), 'CONCLUDING.notSubmitted'],
          holds({ notSubmitted: { outcome: 'cancelled', reason: 'for a test' } }),
        ],
      },
      {
        title: 'not written and cancelled, but the first attempt could still arrive: searched for',
        given: DEDUPLICATING,
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.requeue(), 'SUBMITTING.queued'],
          [say.begin(), 'SUBMITTING.sending'],
          [say.cancel(), 'taken'],
          [say.notSent(), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
        ],
      },
      {
        title: 'the server went while its task was known: its sender says nothing new',
        steps: [
          ...into.working,
          [say.gone(), 'PARKED.waiting'],
          [say.notSent({ attempt: 1 }), 'refused'],
          [say.rejected({ attempt: 1 }), 'refused'],
        ],
      },
    ],
  },
  {
    row: 'B13: "never created" while the first tools/call is on its way: another attempt only if it cannot make a second task',
    scenarios: [
      {
        title: 'the look-up closed the key for it',
        steps: [
          ...into.unknown,
          [say.neverCreated(1), 'NOT_FOUND_SAFE'],
          holds({ closedThroughAttempt: 1 }),
          [say.requeue(), 'SUBMITTING.queued'],
          holds({ attempt: 2 }),
        ],
      },
      {
        title: 'both meet in one key',
        given: DEDUPLICATING,
        steps: [...into.unknown, [say.neverCreated(0), 'NOT_FOUND_SAFE']],
      },
      {
        title: 'neither: searched for',
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
          [say.neverCreated(1), 'NOT_FOUND_SAFE'],
          holds({ parked: null }),
        ],
      },
      {
        title: 'after the key expired: absence proves nothing',
        given: { keyValidUntil: START + 1_000 },
        steps: [...into.unknown, wait(1_000), [say.neverCreated(1), 'PARKED.waiting'], parkedFor('key-expired')],
      },
      {
        title: 'the key expired while the next attempt waited (creation off): not sent any more',
        given: { ...DEDUPLICATING, keyValidUntil: START + 1_000 },
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          wait(1_000),
          [say.requeue(), 'PARKED.waiting'],
          parkedFor('key-expired'),
        ],
      },
      {
        title: 'or expired on the queue',
        given: { keyValidUntil: START + 1_000 },
        steps: [...into.secondQueued, wait(1_000), [say.begin(), 'PARKED.waiting'], parkedFor('key-expired')],
      },
      {
        title: 'a key that expired before the first send forbids nothing',
        given: { keyValidUntil: START + 1_000 },
        steps: [wait(1_000), [say.begin(), 'SUBMITTING.sending']],
      },
      {
        title: 'another executor found it after all',
        given: DEDUPLICATING,
        steps: [...into.unknown, [say.neverCreated(0), 'NOT_FOUND_SAFE'], [say.found(), 'WORKING.polling']],
      },
      {
        title: 'expired with receipt: accepted by it (never polled)',
        steps: [
          ...into.unknown,
          [say.receipt({ status: 'completed' }, RESULT), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'expired with receipt: cancelled',
        steps: [...into.unknown, [say.receipt({ status: 'cancelled' }, null), 'TERMINAL_OBSERVED.cancelled']],
      },
      {
        title: 'expired with a receipt but without the result: completed never advances (B11)',
        steps: [
          ...into.missing,
          [say.receipt({ status: 'completed' }, null), 'PARKED.waiting'],
          parkedFor('result-unavailable'),
          holds({ terminal: { status: 'completed' } as never }),
          [say.acceptByHand('completed', null), 'refused'],
          [say.acceptByHand('completed', RESULT), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'a receipt for a result that is in hand',
        steps: [
          ...into.working,
          [say.status('completed', {}, {}, RESULT), 'TERMINAL_OBSERVED.outcome'],
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.receipt({ status: 'completed' }, null), 'TERMINAL_OBSERVED.outcome'],
          holds({ result: RESULT }),
        ],
      },
      {
        title: 'a receipt that contradicts what was observed, or of another task',
        steps: [
          ...into.completed,
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.receipt({ status: 'cancelled' }, null), 'PARKED.disputed'],
        ],
      },
      {
        title: 'F9: a receipt of a task with another birth',
        steps: [...into.missing, [say.receipt({ status: 'completed', ...REBORN }, RESULT), 'PARKED.disputed']],
      },
    ],
  },
  {
    row: 'B9: cancel asked while SUBMITTING or SUBMISSION_UNKNOWN: recorded at once, sent the moment an id is known',
    scenarios: [
      {
        title: 'queued at attempt 1: nothing was sent, cancelled',
        steps: [
          [say.cancel(), 'CONCLUDING.notSubmitted'],
          holds({ cancelGeneration: 1, effectReconciliationRequired: false }),
          [say.accept(), 'NOT_SUBMITTED'],
        ],
      },
      {
        title: 'queued later, everything sent is closed: cancelled',
        steps: [...into.secondQueued, [say.cancel(), 'CONCLUDING.notSubmitted']],
      },
      {
        title: 'queued later, an earlier send is open: a late submission may still arrive',
        given: DEDUPLICATING,
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.requeue(), 'SUBMITTING.queued'],
          [say.cancel(), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
          holds({ cancelGeneration: 1 }),
          [say.found({}, {}), 'CANCEL_REQUESTED.sending'],
          holds({ cancelGeneration: 1 }),
        ],
      },
      {
        title: 'in sending: the acknowledgement sends it',
        steps: [
          ...into.sending,
          remember('send'),
          [say.cancel(), 'taken'],
          holds({ cancelGeneration: 1 }),
          [say.cancel('carol'), 'refused'],
          [say.acknowledged({}, 'send'), 'CANCEL_REQUESTED.sending'],
          check((context) => expect(context.stepDeadline).toBe(context.dueAt && context.dueAt + 60_000)),
        ],
      },
      {
        title: 'in SUBMISSION_UNKNOWN: the look-up sends it',
        steps: [...into.unknown, [say.cancel(), 'taken'], [say.found(), 'CANCEL_REQUESTED.sending']],
      },
      {
        title: 'in SUBMISSION_UNKNOWN: never created and closed: cancelled',
        steps: [
          ...into.unknown,
          [say.cancel(), 'taken'],
          [say.neverCreated(1), 'CONCLUDING.notSubmitted'],
          holds({
            notSubmitted: { outcome: 'cancelled', reason: 'cancelled; the server proved that nothing was created' },
          }),
        ],
      },
      {
        title: 'in SUBMISSION_UNKNOWN: never created and not closed: no receipt, also where both would meet in one key',
        given: DEDUPLICATING,
        steps: [
          ...into.unknown,
          [say.cancel(), 'taken'],
          [say.neverCreated(0), 'PARKED.searching'],
          parkedFor('late-submission-possible'),
          [say.found(), 'CANCEL_REQUESTED.sending'],
        ],
      },
      {
        title: 'in NOT_FOUND_SAFE, closed / open',
        steps: [...into.safe, [say.cancel(), 'CONCLUDING.notSubmitted']],
      },
      {
        title: 'in NOT_FOUND_SAFE, open',
        given: DEDUPLICATING,
        steps: [...into.unknown, [say.neverCreated(0), 'NOT_FOUND_SAFE'], [say.cancel(), 'PARKED.searching']],
      },
      {
        title: 'in PARKED without an id: late evidence sends it',
        steps: [
          ...into.noLookup,
          [say.cancel(), 'taken'],
          [say.cancel(), 'refused'],
          [say.acknowledged({}, 'send'), 'CANCEL_REQUESTED.sending'],
        ],
      },
      {
        title: 'in PARKED.searching',
        steps: [...into.searching, [say.cancel(), 'taken'], [say.found(), 'CANCEL_REQUESTED.sending']],
      },
    ],
  },
  {
    row: "B4: a look-up's answer that arrives after the record went on changes nothing",
    scenarios: [
      {
        title: 'found, after the next attempt was made: that attempt meets it',
        steps: [
          ...into.unknown,
          remember('look-up'),
          [say.neverCreated(1), 'NOT_FOUND_SAFE'],
          [say.requeue(), 'SUBMITTING.queued'],
          [say.found({}, 'look-up'), 'refused'],
          [say.begin(), 'SUBMITTING.sending'],
          [say.neverCreated(1, 'look-up'), 'refused'],
          [say.connectionLost(), 'SUBMISSION_UNKNOWN'],
          [say.neverCreated(1, 'look-up'), 'refused'],
          [say.found({}, 'look-up'), 'refused'],
          [say.lookupFailed('look-up'), 'refused'],
          [say.noLookup('look-up'), 'refused'],
        ],
      },
      {
        title: 'of SUBMISSION_UNKNOWN, in the classification of a 404',
        steps: [
          ...into.unknown,
          remember('look-up'),
          [say.found(), 'WORKING.polling'],
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.neverCreated(1, 'look-up'), 'refused'],
          [say.found({}, 'look-up'), 'refused'],
          [say.receipt({ status: 'completed' }, RESULT, 'look-up'), 'refused'],
          [say.noLookup('look-up'), 'refused'],
        ],
      },
      {
        title: 'two executors look up: one finds no look-up, the other the task',
        steps: [
          ...into.unknown,
          remember('look-up'),
          [say.noLookup(), 'PARKED.waiting'],
          [say.found({}, 'look-up'), 'WORKING.polling'],
        ],
      },
      {
        title: 'or its receipt',
        steps: [
          ...into.unknown,
          remember('look-up'),
          [say.noLookup(), 'PARKED.waiting'],
          [say.receipt({ status: 'failed' }, ERROR_RESULT, 'look-up'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
    ],
  },
  {
    row: 'B13: "never created" although a task id is on record: UNKNOWN, never NOT_FOUND_SAFE',
    scenarios: [
      {
        title: 'in the classification of a 404',
        steps: [...into.missing, [say.neverCreated(1), 'PARKED.watching'], parkedFor('unknown-id')],
      },
      {
        title: 'a human cannot declare it either',
        steps: [...into.working, [say.gone(), 'PARKED.waiting'], [say.declareNeverCreated(), 'refused']],
      },
    ],
  },
  {
    row: 'B9: cancel asked again while one is pending: the same generation; its answer is matched by task id',
    scenarios: [
      {
        title: 'asked twice',
        steps: [...into.cancelling, [say.cancel('carol'), 'refused'], holds({ cancelGeneration: 1 })],
      },
      {
        title: 'the answer of the first send, after it was sent again',
        steps: [
          ...into.cancelling,
          remember('first'),
          [say.cancelUnanswered(), 'CANCEL_REQUESTED.confirming'],
          [say.status('working'), 'CANCEL_REQUESTED.sending'],
          holds({ cancelGeneration: 1 }),
          [say.confirmed('first'), 'CANCEL_REQUESTED.confirmed'],
        ],
      },
      { title: 'in confirming', steps: [...into.confirming, [say.confirmed(), 'CANCEL_REQUESTED.confirmed']] },
      {
        title: 'in the classification of a 404',
        steps: [
          ...into.confirming,
          remember('cancel'),
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.confirmed('cancel'), 'CANCEL_REQUESTED.confirmed'],
        ],
      },
      {
        title: 'in PARKED.watching',
        steps: [
          ...into.confirming,
          remember('cancel'),
          wait(60_001),
          [say.pollFailed(), 'PARKED.watching'],
          parkedFor('cancel-unconfirmed'),
          [say.confirmed('cancel'), 'CANCEL_REQUESTED.confirmed'],
          holds({ parked: null }),
        ],
      },
      {
        title: 'in PARKED.waiting (stdio)',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.gone(), 'PARKED.waiting'],
          [say.confirmed('cancel'), 'CANCEL_REQUESTED.confirmed'],
        ],
      },
      {
        title: 'about another task: nothing',
        steps: [
          ...into.cancelling,
          [say.confirmed({ taskId: 'task-2' }), 'refused'],
          [say.confirmed({}, { taskId: 'task-2' }), 'refused'],
          [say.heard({ taskId: 'task-2' }), 'refused'],
        ],
      },
      {
        title: 'F9: of a task with another birth: contradiction',
        steps: [...into.cancelling, [say.confirmed({}, REBORN), 'PARKED.disputed']],
      },
      {
        title: 'answered twice: kept',
        steps: [...into.confirmed, [say.confirmed(), 'taken'], audited('cancel.confirmed')],
      },
    ],
  },
  {
    row: "F4: a cancel's success (2025-11-25) after completed was observed: the server contradicts itself, never ACCEPTED",
    scenarios: [
      {
        title: 'in TERMINAL_OBSERVED',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.confirmed('cancel'), 'PARKED.disputed'],
          parkedFor('contradiction'),
        ],
      },
      {
        title: 'with the result in hand',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.confirmed('cancel'), 'PARKED.disputed'],
          [say.accept(), 'refused'],
          holds({ terminal: { status: 'completed' } as never }),
        ],
      },
      {
        title: 'while its missing result is being explained',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.confirmed('cancel'), 'PARKED.disputed'],
        ],
      },
      {
        title: 'parked without the result',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.fetchFailed(), 'FETCHING_RESULT.retrying'],
          wait(60_001),
          [say.fetchFailed(), 'PARKED.watching'],
          [say.confirmed('cancel'), 'PARKED.disputed'],
        ],
      },
      {
        title: 'a cooperative server has no such answer',
        given: COOPERATIVE,
        steps: [
          ...into.cancelling,
          [say.confirmed(), 'refused'],
          remember('cancel'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.confirmed('cancel'), 'refused'],
        ],
      },
      {
        title: 'it agrees with a cancelled that was read: a repetition',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.status('cancelled'), 'TERMINAL_OBSERVED.cancelled'],
          [say.confirmed('cancel'), 'refused'],
          [say.accept(), 'CANCELLED_ACCEPTED'],
        ],
      },
    ],
  },
  {
    row: 'B9: cancel asked from TERMINAL_OBSERVED on: too late, nothing raised',
    scenarios: [
      {
        title: 'observed',
        steps: [...into.completed, [say.cancel(), 'refused'], holds({ cancelGeneration: 0, cancel: null })],
      },
      { title: 'cancelled by somebody', steps: [...into.cancelledSeen, [say.cancel(), 'refused']] },
      { title: 'fetching', steps: [...into.retrying, [say.cancel(), 'refused']] },
      { title: 'verified', steps: [...into.verified, [say.cancel(), 'refused']] },
      {
        title: 'its result is being classified',
        steps: [...into.completed, [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'], [say.cancel(), 'refused']],
      },
      { title: 'parked without its result', steps: [...into.unavailable, [say.cancel(), 'refused']] },
      { title: 'closing', steps: [...into.notSubmitted, [say.cancel(), 'refused']] },
    ],
  },
  {
    row: 'B9: the adapter or server has no cancel: refused with the reason; found out by trying: only polled',
    scenarios: [
      {
        title: 'declared: WORKING',
        given: NO_CANCEL,
        steps: [...into.working, [say.cancel(), 'refused'], holds({ cancelGeneration: 0 })],
      },
      { title: 'declared: SUBMITTING', given: NO_CANCEL, steps: [...into.sending, [say.cancel(), 'refused']] },
      {
        title: 'declared, and cancelled where it needs no server: the task that came late is only polled',
        given: able({ cancelSupported: false, deduplicates: true }),
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.cancel(), 'PARKED.searching'],
          [say.found(), 'WORKING.polling'],
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.noLookup(), 'PARKED.watching'],
          [say.status('working'), 'WORKING.polling'],
        ],
      },
      {
        title: 'the same, with a reply that came late',
        given: able({ cancelSupported: false, deduplicates: true }),
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.cancel(), 'PARKED.searching'],
          [say.acknowledged({}, 'send'), 'WORKING.polling'],
        ],
      },
      {
        title: 'the same, attached by hand',
        given: able({ cancelSupported: false, deduplicates: true }),
        steps: [
          ...into.unknown,
          [say.neverCreated(0), 'NOT_FOUND_SAFE'],
          [say.cancel(), 'PARKED.searching'],
          [say.attach(), 'WORKING.polling'],
        ],
      },
      {
        title: 'found out by trying',
        steps: [
          ...into.cancelling,
          [say.cancelUnsupported(), 'CANCEL_REQUESTED.confirming'],
          [say.status('working'), 'taken'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
    ],
  },
  {
    row: 'F4, B9: a terminal answer issued before the cancel arrives after it: taken, with its inlined result',
    scenarios: [
      {
        title: 'completed',
        steps: [
          ...into.working,
          remember('poll'),
          [say.cancel(), 'CANCEL_REQUESTED.sending'],
          [say.status('completed', 'poll', {}, RESULT), 'TERMINAL_OBSERVED.outcome'],
          holds({ result: RESULT }),
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'cancelled',
        steps: [
          ...into.working,
          remember('poll'),
          [say.cancel(), 'CANCEL_REQUESTED.sending'],
          [say.status('cancelled', 'poll'), 'TERMINAL_OBSERVED.cancelled'],
        ],
      },
      {
        title: 'while input is open',
        steps: [
          ...into.asking,
          [say.status('failed', 'send', {}), 'refused'],
          [say.status('failed', { pollCursor: 0 }), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
    ],
  },
  {
    row: 'F2, B9: a passing status issued before the cancel arrives after it: stale',
    scenarios: [
      {
        title: 'working, input_required, a failure and a 404',
        steps: [
          ...into.working,
          remember('poll'),
          [say.cancel(), 'CANCEL_REQUESTED.sending'],
          [say.cancelUnanswered(), 'CANCEL_REQUESTED.confirming'],
          [say.status('working', 'poll'), 'refused'],
          [say.status('input_required', 'poll'), 'refused'],
          [say.pollFailed('poll'), 'refused'],
          [say.notFound(false, 'poll'), 'refused'],
        ],
      },
      {
        title: 'F2: two pollers out of order',
        steps: [
          ...into.working,
          remember('slow'),
          [say.status('working'), 'taken'],
          [say.status('input_required', 'slow'), 'refused'],
          [say.status('working', 'slow'), 'refused'],
          [say.pollFailed('slow'), 'refused'],
          [say.status('completed', 'slow'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'of another attempt, round, task or birth',
        steps: [
          ...into.working,
          [say.status('working', { attempt: 2 }), 'refused'],
          [say.status('working', { inputRound: 1 }), 'refused'],
          [say.status('working', { cancelGeneration: 1 }), 'refused'],
          [say.status('working', { taskId: 'task-2' }), 'refused'],
          [say.status('working', {}, { taskId: 'task-2' }), 'refused'],
          [say.status('working', {}, REBORN), 'PARKED.disputed'],
        ],
      },
    ],
  },
  {
    row: 'B9, F4: the server says completed, then refuses the cancel (-32602): the terminal state is read, completed accepted',
    scenarios: [
      {
        title: 'refused, then read',
        steps: [
          ...into.cancelling,
          [say.cancelRefused(), 'CANCEL_REQUESTED.confirming'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
          holds({ terminal: { status: 'completed' } as never, cancelGeneration: 1 }),
        ],
      },
      {
        title: 'read, then refused',
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.cancelRefused('cancel'), 'refused'],
        ],
      },
    ],
  },
  {
    row: 'B9, B10: cancel acknowledged (2025-11-25): CANCELLED_ACCEPTED on that answer; completed later is only recorded',
    scenarios: [
      {
        title: 'with a possible effect',
        steps: [
          ...into.confirmed,
          [say.status('completed', {}, {}, RESULT), 'taken'],
          audited('poll.status'),
          [say.fetched(), 'taken'],
          [say.gone(), 'taken'],
          [say.status('working'), 'refused'],
          holds({ terminal: { status: 'cancelled' } as never, result: null }),
          [say.accept(), 'CANCELLED_ACCEPTED'],
          holds({ effectReconciliationRequired: true }),
          [say.status('completed', {}, {}, RESULT), 'refused'],
          [say.accept(), 'refused'],
        ],
      },
      {
        title: 'confirmed free of effects',
        given: able({ effectFree: true }),
        steps: [
          ...into.confirmed,
          [say.accept(), 'CANCELLED_ACCEPTED'],
          holds({ effectReconciliationRequired: false }),
        ],
      },
      {
        title: 'B12: a result that can still be read is attached for the audit',
        steps: [
          ...into.confirmed,
          [say.accept({}, {}, { released: false, marks: [] }, RESULT), 'CANCELLED_ACCEPTED'],
          holds({ auditResult: RESULT, result: null }),
        ],
      },
      {
        title: 'nobody asked: no such answer counts',
        steps: [
          ...into.working,
          remember('never'),
          [say.confirmed(), 'refused'],
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.confirmed('never'), 'refused'],
        ],
      },
    ],
  },
  {
    row: 'B9: cancel acknowledged (cooperative), then completed: completed is accepted; input is not answered, bounded, parked',
    scenarios: [
      {
        title: 'heard, then completed',
        given: COOPERATIVE,
        steps: [
          ...into.cancelling,
          [say.heard(), 'CANCEL_REQUESTED.confirming'],
          holds({ terminal: null }),
          [say.status('working'), 'taken'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'heard, then cancelled',
        given: COOPERATIVE,
        steps: [
          ...into.cancelling,
          [say.heard(), 'CANCEL_REQUESTED.confirming'],
          [say.status('cancelled'), 'TERMINAL_OBSERVED.cancelled'],
          [say.accept(), 'CANCELLED_ACCEPTED'],
          holds({ effectReconciliationRequired: true }),
        ],
      },
      {
        title: 'heard, then input_required for ever',
        given: COOPERATIVE,
        steps: [
          ...into.cancelling,
          [say.heard(), 'CANCEL_REQUESTED.confirming'],
          [say.status('input_required'), 'taken'],
          [say.question(), 'refused'],
          wait(60_001),
          [say.status('input_required'), 'PARKED.watching'],
          parkedFor('cancel-unconfirmed'),
          [say.status('input_required'), 'taken'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'heard late, while the status is being read',
        given: COOPERATIVE,
        steps: [
          ...into.cancelling,
          remember('cancel'),
          [say.cancelUnanswered(), 'CANCEL_REQUESTED.confirming'],
          [say.heard('cancel'), 'taken'],
          [say.status('working'), 'taken'],
        ],
      },
      {
        title: 'heard in the classification of a 404, and known again: its outcome is still waited for there',
        given: COOPERATIVE,
        steps: [
          ...into.confirming,
          remember('cancel'),
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.heard('cancel'), 'taken'],
          [say.noLookup(), 'PARKED.watching'],
          [say.heard('cancel'), 'taken'],
          [say.status('working'), 'CANCEL_REQUESTED.confirming'],
        ],
      },
    ],
  },
  {
    row: 'B12: cancelled by somebody else: CANCELLED_ACCEPTED with that evidence',
    scenarios: [
      {
        title: 'seen in a status',
        steps: [
          ...into.cancelledSeen,
          [say.accept({}, { executionEpoch: 4 }), 'refused'],
          [say.accept(), 'CANCELLED_ACCEPTED'],
          holds({
            cancelGeneration: 0,
            effectReconciliationRequired: true,
            terminal: { evidence: { kind: 'poll.status', status: 'cancelled' } } as never,
          }),
        ],
      },
    ],
  },
  {
    row: "F5: the cancel's reply is lost: get first; cancelled: accept; working: send again, same generation; unknown: classify",
    scenarios: [
      { title: 'cancelled', steps: [...into.confirming, [say.status('cancelled'), 'TERMINAL_OBSERVED.cancelled']] },
      {
        title: 'still working',
        steps: [
          ...into.confirming,
          [say.status('working'), 'CANCEL_REQUESTED.sending'],
          holds({ cancelGeneration: 1 }),
        ],
      },
      { title: 'unknown id', steps: [...into.confirming, [say.notFound(), 'CLASSIFYING_NOT_FOUND']] },
      {
        title: 'never confirmed: parked, and sent again when the server answers',
        steps: [
          ...into.confirming,
          [say.pollFailed(), 'taken'],
          wait(60_001),
          [say.status('working'), 'PARKED.watching'],
          parkedFor('cancel-unconfirmed'),
          [say.pollFailed(), 'taken'],
          [say.status('working'), 'CANCEL_REQUESTED.sending'],
          holds({ cancelGeneration: 1, parked: null }),
        ],
      },
      {
        title: 'asked again by a human',
        steps: [
          ...into.confirming,
          wait(60_001),
          [say.status('working'), 'PARKED.watching'],
          [say.cancel(), 'CANCEL_REQUESTED.sending'],
          holds({ cancelGeneration: 1 }),
        ],
      },
    ],
  },
  {
    row: 'B12: the server contradicts itself (terminal A, then terminal B): A stays, B goes to reconciliation',
    scenarios: [
      {
        title: 'completed, then failed',
        steps: [
          ...into.completed,
          [say.status('completed'), 'refused'],
          [say.status('failed'), 'PARKED.disputed'],
          parkedFor('contradiction'),
          holds({ terminal: { status: 'completed' } as never }),
        ],
      },
      {
        title: 'with the result in hand',
        steps: [...into.verified, [say.status('cancelled'), 'PARKED.disputed'], holds({ result: RESULT })],
      },
      {
        title: 'cancelled, then completed: a human cannot make a success of it (B10)',
        steps: [
          ...into.cancelledSeen,
          [say.status('completed'), 'PARKED.disputed'],
          [say.status('completed'), 'taken'],
          [say.status('working'), 'refused'],
          [say.acceptByHand('completed', RESULT), 'refused'],
          [say.acceptByHand('cancelled', null), 'TERMINAL_OBSERVED.cancelled'],
          [say.accept(), 'CANCELLED_ACCEPTED'],
        ],
      },
      {
        title: 'after the result could not be had',
        steps: [...into.unavailable, [say.status('cancelled'), 'PARKED.disputed']],
      },
      {
        title: 'while it is classified',
        steps: [
          ...into.completed,
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.status('cancelled'), 'PARKED.disputed'],
        ],
      },
      {
        title: 'disputed: all that is still seen is kept',
        steps: [
          ...into.disputed,
          [say.acknowledged(), 'taken'],
          [say.outcome(), 'taken'],
          [say.found(), 'taken'],
          [say.fetched(), 'taken'],
          [say.confirmed(), 'taken'],
          [say.fetched(RESULT, { endpointId: 'server-2' }), 'refused'],
          audited(
            'submit.acknowledged',
            'submit.acknowledged',
            'submit.outcome',
            'lookup.found',
            'result.fetched',
            'cancel.confirmed',
          ),
          [say.acceptByHand('completed', RESULT), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
    ],
  },
  {
    row: "F9: a task id with another createdAt, or already another operation's: contradiction",
    scenarios: [
      {
        title: 'another birth, in a status',
        steps: [
          ...into.working,
          [say.status('completed', {}, REBORN, RESULT), 'PARKED.disputed'],
          holds({ result: null, terminal: null }),
        ],
      },
      {
        title: 'another birth, in a late status',
        steps: [...into.completed, [say.status('completed', {}, REBORN), 'PARKED.disputed']],
      },
      {
        title: 'a birth that is not said is no contradiction',
        steps: [
          ...into.working,
          [say.status('working', {}, { createdAt: null }), 'taken'],
          holds({ taskCreatedAt: BORN }),
        ],
      },
      {
        title: 'foreign, in the acknowledgement',
        steps: [...into.sending, [say.acknowledged(FOREIGN), 'PARKED.disputed'], holds({ taskId: null })],
      },
      { title: 'foreign, in a look-up', steps: [...into.unknown, [say.found(FOREIGN), 'PARKED.disputed']] },
      {
        title: 'another id or birth, in the look-up after a 404',
        steps: [...into.missing, [say.found({ taskId: 'task-2' }), 'PARKED.disputed']],
      },
      {
        title: 'another birth, in the look-up after a 404',
        steps: [...into.missing, [say.found(REBORN), 'PARKED.disputed']],
      },
      {
        title: 'foreign, by hand',
        steps: [
          ...into.noLookup,
          [say.attach('task-2', true), 'refused'],
          [say.attach('task-2'), 'WORKING.polling'],
          holds({ taskId: 'task-2' }),
        ],
      },
      {
        title: 'another id than the known one, by hand',
        steps: [
          ...into.unknownId,
          [say.attach('task-2'), 'refused'],
          [say.attach('task-1'), 'WORKING.polling'],
          holds({ parked: null, missing: null }),
        ],
      },
    ],
  },
  {
    row: 'F11, B8: one poll fails: nothing is known, nothing changes: back off',
    scenarios: [
      {
        title: 'and Retry-After is a floor',
        steps: [
          ...into.working,
          [say.pollFailed(), 'taken'],
          [say.pollFailed(), 'taken'],
          holds({ failures: 2, serverStatus: 'working' }),
          [say.pollFailed({}, 90_000), 'taken'],
          check((context) => expect(context.dueAt).toBeGreaterThanOrEqual(START + 90_000)),
          [say.status('working'), 'taken'],
          holds({ failures: 0 }),
        ],
      },
      { title: 'while input is announced', steps: [...into.listening, [say.pollFailed(), 'taken']] },
    ],
  },
  {
    row: 'B7: status input_required without a delivered request: treated as working, nobody is asked',
    scenarios: [
      {
        title: 'listened for, then working again',
        steps: [
          ...into.listening,
          holds({ input: null, inputRound: 0 }),
          [say.status('input_required'), 'taken'],
          [say.status('working'), 'WORKING.polling'],
        ],
      },
      {
        title: 'bounded by the wait budget',
        steps: [
          ...into.listening,
          wait(600_001),
          [say.status('input_required'), 'PARKED.watching'],
          parkedFor('wait-budget'),
        ],
      },
      {
        title: 'announced too late to be waited for',
        steps: [
          ...into.working,
          wait(600_001),
          [say.status('input_required'), 'PARKED.watching'],
          parkedFor('wait-budget'),
        ],
      },
      {
        title: 'the channel of nobody closes',
        steps: [...into.listening, [say.channelClosed({ inputRound: 3 }), 'refused'], [say.channelClosed(), 'taken']],
      },
    ],
  },
  {
    row: 'B7, F3: input rounds: one answer per round, bound to round, schema digest and deadline',
    scenarios: [
      {
        title: 'two rounds',
        steps: [
          ...into.asking,
          remember('first'),
          [say.question('e', 'f', 'send'), 'refused'],
          [say.reply(1), 'INPUT_REQUIRED.replied'],
          [say.reply(1), 'refused'],
          [say.sendInput(), 'INPUT_REQUIRED.sending'],
          [say.delivered(), 'WORKING.listening'],
          holds({ input: { delivery: 'delivered' } as never }),
          [say.question('8', '9', { inputRound: 0 }), 'refused'],
          [say.question('8', '9'), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2, input: { possiblyRepeat: false } as never }),
          [say.reply(1, '8'), 'refused'],
          [say.reply(2, 'e'), 'refused'],
          [say.channelClosed('first'), 'refused'],
          [say.reply(2, '8'), 'INPUT_REQUIRED.replied'],
          [say.sendInput('first'), 'refused'],
          [say.sendInput(), 'INPUT_REQUIRED.sending'],
          [say.delivered('first'), 'refused'],
          [say.delivered(), 'WORKING.listening'],
          [say.status('working'), 'WORKING.polling'],
        ],
      },
      {
        title: 'F3: the same question once more after it was answered: a new round, told "possibly a repeat"',
        steps: [
          ...into.delivering,
          [say.delivered(), 'WORKING.listening'],
          [say.question(), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2, input: { possiblyRepeat: true } as never }),
        ],
      },
      {
        title: 'after the deadline',
        steps: [
          ...into.asking,
          [say.deadlinePassed(), 'refused'],
          wait(300_001),
          [say.reply(1), 'refused'],
          [say.deadlinePassed(), 'INPUT_REQUIRED.expired'],
          [say.reply(1), 'refused'],
        ],
      },
      {
        title: 'a question asked before the cancel arrives after it',
        steps: [
          ...into.listening,
          remember('channel'),
          [say.cancel(), 'CANCEL_REQUESTED.sending'],
          [say.question('e', 'f', 'channel'), 'refused'],
        ],
      },
      {
        title: 'a question that was asked under another cancel generation is not put',
        steps: [...into.listening, [say.question('e', 'f', { cancelGeneration: 1 }), 'refused']],
      },
      {
        title: 'cancel in each step of a round',
        steps: [
          ...into.asking,
          [say.cancel(), 'CANCEL_REQUESTED.sending'],
          [say.reply(1), 'refused'],
          holds({ pausedAt: null }),
        ],
      },
      {
        title: 'cancel after the answer',
        steps: [...into.replied, [say.cancel(), 'CANCEL_REQUESTED.sending'], [say.sendInput(), 'refused']],
      },
      {
        title: 'cancel while the answer is on its way',
        steps: [...into.delivering, [say.cancel(), 'CANCEL_REQUESTED.sending']],
      },
      { title: 'cancel after the deadline', steps: [...into.inputExpired, [say.cancel(), 'CANCEL_REQUESTED.sending']] },
    ],
  },
  {
    row: 'B7: input open, connection gone (2025-11-25): a stored answer goes out again only if it provably was never written',
    scenarios: [
      {
        title: 'lost before the answer: asked again as a new round',
        steps: [
          ...into.asking,
          [say.channelClosed(), 'WORKING.listening'],
          holds({ pausedAt: null }),
          [say.question(), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2, input: { possiblyRepeat: false } as never }),
        ],
      },
      {
        title: 'lost after it was recorded: sent without asking again',
        steps: [
          ...into.replied,
          [say.channelClosed(), 'WORKING.listening'],
          [say.question(), 'INPUT_REQUIRED.replied'],
          holds({ inputRound: 1 }),
          [say.sendInput(), 'INPUT_REQUIRED.sending'],
          [say.delivered(), 'WORKING.listening'],
        ],
      },
      {
        title: 'lost after it was recorded, but another question came',
        steps: [
          ...into.replied,
          [say.channelClosed(), 'WORKING.listening'],
          [say.question('8', '9'), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2 }),
        ],
      },
      {
        title: 'lost after it was recorded, but the deadline went by',
        steps: [
          ...into.replied,
          [say.channelClosed(), 'WORKING.listening'],
          wait(300_001),
          [say.question(), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2 }),
        ],
      },
      {
        title: 'provably not written: sent on the next channel',
        steps: [
          ...into.delivering,
          [say.notDelivered({ inputRound: 0 }), 'refused'],
          [say.notDelivered(), 'WORKING.listening'],
          [say.question(), 'INPUT_REQUIRED.replied'],
        ],
      },
      {
        title: 'perhaps written: asked again, "possibly a repeat", also when that channel is lost too',
        steps: [
          ...into.delivering,
          [say.channelClosed(), 'WORKING.listening'],
          [say.question(), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 2, input: { possiblyRepeat: true } as never }),
          [say.channelClosed(), 'WORKING.listening'],
          [say.question(), 'INPUT_REQUIRED.awaiting'],
          holds({ inputRound: 3, input: { possiblyRepeat: true } as never }),
        ],
      },
    ],
  },
  {
    row: 'B11: a result arrives on the channel that was held for questions: no evidence of the end, but never thrown away',
    scenarios: [
      {
        title: 'while listening: the status decides, and the fetch needs no server',
        steps: [
          ...into.listening,
          [say.channelClosed({}, RESULT), 'taken'],
          holds({ candidate: RESULT, result: null, terminal: null }),
          [say.accept(), 'refused'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(RESULT), 'FETCHING_RESULT.verified'],
          [say.channelClosed({}, RESULT), 'taken'],
          audited(),
          [say.accept(), 'ACCEPTED'],
        ],
      },
      ...(['asking', 'replied', 'delivering'] as const).map((state) => ({
        title: `while a question is open (${state})`,
        steps: [
          ...into[state],
          [say.channelClosed({}, RESULT), 'WORKING.listening'] as const,
          holds({ candidate: RESULT, pausedAt: null }),
        ],
      })),
      {
        title: 'of a channel that was replaced: kept, the open question stays',
        steps: [
          ...into.asking,
          [say.channelClosed({ inputRound: 0 }), 'refused'],
          [say.channelClosed({ inputRound: 0 }, RESULT), 'taken'],
          holds({ candidate: RESULT }),
        ],
      },
      {
        title: 'about another task, or without a result and late: nothing',
        steps: [
          ...into.working,
          [say.channelClosed({ taskId: 'task-2' }, RESULT), 'refused'],
          [say.channelClosed({}), 'refused'],
        ],
      },
      {
        title: 'a second one that differs: the first stays, the audit has both',
        steps: [
          ...into.working,
          [say.channelClosed({}, RESULT), 'taken'],
          [say.channelClosed({}, OTHER_RESULT), 'taken'],
          holds({ candidate: RESULT }),
          audited('input.channelClosed'),
        ],
      },
      {
        title: 'and the status that is read after it is not terminal: it was not the final one',
        steps: [
          ...into.working,
          remember('before'),
          [say.channelClosed({}, RESULT), 'taken'],
          [say.status('working', 'before'), 'refused'],
          holds({ candidate: RESULT }),
          [say.status('working'), 'taken'],
          holds({ candidate: null }),
          check(({ audit }) => expect(audit).toMatchObject([{ status: 'working', resultDigest: RESULT.digest }])),
        ],
      },
      {
        title: 'a cancel won: for the audit only',
        steps: [
          ...into.cancelling,
          [say.channelClosed({}, RESULT), 'taken'],
          [say.confirmed(), 'CANCEL_REQUESTED.confirmed'],
          [say.accept({}, {}, { released: false, marks: [] }, RESULT), 'CANCELLED_ACCEPTED'],
          holds({ result: null, auditResult: RESULT, effectReconciliationRequired: true }),
        ],
      },
      {
        title: 'after the cancel won, and after a cancelled status: the same',
        steps: [
          ...into.confirmed,
          [say.channelClosed({}, RESULT), 'taken'],
          holds({ candidate: RESULT, result: null }),
        ],
      },
      {
        title: 'after a cancelled status',
        steps: [
          ...into.cancelledSeen,
          [say.channelClosed({}, RESULT), 'taken'],
          holds({ candidate: RESULT, result: null }),
        ],
      },
      {
        title: 'the completion was first: the cancel is refused, the status says completed',
        steps: [
          ...into.cancelling,
          [say.channelClosed({}, RESULT), 'taken'],
          [say.cancelRefused(), 'CANCEL_REQUESTED.confirming'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          holds({ candidate: RESULT }),
        ],
      },
      {
        title: 'the id is unknown by then, the outcome too: a human accepts with it',
        steps: [
          ...into.listening,
          [say.channelClosed({}, RESULT), 'taken'],
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.noLookup(), 'PARKED.watching'],
          parkedFor('unknown-id'),
          [say.acceptByHand('completed', null), 'TERMINAL_OBSERVED.outcome'],
          holds({ result: RESULT }),
        ],
      },
      {
        title: 'a JSON-RPC error is no result of a completed call, also by hand',
        steps: [
          ...into.unknownId,
          [say.channelClosed({}, ERROR_RESULT), 'taken'],
          [say.acceptByHand('completed', null), 'refused'],
          [say.acceptByHand('failed', null), 'TERMINAL_OBSERVED.outcome'],
          holds({ result: ERROR_RESULT }),
        ],
      },
      {
        title: "the hand's own result counts more",
        steps: [
          ...into.unknownId,
          [say.channelClosed({}, RESULT), 'taken'],
          [say.acceptByHand('completed', OTHER_RESULT), 'TERMINAL_OBSERVED.outcome'],
          holds({ result: OTHER_RESULT, candidate: RESULT }),
        ],
      },
      {
        title: 'the id is unknown by then, and the server kept a receipt: both together are enough (B13)',
        steps: [
          ...into.missing,
          [say.channelClosed({ pollCursor: 0 }, RESULT), 'taken'],
          [say.receipt({ status: 'completed' }, null), 'TERMINAL_OBSERVED.outcome'],
          holds({ candidate: RESULT }),
        ],
      },
      {
        title: 'the receipt says completed, what came was an error: the result is still to be had',
        steps: [
          ...into.missing,
          [say.channelClosed({}, ERROR_RESULT), 'taken'],
          [say.receipt({ status: 'completed' }, null), 'PARKED.waiting'],
          parkedFor('result-unavailable'),
          [say.channelClosed({}, ERROR_RESULT), 'taken'],
          [say.channelClosed({}, RESULT), 'FETCHING_RESULT.verified'],
        ],
      },
      {
        title: 'while it is fetched, and the server forgets: what came is used',
        steps: [
          ...into.completed,
          [say.channelClosed({}, RESULT), 'taken'],
          [say.resultNotFound(), 'FETCHING_RESULT.retrying'],
          [say.resultNotFound(), 'taken'],
          [say.fetched(RESULT), 'FETCHING_RESULT.verified'],
        ],
      },
      {
        title: 'while it is fetched, but it cannot be read back: the budget still counts',
        steps: [
          ...into.completed,
          [say.channelClosed({}, RESULT), 'taken'],
          wait(60_001),
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
        ],
      },
      {
        title: 'after the server forgot: an observed outcome has its result after all',
        steps: [
          ...into.completed,
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.channelClosed({}, ERROR_RESULT), 'taken'],
          [say.channelClosed({}, RESULT), 'FETCHING_RESULT.verified'],
          holds({ result: RESULT, missing: null }),
        ],
      },
      {
        title: 'after it was parked: as above',
        steps: [...into.unavailable, [say.channelClosed({}, RESULT), 'FETCHING_RESULT.verified']],
      },
      {
        title: 'while it is disputed which task is ours: kept for the human',
        steps: [
          ...into.disputed,
          [say.channelClosed({}, RESULT), 'taken'],
          holds({ candidate: RESULT }),
          [say.acceptByHand('completed', null), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'F8: brought by an executor of an older epoch: to the inbox',
        steps: [
          ...into.working,
          [say.channelClosed(OLDER), 'refused'],
          [say.channelClosed(OLDER, RESULT), 'taken'],
          holds({ candidate: null, inbox: [{ resultDigest: RESULT.digest } as never] }),
        ],
      },
      {
        title: 'there is no id of ours: it is about something else',
        steps: [...into.unknown, [say.channelClosed({}, RESULT), 'refused']],
      },
    ],
  },
  {
    row: 'B7: the holder of an open channel dies (2025-11-25): noticed; the deadline does one last get before parking',
    scenarios: [
      {
        title: 'the prompt is lost, the status stays: by its deadline',
        steps: [
          ...into.asking,
          [say.channelClosed(), 'WORKING.listening'],
          [say.status('input_required'), 'taken'],
          wait(300_001),
          [say.status('input_required'), 'PARKED.watching'],
          parkedFor('input-deadline'),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'the same, seen from polling',
        steps: [
          ...into.asking,
          [say.channelClosed(), 'WORKING.listening'],
          [say.status('working'), 'WORKING.polling'],
          wait(300_001),
          [say.status('input_required'), 'PARKED.watching'],
          parkedFor('input-deadline'),
        ],
      },
      {
        title: 'an answer that certainly was written: input_required counts as working',
        steps: [
          ...into.delivering,
          [say.delivered(), 'WORKING.listening'],
          wait(300_001),
          [say.status('input_required'), 'taken'],
        ],
      },
      {
        title: 'nobody answered: one last look says completed',
        steps: [
          ...into.inputExpired,
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
          holds({ pausedAt: null }),
        ],
      },
      {
        title: 'one last look says nothing new',
        steps: [...into.inputExpired, [say.status('working'), 'PARKED.watching'], parkedFor('input-deadline')],
      },
      {
        title: 'one last look fails: tried again inside its budget',
        steps: [
          ...into.inputExpired,
          [say.pollFailed(), 'taken'],
          wait(60_001),
          [say.pollFailed(), 'PARKED.watching'],
          parkedFor('input-deadline'),
        ],
      },
      { title: 'one last look: unknown id', steps: [...into.inputExpired, [say.notFound(), 'CLASSIFYING_NOT_FOUND']] },
      {
        title: 'the holder lost its server (stdio)',
        steps: [...into.asking, [say.gone(), 'PARKED.waiting'], holds({ pausedAt: null })],
      },
    ],
  },
  {
    row: 'F6, F7: result lost, truncated or invalid: retried in FETCHING_RESULT, then PARKED; never advances',
    scenarios: [
      {
        title: 'retried, then had',
        steps: [
          ...into.retrying,
          [say.accept(), 'refused'],
          [say.fetchFailed(), 'taken'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'given up for now, and taken when it comes late',
        steps: [
          ...into.unavailable,
          parkedFor('result-unavailable'),
          [say.fetched(), 'FETCHING_RESULT.verified'],
          holds({ parked: null }),
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'given up for now, and fetched again when the status says it again',
        steps: [...into.unavailable, [say.status('completed'), 'TERMINAL_OBSERVED.outcome'], holds({ parked: null })],
      },
      {
        title: 'it comes while its id is being classified',
        steps: [
          ...into.completed,
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
          holds({ missing: null }),
        ],
      },
      {
        title: 'no outcome was observed: a result is kept for it, and does not count before',
        steps: [
          ...into.missing,
          [say.fetched(), 'taken'],
          holds({ result: null, candidate: RESULT, terminal: null }),
          [say.noLookup(), 'PARKED.watching'],
          [say.fetched(), 'taken'],
          holds({ result: null, candidate: RESULT, terminal: null }),
        ],
      },
      {
        title: 'the server is gone without it (stdio), and late',
        steps: [
          ...into.retrying,
          remember('fetch'),
          [say.gone(), 'PARKED.waiting'],
          [say.fetched(RESULT, 'fetch'), 'FETCHING_RESULT.verified'],
        ],
      },
      {
        title: 'the server is gone, but the result is in hand',
        steps: [
          ...into.working,
          [say.status('completed', {}, {}, RESULT), 'TERMINAL_OBSERVED.outcome'],
          [say.gone(), 'refused'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
        ],
      },
      {
        title: 'the server is gone before it',
        steps: [...into.completed, [say.gone(), 'PARKED.waiting'], parkedFor('server-gone')],
      },
      {
        title: 'of another task: nothing',
        steps: [
          ...into.completed,
          [say.fetched(RESULT, { taskId: 'task-2' }), 'refused'],
          [say.fetchFailed({ requestDigest: digestOf('9') }), 'refused'],
        ],
      },
      {
        title: 'unknown id while fetching',
        steps: [
          ...into.retrying,
          [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.found({ status: 'completed' }), 'WORKING.polling'],
        ],
      },
    ],
  },
  {
    row: 'B12: a result that differs when read again: the first verified one is final, the difference is recorded',
    scenarios: [
      {
        title: 'in hand already',
        steps: [
          ...into.verified,
          [say.fetched(), 'refused'],
          [say.fetched(OTHER_RESULT), 'taken'],
          holds({ result: RESULT }),
          audited('result.fetched'),
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'inlined, then fetched differently: not taken, retried, then parked',
        steps: [
          ...into.working,
          [say.status('completed', {}, {}, RESULT), 'TERMINAL_OBSERVED.outcome'],
          [say.status('completed', {}, {}, OTHER_RESULT), 'taken'],
          [say.fetched(OTHER_RESULT), 'FETCHING_RESULT.retrying'],
          [say.fetched(OTHER_RESULT), 'taken'],
          holds({ result: RESULT }),
          wait(60_001),
          [say.fetched(OTHER_RESULT), 'PARKED.watching'],
          parkedFor('result-unavailable'),
          [say.fetched(OTHER_RESULT), 'taken'],
          holds({ result: RESULT, candidate: null }),
          [say.status('completed', {}, {}, OTHER_RESULT), 'TERMINAL_OBSERVED.outcome'],
          holds({ result: RESULT }),
        ],
      },
    ],
  },
  {
    row: 'B11: tasks/result answers an error: failed is failed by status, and needs its error in hand',
    scenarios: [
      {
        title: 'failed with its error',
        steps: [
          ...into.working,
          [say.status('failed'), 'TERMINAL_OBSERVED.outcome'],
          [say.accept(), 'refused'],
          [say.fetched(ERROR_RESULT), 'FETCHING_RESULT.verified'],
          [say.accept(), 'ACCEPTED'],
          holds({ terminal: { status: 'failed' } as never }),
        ],
      },
      {
        title: 'for completed: a failed fetch',
        steps: [
          ...into.completed,
          [say.fetchFailed(), 'FETCHING_RESULT.retrying'],
          holds({ terminal: { status: 'completed' } as never }),
        ],
      },
    ],
  },
  {
    row: 'B12: an output guard says no: the outcome is kept and marked, nothing is released',
    scenarios: [
      {
        title: 'marked',
        steps: [
          ...into.verified,
          [say.accept({}, {}, { released: false, marks: ['pii'] }), 'ACCEPTED'],
          holds({ outputVerdict: { released: false, marks: ['pii'] } }),
        ],
      },
    ],
  },
  {
    row: 'B12: acceptTerminal matches call node, digest, task id, tool version, epoch, generation, state and result',
    scenarios: [
      {
        title: 'each field alone refuses',
        steps: [
          ...into.verified,
          [say.accept({ callNode: 'other' }), 'refused'],
          [say.accept({ requestDigest: digestOf('9') }), 'refused'],
          [say.accept({ taskId: 'task-2' }), 'refused'],
          [say.accept({ toolVersion: digestOf('9') }), 'refused'],
          [say.accept({ executionEpoch: '4' }), 'refused'],
          [say.accept({ cancelGeneration: '1' }), 'refused'],
          [say.accept({ terminalState: 'failed' }), 'refused'],
          [say.accept({ resultDigest: digestOf('2') }), 'refused'],
          [say.accept({}, { executionEpoch: 4 }), 'refused'],
          [say.accept(), 'ACCEPTED'],
        ],
      },
      {
        title: 'the conclusions, too',
        steps: [
          ...into.givenUp,
          [say.status('completed'), 'taken'],
          [say.accept({ terminalState: 'not_submitted' }), 'refused'],
          [say.accept(), 'GIVEN_UP'],
          holds({ effectReconciliationRequired: true }),
        ],
      },
      {
        title: 'not submitted',
        steps: [
          ...into.notSubmitted,
          [say.accept({ terminalState: 'given_up' }), 'refused'],
          [say.accept(), 'NOT_SUBMITTED'],
        ],
      },
    ],
  },
  {
    row: 'F10, B13: 404 / unknown id: classified by key, receipt and session; never "failed"',
    scenarios: [
      {
        title: 'before expiry',
        steps: [
          ...into.sending,
          [say.acknowledged({ expiry }), 'WORKING.polling'],
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          wait(60_001),
          [say.lookupFailed(), 'PARKED.watching'],
          parkedFor('unknown-id'),
        ],
      },
      {
        title: 'after expiry',
        steps: [
          ...into.sending,
          [say.acknowledged({ expiry }), 'WORKING.polling'],
          wait(2_001),
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.noLookup(), 'PARKED.watching'],
          parkedFor('expired'),
        ],
      },
      {
        title: 'after expiry, with receipt',
        steps: [
          ...into.sending,
          [say.acknowledged({ expiry }), 'WORKING.polling'],
          wait(2_001),
          [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
          [say.receipt({ status: 'completed' }, RESULT), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'under a new session: cannot know',
        steps: [
          ...into.working,
          [say.notFound(true), 'CLASSIFYING_NOT_FOUND'],
          [say.lookupFailed(), 'taken'],
          [say.noLookup(), 'PARKED.watching'],
          parkedFor('session-lost'),
        ],
      },
      {
        title: 'found again by key',
        steps: [...into.missing, [say.found(), 'WORKING.polling'], holds({ missing: null })],
      },
      {
        title: 'found again by key, a cancel was asked meanwhile',
        steps: [
          ...into.missing,
          [say.cancel(), 'taken'],
          [say.cancel(), 'refused'],
          [say.found(), 'CANCEL_REQUESTED.sending'],
        ],
      },
      {
        title: 'known again later',
        steps: [
          ...into.unknownId,
          parkedFor('unknown-id'),
          [say.notFound(), 'taken'],
          [say.status('working'), 'WORKING.polling'],
          holds({ parked: null }),
        ],
      },
      {
        title: 'a late terminal status decides',
        steps: [
          ...into.missing,
          [say.status('completed', 'send', {}), 'refused'],
          [say.status('completed', { pollCursor: 0 }), 'TERMINAL_OBSERVED.outcome'],
          holds({ missing: null }),
        ],
      },
      { title: 'the server is gone', steps: [...into.missing, [say.gone(), 'PARKED.waiting']] },
      {
        title: 'of the result',
        steps: [
          ...into.completed,
          [say.resultNotFound(true, { taskId: 'task-2' }), 'refused'],
          [say.resultNotFound(true), 'CLASSIFYING_NOT_FOUND'],
          holds({ missing: { sessionChanged: true } as never }),
        ],
      },
    ],
  },
  {
    row: 'B8: the wait budget is used up: PARKED, not a cancel, not a failure; a human or an owed cancel do not count',
    scenarios: [
      {
        title: 'working',
        steps: [
          ...into.working,
          wait(600_001),
          [say.status('working'), 'PARKED.watching'],
          parkedFor('wait-budget'),
          [say.status('working'), 'taken'],
          holds({ cancelGeneration: 0, terminal: null }),
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
      {
        title: 'failing',
        steps: [...into.working, wait(600_001), [say.pollFailed(), 'PARKED.watching'], parkedFor('wait-budget')],
      },
      { title: 'listening', steps: [...into.listening, wait(600_001), [say.status('working'), 'PARKED.watching']] },
      {
        title: 'time on a human does not count',
        given: { policy: { ...POLICY, inputDeadlineMs: 10_000_000 } },
        steps: [
          ...into.asking,
          wait(5_000_000),
          [say.reply(1), 'INPUT_REQUIRED.replied'],
          [say.sendInput(), 'INPUT_REQUIRED.sending'],
          [say.delivered(), 'WORKING.listening'],
          [say.status('working'), 'WORKING.polling'],
          [say.status('working'), 'taken'],
        ],
      },
      {
        title: 'nor does an owed cancel',
        given: { policy: { ...POLICY, cancelBudgetMs: 10_000_000 } },
        steps: [
          ...into.cancelling,
          wait(5_000_000),
          [say.heard(), 'CANCEL_REQUESTED.confirming'],
          [say.status('working'), 'taken'],
        ],
      },
      {
        title: 'the server is gone from PARKED',
        steps: [
          ...into.unknownId,
          [say.gone(), 'PARKED.waiting'],
          [say.status('completed', 'send'), 'refused'],
          [say.status('completed'), 'TERMINAL_OBSERVED.outcome'],
        ],
      },
    ],
  },
  {
    row: 'G5: a human reconciles, with the evidence in writing',
    scenarios: [
      {
        title: 'accept cancelled',
        steps: [...into.unknownId, [say.acceptByHand('cancelled', null), 'TERMINAL_OBSERVED.cancelled']],
      },
      {
        title: 'accept completed, with its result',
        steps: [
          ...into.unknownId,
          [say.acceptByHand('completed', null), 'refused'],
          [say.acceptByHand('completed', RESULT), 'TERMINAL_OBSERVED.outcome'],
          [say.fetched(), 'FETCHING_RESULT.verified'],
        ],
      },
      {
        title: 'attach, and a cancel is wanted',
        steps: [
          ...into.noLookup,
          [say.cancel(), 'taken'],
          [say.attach('task-9', true), 'refused'],
          [say.attach('task-9'), 'CANCEL_REQUESTED.sending'],
        ],
      },
      {
        title: 'never created',
        steps: [
          ...into.noLookup,
          [say.declareNeverCreated(), 'CONCLUDING.notSubmitted'],
          [say.accept(), 'NOT_SUBMITTED'],
        ],
      },
      {
        title: 'give up',
        steps: [
          ...into.disputed,
          [say.attach(), 'refused'],
          [say.cancel(), 'refused'],
          [say.giveUp(), 'CONCLUDING.givenUp'],
          [say.accept(), 'GIVEN_UP'],
        ],
      },
      {
        title: 'only what is parked',
        steps: [...into.working, [say.giveUp(), 'refused'], [say.acceptByHand('completed', RESULT), 'refused']],
      },
    ],
  },
  {
    row: 'F8, R3: an executor of an older epoch: its evidence goes to the inbox, and the current epoch asks for itself',
    scenarios: [
      {
        title: 'a newer epoch takes over, once',
        steps: [
          ...into.working,
          [say.adopt(5), 'refused'],
          [say.adopt(4), 'refused'],
          [say.adopt(6), 'taken'],
          holds({ executionEpoch: 6 }),
          [say.status('working', { executionEpoch: 5 }), 'refused'],
        ],
      },
      {
        title: 'evidence is kept, not applied',
        steps: [
          ...into.working,
          [say.status('completed', OLDER, {}, RESULT), 'taken'],
          check((context) =>
            expect(context.inbox).toMatchObject([{ kind: 'poll.status', executionEpoch: 4, status: 'completed' }]),
          ),
          check((context) => expect(context.dueAt).toBe(context.inbox[0]?.at)),
          holds({ terminal: null, result: null }),
        ],
      },
      {
        title: 'a passing status is not evidence',
        steps: [...into.working, [say.status('working', OLDER), 'refused']],
      },
      {
        title: 'of another endpoint or request: not ours',
        steps: [
          ...into.working,
          [say.status('completed', { ...OLDER, endpointId: 'server-2' }), 'refused'],
          [say.status('completed', { ...OLDER, requestDigest: digestOf('9') }), 'refused'],
        ],
      },
      {
        title: 'an epoch that the record does not have yet',
        steps: [...into.working, [say.status('completed', { executionEpoch: 6 }), 'refused']],
      },
      {
        title: 'an id from an older epoch, at a record that waits: it is asked for, now',
        steps: [
          ...into.noLookup,
          [say.acknowledged({}, OLDER), 'PARKED.searching'],
          check((context) => expect(context.dueAt).toBe(context.inbox[0]?.at)),
          [say.found(), 'WORKING.polling'],
          holds({ inbox: [] }),
        ],
      },
      { title: 'a look-up of an older epoch', steps: [...into.noLookup, [say.found({}, OLDER), 'PARKED.searching']] },
      {
        title: 'an id that is known already wakes nobody (stdio)',
        steps: [
          ...into.working,
          [say.gone(), 'PARKED.waiting'],
          [say.acknowledged({}, OLDER), 'taken'],
          holds({ dueAt: null }),
        ],
      },
      {
        title: 'its cancel, its result',
        steps: [
          ...into.cancelling,
          [say.confirmed(OLDER), 'taken'],
          [say.fetched(RESULT, OLDER), 'taken'],
          check((context) => expect(context.inbox).toHaveLength(2)),
        ],
      },
      {
        title: 'what is only a step is refused',
        steps: [
          [say.begin(true, OLDER), 'refused'],
          ...into.sending,
          [say.senderLost(OLDER), 'refused'],
          [say.rejected(OLDER), 'refused'],
        ],
      },
    ],
  },
  {
    row: 'B3: who begins a step must have read the current record',
    scenarios: [
      {
        title: 'another attempt or cancel generation',
        steps: [
          [say.begin(true, { attempt: 2 }), 'refused'],
          [say.begin(true, { cancelGeneration: 1 }), 'refused'],
        ],
      },
      {
        title: 'only what is queued is begun',
        steps: [...into.sending, [say.begin(), 'refused'], [say.requeue(), 'refused']],
      },
    ],
  },
  ...EVERY_PLACE,
  ...QUESTIONS,
];

export const SCENARIOS: readonly Scenario[] = RACES.flatMap(({ scenarios }) => scenarios);
