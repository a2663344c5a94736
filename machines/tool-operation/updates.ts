/**
 * What an event writes into the record: `(context, event) => Partial<context>`, pure. The chart decides whether;
 * these only say what.
 */
import type { Evidence, ParkReason, ResultRef, ToolOperationContext } from './context.ts';
import type { OperationEvent, SeenTask } from './events.ts';
import { candidateFor } from './guards.ts';

type Context = ToolOperationContext;
export type Update = (context: Context, event: OperationEvent) => Partial<Context>;

const MAX_INBOX = 16;
const MAX_AUDIT = 32;
const MAX_TEXT = 4_000;
const MAX_ANSWERED_KEYS = 256;

/** The server's interval inside our bounds, plus jitter; never later than shortly before the server forgets. */
function nextPoll(context: Context, event: OperationEvent, intervalMs = context.pollIntervalMs): number {
  const { policy } = context;
  const base = clamp(intervalMs ?? policy.pollIntervalMs, policy.minPollIntervalMs, policy.maxPollIntervalMs);
  const due = event.at + base * (1 + policy.jitter * event.random);
  const lastCall = context.expiry ? context.expiry.earliest - base : Number.POSITIVE_INFINITY;
  return Math.round(Math.max(event.at + policy.minPollIntervalMs, Math.min(due, lastCall)));
}

/** Doubles with each failure in a row; a `Retry-After` is a floor, not a hint. */
function nextTry(context: Context, event: OperationEvent): number {
  const { policy } = context;
  const base = Math.max(policy.minPollIntervalMs, context.pollIntervalMs ?? policy.pollIntervalMs);
  const backoff = Math.min(policy.maxBackoffMs, base * 2 ** Math.min(context.failures, 20));
  const floor = 'retryAfterMs' in event ? (event.retryAfterMs ?? 0) : 0;
  return Math.round(event.at + Math.max(floor, backoff * (1 + policy.jitter * event.random)));
}

/** The cadence of an operation that waits for a human: slow, but never asleep while something can be asked. */
function nextParkedTry(context: Context, event: OperationEvent): number {
  const floor = 'retryAfterMs' in event ? (event.retryAfterMs ?? 0) : 0;
  return Math.round(
    event.at + Math.max(floor, context.policy.parkedIntervalMs * (1 + context.policy.jitter * event.random)),
  );
}

const senderOf = (event: OperationEvent) => ('sender' in event ? event.sender : null);
const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
const clip = (text: string) => text.slice(0, MAX_TEXT);
const taskOf = (event: OperationEvent): SeenTask | null => ('task' in event ? event.task : null);
const resultOf = (event: OperationEvent): ResultRef | null => ('result' in event ? event.result : null);

/** What a fact is worth to somebody who must judge it later. */
export function evidenceOf(context: Context, event: OperationEvent): Evidence {
  const task = taskOf(event);
  const result = resultOf(event);
  const note = 'reason' in event ? event.reason : 'note' in event ? event.note : null;
  return {
    kind: event.type,
    at: event.at,
    executionEpoch: 'claims' in event ? event.claims.executionEpoch : context.executionEpoch,
    ...(note ? { note: clip(note) } : {}),
    ...(task ? { taskId: task.taskId, status: task.status } : {}),
    ...(result ? { resultDigest: result.digest } : {}),
  };
}

/** What every description of the task renews (also in a passing status). */
function seen(context: Context, task: SeenTask): Partial<Context> {
  return {
    taskId: task.taskId,
    taskCreatedAt: context.taskCreatedAt ?? task.createdAt,
    serverStatus: task.status,
    statusMessage: task.statusMessage === null ? null : clip(task.statusMessage),
    pollIntervalMs: task.pollIntervalMs,
    expiry: task.expiry,
  };
}

/** Time on a human does not count against the wait budget. */
function resumeClock(context: Context, event: OperationEvent): Partial<Context> {
  if (context.pausedAt === null) return {};
  return { waitDeadline: context.waitDeadline + Math.max(0, event.at - context.pausedAt), pausedAt: null };
}

function raiseCancel(context: Context, event: OperationEvent): Partial<Context> {
  if (event.type !== 'cancel.request' || context.cancel) return {};
  return {
    cancelGeneration: context.cancelGeneration + 1,
    cancel: { requestedAt: event.at, requestedBy: event.by, reason: event.reason, heard: false },
  };
}

