/** The checker itself: an honest history passes, and each planted one is named by its row. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type CallHistory, check, type History, type SeenReceipt, type SeenStep } from '../kit/checker.ts';

const RESULT = { content: [{ text: 'done', type: 'text' }] };
/** Keys are sorted already, so this is the canonical text. */
const DIGEST = createHash('sha256').update(JSON.stringify(RESULT)).digest('hex');

const walk = (...path: (readonly [event: string, to: string])[]): SeenStep[] =>
  path.map(([event, to], i) => ({ event, to, from: path[i - 1]?.[1] ?? '', at: 1_000 + i * 100 }));

const CREATED = ['created', 'SUBMITTING.queued'] as const;
const SENDING = ['submit.begin', 'SUBMITTING.sending'] as const;
const WORKING = ['submit.acknowledged', 'WORKING.polling'] as const;
const LISTENING = ['poll.status', 'WORKING.listening'] as const;
const AWAITING = ['input.requested', 'INPUT_REQUIRED.awaiting'] as const;
const REPLIED = ['input.reply', 'INPUT_REQUIRED.replied'] as const;
const WRITING = ['input.send', 'INPUT_REQUIRED.sending'] as const;
const DELIVERED = ['input.delivered', 'WORKING.listening'] as const;
const OBSERVED = ['poll.status', 'TERMINAL_OBSERVED.outcome'] as const;
const VERIFIED = ['result.fetched', 'FETCHING_RESULT.verified'] as const;
const ACCEPTED = ['terminal.accept', 'ACCEPTED'] as const;
const CANCELLING = ['cancel.request', 'CANCEL_REQUESTED.sending'] as const;
const CONFIRMED = ['cancel.confirmed', 'CANCEL_REQUESTED.confirmed'] as const;
const CANCELLED = ['terminal.accept', 'CANCELLED_ACCEPTED'] as const;
const UNKNOWN = ['submit.connectionLost', 'SUBMISSION_UNKNOWN'] as const;
const NOTHING = ['cancel.request', 'CONCLUDING.notSubmitted'] as const;
const NOT_SUBMITTED = ['terminal.accept', 'NOT_SUBMITTED'] as const;

const receipt: SeenReceipt = {
  callNodeId: 'node',
  outcome: 'completed',
  status: 'completed',
  taskId: 'task',
  resultDigest: DIGEST,
  released: true,
  effectReconciliationRequired: false,
};
const cancelledReceipt: SeenReceipt = {
  ...receipt,
  outcome: 'cancelled',
  status: 'cancelled',
  resultDigest: null,
  released: false,
  effectReconciliationRequired: true,
};
const notSubmittedReceipt: SeenReceipt = {
  ...cancelledReceipt,
  outcome: 'not_submitted',
  status: null,
  taskId: null,
  effectReconciliationRequired: false,
};

interface Change {
  readonly server?: Partial<CallHistory['server']>;
  readonly ledger?: Partial<CallHistory['ledger']>;
  readonly steps?: readonly (readonly [event: string, to: string])[];
  readonly receipt?: SeenReceipt;
  readonly output?: unknown;
}

const FIRST = { question: 'question 1', meant: 'question 1' };
const ANSWERED = [CREATED, SENDING, WORKING, LISTENING, AWAITING, REPLIED, WRITING, DELIVERED] as const;

/** A call with one answered question that completed; `change` plants what is wrong. */
function completed(change: Change = {}): CallHistory {
  const path = change.steps ?? [...ANSWERED, OBSERVED, VERIFIED, ACCEPTED];
  const held = change.receipt ?? receipt;
  const output = 'output' in change ? change.output : held.released ? RESULT : null;
  return {
    callNode: 'node',
    effectFree: false,
    server: {
      calls: [{ key: 'key', at: 1_150 }],
      tasks: [{ taskId: 'task', ended: ['completed'], stored: [RESULT] }],
      executions: 1,
      immediate: [],
      answers: [FIRST],
      cancels: [],
      ...change.server,
    },
    ledger: {
      steps: walk(...path),
      state: path.at(-1)?.[1] ?? '',
      receipts: [held],
      deliveries: [{ receipt: held, output }],
      acknowledged: 1,
      ...change.ledger,
    },
  };
}

const cancelled = (change: Change = {}) =>
  completed({
    receipt: cancelledReceipt,
    steps: [CREATED, SENDING, WORKING, CANCELLING, CONFIRMED, CANCELLED],
    ...change,
    server: {
      answers: [],
      cancels: [1_320],
      tasks: [{ taskId: 'task', ended: ['cancelled'], stored: [] }],
      ...change.server,
    },
  });

