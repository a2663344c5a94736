/**
 * Which claims fence which fact (design, section 1): a passing status by everything, evidence by identity only, and
 * whatever comes from an older epoch is never applied. Each fact is told once with each claim changed, where it would be taken.
 */
import type { Claims } from '../../machines/tool-operation/events.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { applyEvent, type OperationMachine, statePath } from '../../machines/tool-operation/snapshot.ts';
import {
  type Builder,
  claimsOf,
  digestOf,
  ERROR_RESULT,
  into,
  OTHER_RESULT,
  play,
  RESULT,
  START,
  type Step,
  say,
  wait,
} from './scenario.ts';

type Claim = keyof Claims;
const CALL: readonly Claim[] = ['executionEpoch', 'endpointId', 'toolVersion', 'requestDigest'];
const TASK: readonly Claim[] = [...CALL, 'taskId'];
const EVERYTHING: readonly Claim[] = [...TASK, 'attempt', 'cancelGeneration', 'inputRound', 'pollCursor'];
const LOOKUP: readonly Claim[] = [...CALL, 'attempt', 'pollCursor'];
const SENDER: readonly Claim[] = [...CALL, 'attempt', 'pollCursor'];
const CHANNEL: readonly Claim[] = [...TASK, 'inputRound'];
const STEP: readonly Claim[] = [...CALL, 'attempt', 'cancelGeneration'];

/** Where a fact is taken, how it is told under given claims, and what fences it there. */
export type Fence = readonly [
  title: string,
  at: readonly Step[],
  tell: (under: Partial<Claims>) => Builder,
  by: readonly Claim[],
];

