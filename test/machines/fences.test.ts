/**
 * Which claims fence which fact (design, section 1): a passing status by everything, evidence by identity only, and
 * whatever comes from an older epoch is never applied. Each fact is told once with each claim changed, where it would be taken.
 */
import { describe, expect, it } from 'vitest';
import type { Claims, OperationEventType } from '../../machines/tool-operation/events.ts';
import { OPERATION_EVENT_TYPES } from '../../machines/tool-operation/events.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { applyEvent, statePath } from '../../machines/tool-operation/snapshot.ts';
import { type Builder, claimsOf, digestOf, into, play, RESULT, START, type Step, say, wait } from './scenario.ts';

type Claim = keyof Claims;
const CALL: readonly Claim[] = ['executionEpoch', 'endpointId', 'toolVersion', 'requestDigest'];
const TASK: readonly Claim[] = [...CALL, 'taskId'];
const EVERYTHING: readonly Claim[] = [...TASK, 'attempt', 'cancelGeneration', 'inputRound', 'pollCursor'];
const LOOKUP: readonly Claim[] = [...CALL, 'attempt', 'pollCursor'];
const SENDER: readonly Claim[] = [...CALL, 'attempt', 'pollCursor'];
const CHANNEL: readonly Claim[] = [...TASK, 'inputRound'];
const STEP: readonly Claim[] = [...CALL, 'attempt', 'cancelGeneration'];

/** Where a fact is taken, how it is told under given claims, and what fences it there. */
type Fence = readonly [
  title: string,
  at: readonly Step[],
  tell: (under: Partial<Claims>) => Builder,
  by: readonly Claim[],
];

const PASSING: readonly Fence[] = [
  ['poll.status (working)', into.working, (under) => say.status('working', under), EVERYTHING],
  ['poll.status (input_required)', into.working, (under) => say.status('input_required', under), EVERYTHING],
  ['poll.failed', into.working, (under) => say.pollFailed(under), EVERYTHING],
  ['poll.notFound', into.working, (under) => say.notFound(false, under), EVERYTHING],
];
/** True whenever it arrives: from before a cancel, out of order, from an executor that lost its lease. */
const EVIDENCE: readonly Fence[] = [
  ['submit.acknowledged', into.secondQueued, (under) => say.acknowledged({}, under), CALL],
  ['submit.outcome', into.secondQueued, (under) => say.outcome(RESULT, under), CALL],
  ['poll.status (completed)', into.cancelling, (under) => say.status('completed', under), TASK],
  ['poll.status (cancelled)', into.working, (under) => say.status('cancelled', under), TASK],
  ['result.fetched', into.completed, (under) => say.fetched(RESULT, under), TASK],
  ['cancel.confirmed', into.cancelling, (under) => say.confirmed(under), TASK],
  ['lookup.found', into.unknown, (under) => say.found({}, under), LOOKUP],
  ['input.channelClosed (with a result)', into.cancelling, (under) => say.channelClosed(under, RESULT), TASK],
];
const ANSWERS: readonly Fence[] = [
  ['lookup.neverCreated', into.unknown, (under) => say.neverCreated(1, under), LOOKUP],
  ['lookup.expiredWithReceipt', into.unknown, (under) => say.receipt({ status: 'failed' }, RESULT, under), LOOKUP],
  ['lookup.unavailable', into.unknown, (under) => say.noLookup(under), LOOKUP],
  ['lookup.failed', into.unknown, (under) => say.lookupFailed(under), LOOKUP],
  ['submit.notSent', into.sending, (under) => say.notSent(under), SENDER],
  ['submit.rejected', into.sending, (under) => say.rejected(under), SENDER],
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
  // Only the process that had the server can say so, under whatever epoch.
  ['server.gone', into.working, (under) => say.gone(under), ['endpointId']],
];
const STEPS: readonly Fence[] = [
  ['submit.begin', into.queued, (under) => say.begin(true, under), STEP],
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

function told([title, steps, tell, by]: Fence) {
  const { snapshot } = play({ title, steps });
  const now = title === 'input.deadlinePassed' ? START + 400_100 : START + 100;
  const apply = (under: Partial<Claims>) =>
    applyEvent(toolOperation, snapshot, tell(under)({ context: snapshot.context, now, remembered: new Map() }));
  const changed = stale(claimsOf(snapshot.context));
  const olderEpoch = apply({ executionEpoch: changed.executionEpoch });
  const fencedBy = (Object.keys(changed) as Claim[]).filter((claim) => {
    const next = apply({ [claim]: changed[claim] });
    return next === snapshot || (claim === 'executionEpoch' && next.context.inbox.length > 0);
  });
  return { snapshot, fresh: apply({}), olderEpoch, fencedBy: fencedBy.sort(), by: [...by].sort() };
}

describe.each([
  ['passing: fenced by everything', PASSING],
  ['evidence: fenced by identity only', EVIDENCE],
  ['answers of one step: fenced by that step', ANSWERS],
  ['steps of the executor: fenced by the record it read', STEPS],
] as const)('%s', (_title, fences) => {
  it.each(fences.map((fence) => [fence[0], fence] as const))('%s', (_type, fence) => {
    const { snapshot, fresh, fencedBy, by } = told(fence);
    expect(fresh).not.toBe(snapshot);
    expect(fencedBy).toEqual(by);
  });
});

describe('F8: from an older execution epoch', () => {
  it.each(EVIDENCE.map((fence) => [fence[0], fence] as const))('evidence goes to the inbox: %s', (type, fence) => {
    const { snapshot, olderEpoch } = told(fence);
    expect(statePath(olderEpoch)).toBe(statePath(snapshot));
    expect(olderEpoch.context.inbox).toMatchObject([{ kind: type.split(' ')[0], executionEpoch: 4 }]);
    expect({ ...olderEpoch.context, inbox: [], dueAt: null }).toEqual({ ...snapshot.context, inbox: [], dueAt: null });
  });
  it.each(
    [...PASSING, ...ANSWERS.filter(([type]) => type !== 'server.gone'), ...STEPS].map(
      (fence) => [fence[0], fence] as const,
    ),
  )('nothing else is even kept: %s', (_type, fence) => {
    const { snapshot, olderEpoch } = told(fence);
    expect(olderEpoch).toBe(snapshot);
  });
});

it('every event that carries claims is in this table', () => {
  const commands: OperationEventType[] = ['cancel.request', 'input.reply', 'epoch.adopt'];
  const covered = [...PASSING, ...EVIDENCE, ...ANSWERS, ...STEPS].map(([title]) => title.split(' ')[0]);
  const facts = OPERATION_EVENT_TYPES.filter((type) => !commands.includes(type) && !type.startsWith('reconcile.'));
  expect([...new Set(covered)].sort()).toEqual([...facts].sort());
});