const notSubmitted = (change: Change = {}) =>
  completed({
    receipt: notSubmittedReceipt,
    steps: [CREATED, NOTHING, NOT_SUBMITTED],
    ...change,
    server: { calls: [], tasks: [], executions: 0, answers: [], ...change.server },
  });

const history = (calls: readonly CallHistory[], more: Partial<History> = {}): History => ({
  calls,
  servers: [],
  settled: true,
  clockToleranceMs: 5,
  ...more,
});
const judged = (call: CallHistory, more?: Partial<History>) =>
  check(history([call], more)).map(({ row, callNode, what }) => {
    expect(callNode).toBe('node');
    return `${row}: ${what}`;
  });

describe('the independent checker', () => {
  it.each([
    ['completed after one input round', completed()],
    ['cancelled by a confirmed cancel', cancelled()],
    ['cancelled before anything was sent', notSubmitted()],
    [
      'parked with a lost submission',
      completed({
        steps: [CREATED, SENDING, UNKNOWN, ['lookup.unavailable', 'PARKED.waiting']],
        server: { answers: [] },
        ledger: { receipts: [], deliveries: [], acknowledged: 0 },
      }),
    ],
    [
      'an answer that provably was not written goes out on the next channel',
      completed({
        steps: [
          ...ANSWERED.slice(0, -1),
          ['input.notDelivered', 'WORKING.listening'],
          ['input.requested', 'INPUT_REQUIRED.replied'],
          WRITING,
          DELIVERED,
          OBSERVED,
          VERIFIED,
          ACCEPTED,
        ],
      }),
    ],
    [
      'a result that the server no longer holds',
      completed({ server: { tasks: [{ taskId: 'task', ended: [], stored: [], forgotten: true }] } }),
    ],
    [
      'an outcome that came at once',
      completed({
        receipt: { ...receipt, taskId: null },
        steps: [CREATED, SENDING, ['submit.outcome', 'TERMINAL_OBSERVED.outcome'], VERIFIED, ACCEPTED],
        server: { tasks: [], immediate: [RESULT], answers: [] },
      }),
    ],
    [
      'a ready row that came twice',
      completed({
        ledger: {
          deliveries: [
            { receipt, output: RESULT },
            { receipt, output: RESULT },
          ],
        },
      }),
    ],
  ])('passes an honest history: %s', (_, call) => {
    expect(judged(call)).toEqual([]);
  });

  it.each<readonly [name: string, call: CallHistory, expected: readonly string[]]>([
    [
      'B12, at most one receipt per call node',
      completed({ ledger: { receipts: [receipt, { ...receipt, resultDigest: 'f'.repeat(64) }] } }),
      ['B12: 2 different receipts for one call node'],
    ],
    [
      'B12, more than one acceptance',
      completed({ steps: [...ANSWERED, OBSERVED, VERIFIED, ACCEPTED, ACCEPTED] }),
      ['B5: terminal.accept led on from the final ACCEPTED to ACCEPTED', 'B12: more than one acceptance'],
    ],
    [
      "B12, the receipt agrees with the server's terminal state",
      completed({ server: { tasks: [{ taskId: 'task', ended: ['failed'], stored: [RESULT] }] } }),
      ['B12: "completed", but on the server the task is "failed"'],
    ],
    [
      'B12, a receipt while the server still works',
      cancelled({ server: { tasks: [{ taskId: 'task', ended: [], stored: [] }] } }),
      ['B12: "cancelled", but on the server the task is "working"'],
    ],
    [
      'B12, a receipt for a task that nobody made',
      completed({ receipt: { ...receipt, taskId: 'other' } }),
      [
        'B11: "completed" with a result that the server never had',
        'B12: a receipt for a task that the server never made',
      ],
    ],
    [
      'B12, the receipt of another call node',
      completed({ receipt: { ...receipt, callNodeId: 'other' } }),
      ['B12: the receipt of another call node (other)'],
    ],
    [
      'B12, a final state without a receipt',
      completed({ ledger: { receipts: [], deliveries: [], acknowledged: 0 } }),
      ['B12: ACCEPTED without a receipt'],
    ],
    [
      'B12, a receipt before the end',
      completed({ steps: [...ANSWERED, OBSERVED, VERIFIED] }),
      [
        'B12: a receipt, although the record is in FETCHING_RESULT.verified',
        'G1: neither terminal nor parked, but FETCHING_RESULT.verified',
      ],
    ],
    [
      'B12, a final state with the receipt of another one',
      cancelled({ steps: [CREATED, SENDING, WORKING, CANCELLING, OBSERVED, VERIFIED, ACCEPTED] }),
      ['B12: ACCEPTED with a receipt "cancelled"'],
    ],
    [
      'B6, the status is the word of the protocol',
      completed({ receipt: { ...receipt, status: 'failed' } }),
      ['B6: status "failed" for "completed"'],
    ],
    [
      'B11, no completed advance without its result (F6)',
      completed({ receipt: { ...receipt, resultDigest: null }, output: null }),
      ['B11: "completed" without its result', 'B11: "completed" advanced without its result'],
    ],
    [
      'B11, the result is the one that the server stored (F7)',
      completed({ server: { tasks: [{ taskId: 'task', ended: ['completed'], stored: [{ content: [] }] }] } }),
      ['B11: "completed" with a result that the server never had'],
    ],
    [
      'B12, what is handed out is the accepted result',
      completed({ output: { content: [] } }),
      ['B12: what was handed out for "completed" is not the accepted result'],
    ],
    [
      'B12, what a guard held back is not handed out',
      completed({ receipt: { ...receipt, released: false }, output: RESULT }),
      ['B12: what was handed out for "completed" is not the accepted result'],
    ],
    [
      'B12, a cancelled call has no success payload',
      cancelled({ receipt: { ...cancelledReceipt, resultDigest: DIGEST } }),
      ['B12: a success payload in the receipt "cancelled"'],
    ],
    [
      'B10, a won cancel never becomes a success (F4)',
      completed({
        steps: [...ANSWERED, CANCELLING, CONFIRMED, OBSERVED, VERIFIED, ACCEPTED],
        server: { cancels: [2_000], tasks: [{ taskId: 'task', ended: ['cancelled', 'completed'], stored: [RESULT] }] },
      }),
      ['B10: the cancel won, and the receipt says "completed"'],
    ],
    [
      'B10, a possible effect is recorded',
      cancelled({ receipt: { ...cancelledReceipt, effectReconciliationRequired: false } }),
      ['B10: a possible effect must be recorded for a cancelled call'],
    ],
    [
      'G2, no second task (F1)',
      completed({
        server: {
          tasks: [
            { taskId: 'task', ended: ['completed'], stored: [RESULT] },
            { taskId: 'second', ended: [], stored: [] },
          ],
        },
      }),
      ['G2: 2 operations for one call node'],
    ],
    ['G2, no second run', completed({ server: { executions: 2 } }), ['G2: 2 operations for one call node']],
    [
      'B4, no new key',
      completed({
        steps: [
          CREATED,
          SENDING,
          ['submit.notSent', 'SUBMITTING.queued'],
          SENDING,
          WORKING,
          OBSERVED,
          VERIFIED,
          ACCEPTED,
        ],
        server: {
          answers: [],
          calls: [
            { key: 'key', at: 1_150 },
            { key: 'other', at: 1_350 },
          ],
        },
      }),
      ['B4: another submission key was minted'],
    ],
    [
      'B4, no second send without a step of its own',
      completed({
        server: {
          calls: [
            { key: 'key', at: 1_150 },
            { key: 'key', at: 1_160 },
          ],
        },
      }),
      ['B4: tools/call number 2 reached the server without a committed SUBMITTING.sending of its own'],
    ],
    [
      'B4, no send before the commit',
      completed({ server: { calls: [{ key: 'key', at: 1_050 }] } }),
      ['B4: tools/call number 1 reached the server without a committed SUBMITTING.sending of its own'],
    ],
    [
      'B13, no "never created" while a task exists',
      notSubmitted({ server: { tasks: [{ taskId: 'task', ended: [], stored: [] }] } }),
      ['B13: "not submitted" although the server has a task'],
    ],
    [
      'B7, one round is answered once (F3)',
      completed({ server: { answers: [FIRST, FIRST] } }),
      ['B7: "question 1" was answered 2 times'],
    ],
    [
      'B7, a reply is bound to its round',
      completed({ server: { answers: [{ question: 'question 2', meant: 'question 1' }] } }),
      ['B7: "question 2" was given the answer to "question 1"'],
    ],
    [
      'B7, an answer that may be on the wire is not written again',
      completed({
        steps: [
          ...ANSWERED.slice(0, -1),
          ['input.channelClosed', 'WORKING.listening'],
          ['input.requested', 'INPUT_REQUIRED.replied'],
          WRITING,
          DELIVERED,
          OBSERVED,
          VERIFIED,
          ACCEPTED,
        ],
      }),
      ['B7: an input round was taken to the wire twice'],
    ],
    [
      'B9, no cancel on the wire before its generation is committed',
      cancelled({ server: { cancels: [1_290] } }),
      ['B9: tasks/cancel reached the server before CANCEL_REQUESTED was committed'],
    ],
    [
      'B14, no cancel that nobody asked for',
      cancelled({
        steps: [CREATED, SENDING, WORKING, ['poll.failed', 'CANCEL_REQUESTED.sending'], CONFIRMED, CANCELLED],
      }),
      ['B14: CANCEL_REQUESTED, although nobody asked for a cancel'],
    ],
    [
      'B5, only along the arrows',
      completed({ steps: [CREATED, SENDING, WORKING, VERIFIED, ACCEPTED], server: { answers: [] } }),
      ['B5: result.fetched led from WORKING.polling to FETCHING_RESULT.verified: no such arrow'],
    ],
    [
      'B5, accepted only with a verified result',
      completed({
        steps: [CREATED, SENDING, WORKING, OBSERVED, ['result.failed', 'FETCHING_RESULT.retrying'], ACCEPTED],
      }),
      ['B5: terminal.accept led from FETCHING_RESULT.retrying to ACCEPTED: no such arrow'],
    ],
    [
      'B4, SUBMISSION_UNKNOWN never leads straight back',
      completed({ steps: [CREATED, SENDING, UNKNOWN, SENDING, WORKING, OBSERVED, VERIFIED, ACCEPTED] }),
      ['B5: submit.begin led from SUBMISSION_UNKNOWN to SUBMITTING.sending: no such arrow'],
    ],
    [
      'B5, nothing after a final state',
      cancelled({
        steps: [CREATED, SENDING, WORKING, CANCELLING, CONFIRMED, CANCELLED, OBSERVED, ['x', 'PARKED.disputed']],
      }),
      [
        'B5: poll.status led on from the final CANCELLED_ACCEPTED to TERMINAL_OBSERVED.outcome',
        'B12: a receipt, although the record is in PARKED.disputed',
      ],
    ],
    [
      'G6, every receipt has its outbox entry',
      completed({ ledger: { deliveries: [], acknowledged: 0 } }),
      ['G6: a receipt that no ready row announced'],
    ],
    ['G6, consumed once', completed({ ledger: { acknowledged: 2 } }), ['G6: the ready row was consumed 2 times']],
    ['G6, twice after a mark was forgotten', completed({ ledger: { acknowledged: 2, forgot: true } }), []],
    [
      'G6, every outbox entry has its receipt',
      completed({
        steps: [CREATED, SENDING, WORKING, OBSERVED, VERIFIED, ['x', 'PARKED.waiting']],
        server: { answers: [] },
        ledger: { receipts: [] },
      }),
      ['G6: a ready row was handed out and there is no receipt'],
    ],
    [
      'G1, settled means terminal or parked',
      completed({
        steps: [CREATED, SENDING, WORKING],
        server: { answers: [] },
        ledger: { receipts: [], deliveries: [], acknowledged: 0 },
      }),
      ['G1: neither terminal nor parked, but WORKING.polling'],
    ],
  ])('names a planted violation: %s', (_, call, expected) => {
    expect(judged(call)).toEqual(expected);
  });

  it('B5: a gap in the history is named', () => {
    const call = completed();
    const steps = call.ledger.steps.filter(({ to }) => to !== 'WORKING.polling');
    expect(judged({ ...call, ledger: { ...call.ledger, steps } })).toEqual([
      'B5: a step from WORKING.polling, although the record was in SUBMITTING.sending',
    ]);
    const behind = { ...call, ledger: { ...call.ledger, state: 'CANCELLED_ACCEPTED' } };
    expect(judged(behind)).toContain('B5: the last step led to ACCEPTED, the record says CANCELLED_ACCEPTED');
  });

  it('G2, B4: what only the server as a whole shows', () => {
    const servers = [{ name: 'a', executions: 2, strayCalls: 1 }];
    expect(check(history([completed()], { servers }))).toEqual([
      { row: 'G2', callNode: '(servers)', what: '2 runs for 1 call nodes' },
      { row: 'B4', callNode: '(a)', what: '1 tools/call of no recorded call node' },
    ]);
  });

  it('what is under way is no violation before everything settled', () => {
    const call = completed({
      steps: [CREATED, SENDING, WORKING],
      server: { answers: [] },
      ledger: { receipts: [], deliveries: [], acknowledged: 0 },
    });
    expect(judged(call, { settled: false })).toEqual([]);
  });
});