/**
 * An answer to an earlier round may have reached the server, and this may be that round's question again. Questions that
 * have keys are known by them.
 */
function isPossiblyRepeat(earlier: Context['input'], questionDigest: string): boolean {
  if (earlier === null || earlier.keys.length > 0) return false;
  switch (earlier.delivery) {
    case 'attempted':
      return true;
    case 'delivered':
      return earlier.requestDigest === questionDigest;
    default:
      return earlier.possiblyRepeat;
  }
}

/** A human is asked from here on. */
function openedRound(context: Context, event: OperationEvent): Partial<Context> {
  if (event.type !== 'input.requested' && event.type !== 'submit.inputRequired') return {};
  return {
    inputRound: context.inputRound + 1,
    failures: 0,
    pausedAt: event.at,
    stepDeadline: null,
    dueAt: event.at,
    input: {
      schemaDigest: event.schemaDigest,
      requestDigest: event.questionDigest,
      openedAt: event.at,
      deadline: event.at + context.policy.inputDeadlineMs,
      possiblyRepeat: isPossiblyRepeat(context.input, event.questionDigest),
      replyDigest: null,
      repliedAt: null,
      keys: [...event.keys],
      delivery: 'none',
    },
  };
}

function recordedReply(context: Context, event: OperationEvent): Partial<Context> {
  if (event.type !== 'input.reply' || context.input === null) return {};
  return { input: { ...context.input, replyDigest: event.replyDigest, repliedAt: event.at, delivery: 'recorded' } };
}

/** The server went on after it had answered with a result: that was not the final one. Only the audit keeps it. */
function distrustCandidate(context: Context, event: OperationEvent): Partial<Context> {
  const { candidate } = context;
  if (candidate === null) return {};
  const entry = {
    ...evidenceOf(context, event),
    note: 'not terminal after this result had come: it is not used',
    resultDigest: candidate.digest,
  };
  return { candidate: null, audit: append(context.audit, entry, MAX_AUDIT) };
}

/** The first verified result is the candidate; another one is only a contradiction to be looked at. */
function keepResult(context: Context, event: OperationEvent): Partial<Context> {
  const result = resultOf(event);
  if (result === null) return {};
  const known = context.result ?? context.candidate;
  // What was asked before it came says nothing against it.
  if (known === null) return { candidate: result, pollCursor: context.pollCursor + 1 };
  return known.digest === result.digest ? {} : { audit: append(context.audit, evidenceOf(context, event), MAX_AUDIT) };
}

/** The fields of a step begin anew: no failures, no step deadline, due at once. */
const freshStep = (event: OperationEvent): Partial<Context> => ({ failures: 0, stepDeadline: null, dueAt: event.at });