const FOREIGN = { taskId: 'task-2', foreign: true };
const REBORN = { createdAt: '2026-12-02T09:00:00Z' };
const DAY = 86_400_001;
const wanted: Step = [say.cancel(), 'taken'];
const secondSending: Step[] = [...into.secondQueued, [say.begin(), 'SUBMITTING.sending']];
const secondWorking: Step[] = [...secondSending, [say.acknowledged(), 'WORKING.polling']];
const secondAtOnce: Step[] = [...secondSending, [say.outcome(), 'TERMINAL_OBSERVED.outcome']];
const gone: Step[] = [...into.completed, [say.resultNotFound(), 'CLASSIFYING_NOT_FOUND']];
const lostChannel: Step[] = [...into.asking, [say.channelClosed(), 'WORKING.listening']];
const unknownToCancel: Step[] = [
  ...into.cancelling,
  [say.heard(), 'CANCEL_REQUESTED.confirming'],
  [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
  [say.noLookup(), 'PARKED.watching'],
];
const otherSession: Step[] = [...into.working, [say.notFound(true), 'CLASSIFYING_NOT_FOUND']];
const expired: Step[] = [
  ...into.sending,
  [say.acknowledged({ expiry: { earliest: START + 1_000, latest: START + 2_000 } }), 'WORKING.polling'],
  wait(3_000),
  [say.notFound(), 'CLASSIFYING_NOT_FOUND'],
];

export const PASSING: readonly Fence[] = [
  ['poll.status (working)', into.working, (under) => say.status('working', under), EVERYTHING],
  ['poll.status (input_required)', into.working, (under) => say.status('input_required', under), EVERYTHING],
  ['poll.failed', into.working, (under) => say.pollFailed(under), EVERYTHING],
  ['poll.notFound', into.working, (under) => say.notFound(false, under), EVERYTHING],
  [
    'poll.status (input_required, after the deadline)',
    [...lostChannel, wait(300_001)],
    (under) => say.status('input_required', under),
    EVERYTHING,
  ],
  ['poll.status (known again)', into.unknownId, (under) => say.status('working', under), EVERYTHING],
  ['poll.status (known again, to cancel)', unknownToCancel, (under) => say.status('working', under), EVERYTHING],
];
/** True whenever it arrives: from before a cancel, out of order, from an executor that lost its lease. */
export const EVIDENCE: readonly Fence[] = [
  ['submit.acknowledged', into.secondQueued, (under) => say.acknowledged({}, under), CALL],
  ['submit.outcome', into.secondQueued, (under) => say.outcome(RESULT, under), CALL],
  ['poll.status (completed)', into.cancelling, (under) => say.status('completed', under), TASK],
  ['poll.status (cancelled)', into.working, (under) => say.status('cancelled', under), TASK],
  ['result.fetched', into.completed, (under) => say.fetched(RESULT, under), TASK],
  ['cancel.confirmed', into.cancelling, (under) => say.confirmed(under), TASK],
  ['lookup.found', into.unknown, (under) => say.found({}, under), LOOKUP],
  ['input.channelClosed (with a result)', into.cancelling, (under) => say.channelClosed(under, RESULT), TASK],
  ['submit.acknowledged (of another operation)', into.secondQueued, (under) => say.acknowledged(FOREIGN, under), CALL],
  [
    'submit.acknowledged (a cancel waits for it)',
    [...secondSending, wanted],
    (under) => say.acknowledged({}, under),
    CALL,
  ],
  ['submit.acknowledged (a second id)', secondWorking, (under) => say.acknowledged({ taskId: 'task-2' }, under), CALL],
  ['submit.outcome (after an id)', secondWorking, (under) => say.outcome(RESULT, under), CALL],
  ['submit.outcome (another one)', secondAtOnce, (under) => say.outcome(OTHER_RESULT, under), CALL],
  ['lookup.found (of another operation)', into.unknown, (under) => say.found(FOREIGN, under), LOOKUP],
  ['lookup.found (a cancel waits for it)', [...into.unknown, wanted], (under) => say.found({}, under), LOOKUP],
  ['poll.status (of another birth)', into.working, (under) => say.status('completed', under, REBORN), TASK],
  ['poll.status (another end)', into.completed, (under) => say.status('failed', under), TASK],
  ['poll.status (after the cancel won)', into.confirmed, (under) => say.status('completed', under), CALL],
  ['result.fetched (late)', gone, (under) => say.fetched(RESULT, under), TASK],
  ['input.channelClosed (late, with a result)', gone, (under) => say.channelClosed(under, RESULT), TASK],
  ['cancel.confirmed (after another end)', into.completed, (under) => say.confirmed(under), TASK],
];
export const ANSWERS: readonly Fence[] = [
  ['lookup.neverCreated', into.unknown, (under) => say.neverCreated(1, under), LOOKUP],
  ['lookup.expiredWithReceipt', into.unknown, (under) => say.receipt({ status: 'failed' }, RESULT, under), LOOKUP],
  ['lookup.unavailable', into.unknown, (under) => say.noLookup(under), LOOKUP],
  ['lookup.failed', into.unknown, (under) => say.lookupFailed(under), LOOKUP],
  ['submit.notSent', into.sending, (under) => say.notSent(under), SENDER],
  ['submit.rejected', into.sending, (under) => say.rejected(under), SENDER],
  ['submit.inputRequired', into.sending, (under) => say.asked('e', 'f', under), SENDER],
  [
    'submit.inputRequired (and nobody wants it any more)',
    [...into.sending, wanted],
    (under) => say.asked('e', 'f', under),
    SENDER,
  ],
  ['submit.connectionLost', into.sending, (under) => say.connectionLost(under), SENDER],
  ['sender.lost', into.sending, (under) => say.senderLost(under), SENDER],
  ['result.failed', into.completed, (under) => say.fetchFailed(under), CALL],
  ['result.notFound', into.completed, (under) => say.resultNotFound(false, under), TASK],
  ['input.requested', into.listening, (under) => say.question('e', 'f', under), [...CHANNEL, 'cancelGeneration']],
  ['input.channelClosed', into.listening, (under) => say.channelClosed(under), CHANNEL],
  ['input.send', into.replied, (under) => say.sendInput(under), CHANNEL],
  ['input.delivered', into.delivering, (under) => say.delivered(under), CHANNEL],
  ['input.notDelivered', into.delivering, (under) => say.notDelivered(under), CHANNEL],
  ['input.deadlinePassed', [...into.asking, wait(400_000)], (under) => say.deadlinePassed(under), CHANNEL],
  ['cancel.acknowledged', into.cancelling, (under) => say.heard(under), TASK],
  ['cancel.refused', into.cancelling, (under) => say.cancelRefused(under), TASK],
  ['cancel.unsupported', into.cancelling, (under) => say.cancelUnsupported(under), TASK],
  ['cancel.unanswered', into.cancelling, (under) => say.cancelUnanswered(under), TASK],
  [
    'lookup.neverCreated (after the key expired)',
    [...into.unknown, wait(DAY)],
    (under) => say.neverCreated(1, under),
    LOOKUP,
  ],
  [
    'lookup.neverCreated (and nobody wants it any more)',
    [...into.unknown, wanted],
    (under) => say.neverCreated(1, under),
    LOOKUP,
  ],
  [
    'lookup.expiredWithReceipt (of a cancel)',
    into.unknown,
    (under) => say.receipt({ status: 'cancelled' }, null, under),
    LOOKUP,
  ],
  [
    'lookup.expiredWithReceipt (another end)',
    gone,
    (under) => say.receipt({ status: 'failed' }, ERROR_RESULT, under),
    LOOKUP,
  ],
  ['lookup.unavailable (after the key expired)', [...into.unknown, wait(DAY)], (under) => say.noLookup(under), LOOKUP],
  ['lookup.unavailable (under another session)', otherSession, (under) => say.noLookup(under), LOOKUP],
  ['lookup.unavailable (after the expiry)', expired, (under) => say.noLookup(under), LOOKUP],
  ['submit.notSent (nobody could be reached)', into.queued, (under) => say.notSent(under), SENDER],
  ['submit.notSent (for too long)', [wait(600_001)], (under) => say.notSent(under), SENDER],
  ['result.failed (again)', into.retrying, (under) => say.fetchFailed(under), CALL],
  ['result.failed (for too long)', [...into.retrying, wait(60_001)], (under) => say.fetchFailed(under), CALL],
  [
    'result.notFound (but it came on the channel)',
    [...into.completed, [say.channelClosed({}, RESULT), 'taken']],
    (under) => say.resultNotFound(false, under),
    TASK,
  ],
  [
    'input.requested (again, and answered already)',
    [...into.replied, [say.channelClosed(), 'WORKING.listening']],
    (under) => say.question('e', 'f', under),
    [...CHANNEL, 'cancelGeneration'],
  ],
  // Only the process that had the server can say so, under whatever epoch.
  ['server.gone', into.working, (under) => say.gone(under), ['endpointId']],
  ['server.gone (with the result)', into.completed, (under) => say.gone(under), ['endpointId']],
];
/** What is fenced by no epoch. */
export const isOfAnyEpoch = ([title]: Fence): boolean => title.startsWith('server.gone');
export const STEPS: readonly Fence[] = [
  ['submit.begin', into.queued, (under) => say.begin(true, under), STEP],
  ['submit.begin (paused)', into.queued, (under) => say.begin(false, under), STEP],
  ['submit.begin (after the key expired)', [...into.secondQueued, wait(DAY)], (under) => say.begin(true, under), STEP],
  [
    'input.deadlinePassed (before there is a task)',
    [...into.asked, wait(400_000)],
    (under) => say.deadlinePassed(under),
    [...STEP, 'inputRound'],
  ],
  ['submit.requeue', into.safe, (under) => say.requeue(true, under), STEP],
  ['terminal.accept', into.verified, (under) => say.accept({}, under), CALL],
];

function stale(claims: Claims): Claims {
  return {
    executionEpoch: claims.executionEpoch - 1,
    // An earlier one where there is one: evidence of an earlier send is evidence.
    attempt: claims.attempt > 1 ? claims.attempt - 1 : claims.attempt + 1,
    cancelGeneration: claims.cancelGeneration > 0 ? claims.cancelGeneration - 1 : claims.cancelGeneration + 1,
    pollCursor: claims.pollCursor - 1,
    endpointId: 'server-2',
    taskId: 'task-2',
    inputRound: claims.inputRound > 0 ? claims.inputRound - 1 : claims.inputRound + 1,
    toolVersion: digestOf('9'),
    requestDigest: digestOf('8'),
  };
}

/** What a fact comes to where it is told under the record's own claims, and which of them fence it. */
export function told([title, steps, tell, by]: Fence, machine: OperationMachine = toolOperation) {
  const { snapshot } = play({ title, steps }, machine, false);
  const now = steps.reduce((time, step) => time + ('wait' in step ? step.wait : 0), START + 1_000);
  const apply = (under: Partial<Claims>) =>
    applyEvent(machine, snapshot, tell(under)({ context: snapshot.context, now, remembered: new Map() }));
  const changed = stale(claimsOf(snapshot.context));
  const olderEpoch = apply({ executionEpoch: changed.executionEpoch });
  const fencedBy = (Object.keys(changed) as Claim[]).filter((claim) => {
    const next = apply({ [claim]: changed[claim] });
    return next === snapshot || (claim === 'executionEpoch' && next.context.inbox.length > 0);
  });
  return { snapshot, fresh: apply({}), olderEpoch, fencedBy: fencedBy.sort(), by: [...by].sort() };
}

/** The whole of what is expected of a fence, as one answer: for a chart that was changed on purpose. */
export function fenceHolds(fence: Fence, machine: OperationMachine): boolean {
  const { snapshot, fresh, olderEpoch, fencedBy, by } = told(fence, machine);
  const isKept = EVIDENCE.includes(fence);
  const ofOlderEpoch = isKept
    ? statePath(olderEpoch) === statePath(snapshot) && olderEpoch.context.inbox[0]?.kind === fence[0].split(' ')[0]
    : olderEpoch === snapshot || isOfAnyEpoch(fence);
  return fresh !== snapshot && fencedBy.join() === by.join() && ofOlderEpoch;
}