export const updates = {
  // --- submission ------------------------------------------------------------------------------------------------
  beginSubmit: (context, event) => ({
    ...freshStep(event),
    pollCursor: context.pollCursor + 1,
    sentThroughAttempt: context.attempt,
    sender: senderOf(event),
  }),
  requeueUnsent: (context, event) => ({
    sentThroughAttempt: context.attempt - 1,
    failures: context.failures + 1,
    dueAt: nextTry(context, event),
  }),
  /** The sender of this attempt knows that it was never written, and the record has gone on since. */
  noteUnsent: (context, event) => ({
    ...freshStep(event),
    sentThroughAttempt: context.attempt - 1,
    closedThroughAttempt:
      context.closedThroughAttempt >= context.attempt - 1 ? context.attempt : context.closedThroughAttempt,
    parked: null,
  }),
  beginLookup: (context, event) => ({ ...freshStep(event), stepDeadline: event.at + context.policy.lookupBudgetMs }),
  retryLater: (context, event) => ({ failures: context.failures + 1, dueAt: nextTry(context, event) }),
  noteNeverCreated: (context, event) =>
    event.type === 'lookup.neverCreated'
      ? {
          ...freshStep(event),
          closedThroughAttempt: Math.max(context.closedThroughAttempt, event.closedThroughAttempt),
          parked: null,
        }
      : {},
  /** The second attempt at once; a server that loses every one of them is not asked in a circle. */
  queueNextAttempt: (context, event) => ({
    ...freshStep(event),
    attempt: context.attempt + 1,
    ...(context.attempt > 1 ? { dueAt: nextTry({ ...context, failures: context.attempt - 2 }, event) } : {}),
  }),
  /** This attempt ended with questions: as good as never sent, and the next one brings their answers. */
  openFirstRound: (context, event) => ({
    ...openedRound(context, event),
    closedThroughAttempt:
      context.closedThroughAttempt >= context.attempt - 1 ? context.attempt : context.closedThroughAttempt,
    parked: null,
  }),
  queueWithReply: (context, event) => ({
    ...freshStep(event),
    ...resumeClock(context, event),
    ...recordedReply(context, event),
    attempt: context.attempt + 1,
  }),
  adoptTask: (context, event) => {
    const task = taskOf(event);
    if (!task) return {};
    const known = { ...context, ...seen(context, task) };
    return {
      ...seen(context, task),
      ...freshStep(event),
      // Questions from before there was a task are another matter, whatever their keys.
      ...(context.taskId === null ? { input: null } : {}),
      pollCursor: context.pollCursor + 1,
      waitDeadline: event.at + context.policy.waitBudgetMs,
      dueAt: context.cancel ? event.at : nextPoll(known, event),
      stepDeadline: context.cancel ? event.at + context.policy.cancelBudgetMs : null,
      parked: null,
      missing: null,
      notSubmitted: null,
      inbox: [],
    };
  },
  takeImmediateOutcome: (context, event) => ({
    ...freshStep(event),
    parked: null,
    notSubmitted: null,
    result: resultOf(event),
    // The protocol has no status for a call that never became a task; the result's own mark decides.
    terminal: {
      status: resultOf(event)?.isError ? ('failed' as const) : ('completed' as const),
      observedAt: event.at,
      evidence: evidenceOf(context, event),
    },
    stepDeadline: event.at + context.policy.fetchBudgetMs,
  }),

  // --- polling ---------------------------------------------------------------------------------------------------
  applyStatus: (context, event) => {
    const task = taskOf(event);
    if (!task) return {};
    const known = { ...context, ...seen(context, task) };
    return {
      ...seen(context, task),
      ...distrustCandidate(context, event),
      pollCursor: context.pollCursor + 1,
      failures: 0,
      dueAt: nextPoll(known, event),
    };
  },
  applyParkedStatus: (context, event) => {
    const task = taskOf(event);
    return {
      ...(task ? seen(context, task) : {}),
      ...distrustCandidate(context, event),
      pollCursor: context.pollCursor + 1,
      dueAt: nextParkedTry(context, event),
    };
  },
  waitParked: (context, event) => ({ failures: context.failures + 1, dueAt: nextParkedTry(context, event) }),
  observeTerminal: (context, event) => {
    const task = taskOf(event);
    if (!task || (task.status !== 'completed' && task.status !== 'failed' && task.status !== 'cancelled')) return {};
    return {
      ...seen(context, task),
      ...freshStep(event),
      ...resumeClock(context, event),
      pollCursor: context.pollCursor + 1,
      terminal: { status: task.status, observedAt: event.at, evidence: evidenceOf(context, event) },
      result: task.status === 'cancelled' ? null : (context.result ?? resultOf(event)),
      stepDeadline: event.at + context.policy.fetchBudgetMs,
      parked: null,
      missing: null,
    };
  },
  beginClassification: (context, event) => ({
    ...freshStep(event),
    ...resumeClock(context, event),
    pollCursor: context.pollCursor + 1,
    stepDeadline: event.at + context.policy.lookupBudgetMs,
    missing: { at: event.at, sessionChanged: 'sessionChanged' in event && event.sessionChanged },
  }),

  // --- result ----------------------------------------------------------------------------------------------------
  storeResult: (_, event) => ({ ...freshStep(event), result: resultOf(event), parked: null, missing: null }),

  // --- input (B7) ------------------------------------------------------------------------------------------------
  openRound: (context, event) => ({ ...openedRound(context, event), pollCursor: context.pollCursor + 1 }),
  /** The same question on a new channel: the recorded answer was provably never written. */
  reopenRecorded: (context, event) => ({
    pollCursor: context.pollCursor + 1,
    failures: 0,
    pausedAt: event.at,
    dueAt: event.at,
  }),
  recordReply: (context, event) => ({ ...recordedReply(context, event), dueAt: event.at }),
  markAttempted: (context, event) =>
    context.input
      ? { input: { ...context.input, delivery: 'attempted' as const }, sender: senderOf(event), dueAt: event.at }
      : {},
  markDelivered: (context, event) => ({
    ...(context.input ? { input: { ...context.input, delivery: 'delivered' as const } } : {}),
    answeredKeys: [...context.answeredKeys, ...(context.input?.keys ?? [])].slice(-MAX_ANSWERED_KEYS),
    ...resumeClock(context, event),
    pollCursor: context.pollCursor + 1,
    dueAt: nextPoll(context, event),
  }),
  /** Provably not written: the recorded answer may still go out on another channel. */
  takeBackDelivery: (context, event) => ({
    ...(context.input ? { input: { ...context.input, delivery: 'recorded' as const } } : {}),
    ...resumeClock(context, event),
    pollCursor: context.pollCursor + 1,
    failures: context.failures + 1,
    dueAt: nextTry(context, event),
  }),
  loseChannel: (context, event) => ({
    ...resumeClock(context, event),
    ...keepResult(context, event),
    pollCursor: context.pollCursor + 1,
    failures: context.failures + 1,
    dueAt: event.at + context.policy.minPollIntervalMs,
  }),
  askOnceMore: (context, event) => ({ ...freshStep(event), stepDeadline: event.at + context.policy.fetchBudgetMs }),

  // --- cancel (B9) -----------------------------------------------------------------------------------------------
  recordCancelIntent: raiseCancel,
  requestCancel: (context, event) => ({
    ...raiseCancel(context, event),
    ...freshStep(event),
    ...resumeClock(context, event),
    stepDeadline: event.at + context.policy.cancelBudgetMs,
    parked: null,
  }),
  hearCancel: (context, event) => ({
    ...(context.cancel ? { cancel: { ...context.cancel, heard: true } } : {}),
    failures: 0,
    dueAt: event.at,
  }),
  /** A lost or refused answer: read the status first; still working means send again, in the same generation. */
  readAfterCancel: (context, event) => ({
    failures: context.failures + 1,
    dueAt: Math.max(event.at, event.at + ('retryAfterMs' in event ? (event.retryAfterMs ?? 0) : 0)),
  }),
  resendCancel: (context, event) => {
    const task = taskOf(event);
    return {
      ...(task ? seen(context, task) : {}),
      ...distrustCandidate(context, event),
      pollCursor: context.pollCursor + 1,
      dueAt: nextTry(context, event),
    };
  },
  /** B10: the cancel won. What the tool did before that is for somebody to look at, unless it cannot have done anything. */
  confirmCancel: (context, event) => ({
    ...(taskOf(event) ? seen(context, taskOf(event) as SeenTask) : {}),
    ...freshStep(event),
    ...resumeClock(context, event),
    terminal: { status: 'cancelled' as const, observedAt: event.at, evidence: evidenceOf(context, event) },
    result: null,
    parked: null,
    missing: null,
  }),

  // --- acceptance (B12) ------------------------------------------------------------------------------------------
  acceptOutcome: (_, event) =>
    event.type === 'terminal.accept'
      ? { outputVerdict: { released: event.verdict.released, marks: [...event.verdict.marks] }, dueAt: null }
      : {},
  acceptCancelled: (context, event) =>
    event.type === 'terminal.accept'
      ? {
          auditResult: event.auditResult,
          effectReconciliationRequired: context.sentThroughAttempt > 0 && !context.capabilities.effectFree,
          dueAt: null,
        }
      : {},
  acceptConclusion: (context) => ({
    effectReconciliationRequired:
      context.givenUp !== null && context.sentThroughAttempt > 0 && !context.capabilities.effectFree,
    dueAt: null,
  }),
  concludeNotSubmitted: (context, event) => ({
    ...raiseCancel(context, event),
    ...freshStep(event),
    parked: null,
    notSubmitted: {
      reason: clip(notSubmittedReason(event)),
      outcome:
        event.type === 'cancel.request' || (context.cancel !== null && event.type !== 'submit.rejected')
          ? ('cancelled' as const)
          : ('refused' as const),
    },
    closedThroughAttempt:
      event.type === 'lookup.neverCreated'
        ? Math.max(context.closedThroughAttempt, event.closedThroughAttempt)
        : context.closedThroughAttempt,
  }),

  // --- reconciliation --------------------------------------------------------------------------------------------
  attachTask: (context, event) =>
    event.type === 'reconcile.attach'
      ? {
          ...freshStep(event),
          taskId: event.taskId,
          pollCursor: context.pollCursor + 1,
          waitDeadline: event.at + context.policy.waitBudgetMs,
          stepDeadline: context.cancel ? event.at + context.policy.cancelBudgetMs : null,
          parked: null,
          missing: null,
          terminal: null,
          result: null,
          audit: append(
            context.audit,
            { kind: event.type, at: event.at, executionEpoch: context.executionEpoch, note: `by ${event.by}` },
            MAX_AUDIT,
          ),
        }
      : {},
  acceptByHand: (context, event) =>
    event.type === 'reconcile.accept'
      ? {
          ...freshStep(event),
          terminal: {
            status: event.status,
            observedAt: event.at,
            evidence: { ...evidenceOf(context, event), note: clip(`${event.by}: ${event.note}`), status: event.status },
          },
          result:
            event.status === 'cancelled'
              ? null
              : (event.result ?? context.result ?? candidateFor(context, event.status)),
          stepDeadline: event.at + context.policy.fetchBudgetMs,
          parked: null,
        }
      : {},
  giveUp: (_, event) =>
    event.type === 'reconcile.giveUp'
      ? { ...freshStep(event), parked: null, givenUp: { by: event.by, note: clip(event.note), at: event.at } }
      : {},

  // --- keeping what was seen -------------------------------------------------------------------------------------
  /** Evidence from an older epoch is kept, and makes the current epoch ask for itself, now. */
  keepInInbox: (context, event) => ({
    inbox: append(context.inbox, evidenceOf(context, event), MAX_INBOX),
    dueAt: context.dueAt === null ? null : event.at,
  }),
  /** Evidence woke a record that was waiting: what it can ask is due now. */
  askNow: (_, event) => ({ dueAt: event.at }),
  keepCandidate: keepResult,
  keepForAudit: (context, event) => ({ audit: append(context.audit, evidenceOf(context, event), MAX_AUDIT) }),
  adoptEpoch: (_, event) => (event.type === 'epoch.adopt' ? { executionEpoch: event.executionEpoch } : {}),
} satisfies Record<string, Update>;

/** Parks for a reason of the closed list; `restsAt` says which slow question is still asked. */
export function park(reason: ParkReason, restsAt: 'watching' | 'searching' | 'waiting' | 'disputed'): Update {
  return (context, event) => ({
    ...resumeClock(context, event),
    ...raiseCancel(context, event),
    failures: 0,
    stepDeadline: null,
    // Without an id the cursor counts the sends, and what a sender or a look-up still brings is as good as before.
    pollCursor: context.taskId === null ? context.pollCursor : context.pollCursor + 1,
    dueAt: restsAt === 'watching' || restsAt === 'searching' ? nextParkedTry(context, event) : null,
    parked: { reason, at: event.at, note: 'reason' in event && event.reason !== null ? clip(event.reason) : null },
    audit: append(context.audit, evidenceOf(context, event), MAX_AUDIT),
  });
}

function notSubmittedReason(event: OperationEvent): string {
  switch (event.type) {
    case 'cancel.request':
      return event.reason ?? `cancelled by ${event.by} before anything could be created`;
    case 'reconcile.neverCreated':
      return `declared never created by ${event.by}: ${event.note}`;
    case 'lookup.neverCreated':
      return 'cancelled; the server proved that nothing was created';
    case 'submit.begin':
      return 'the adapter is being switched off: nothing new is submitted under it';
    case 'submit.inputRequired':
      return 'cancelled; the server had asked for input before it made a task';
    case 'input.deadlinePassed':
      return 'nobody answered what the server asked before it made a task';
    case 'submit.rejected':
    case 'submit.notSent':
    case 'server.gone':
      return event.reason;
    default:
      return event.type;
  }
}

/** Keeps the oldest (what came first decides) and drops what does not fit. */
function append(list: readonly Evidence[], entry: Evidence, limit: number): Evidence[] {
  return list.length >= limit ? [...list] : [...list, entry];
}
