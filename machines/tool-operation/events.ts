/**
 * The two kinds of events of `tool-operation`, and no others.
 *
 * - **facts**: what somebody saw. A fact carries the `claims` it was made under, captured when the effect was issued.
 * - **commands**: what somebody wants.
 *
 * Time (`at`, ms of ledger time) and chance (`random`, 0..1) arrive in events, so that the chart stays pure.
 */
import type { AcceptFields } from '../operation-ledger.ts';
import type { ResultRef, ServerStatus, TerminalStatus } from './context.ts';

/** What the record said when the effect was issued. */
export interface Claims {
  /** Under which it was issued: a fact of an older one is kept as evidence and not applied (F8). */
  readonly executionEpoch: number;
  /** From 1. */
  readonly attempt: number;
  /** A passing status from before a cancel is stale. */
  readonly cancelGeneration: number;
  /** Rises with each answer that is applied and each send: an answer that comes out of order has an old one (F2). */
  readonly pollCursor: number;
  /** Task ids mean something at their endpoint only (F9). */
  readonly endpointId: string;
  /** `null`: there was no id yet. */
  readonly taskId: string | null;
  /** 0 before the first question (B7). */
  readonly inputRound: number;
  /** Digest of the tool's descriptor, as pinned. */
  readonly toolVersion: string;
  /** SHA-256 of the canonical JSON of tool and arguments, hex. */
  readonly requestDigest: string;
}

/** A task as a server described it, in ledger time. */
export interface SeenTask {
  readonly taskId: string;
  readonly createdAt: string | null;
  readonly status: ServerStatus;
  readonly statusMessage: string | null;
  readonly pollIntervalMs: number | null;
  readonly expiry: { readonly earliest: number; readonly latest: number } | null;
  /** The ledger says that this id at this endpoint belongs to another operation (F9). */
  readonly foreign: boolean;
}

interface Stamp {
  readonly at: number;
  readonly random: number;
}
interface Fact extends Stamp {
  readonly claims: Claims;
}
interface Failure extends Fact {
  readonly reason: string;
  readonly retryAfterMs?: number;
}

/** A question, or several that are answered together. */
interface Asked {
  readonly schemaDigest: string;
  /** Digest of what was asked, as stored. */
  readonly questionDigest: string;
  /** Digests of the server's keys; empty where questions have no identity. */
  readonly keys: readonly string[];
}

export type SubmitAcknowledged = Fact & { readonly type: 'submit.acknowledged'; readonly task: SeenTask };
export type SubmitOutcomeSeen = Fact & { readonly type: 'submit.outcome'; readonly result: ResultRef };
export type SubmitNotSent = Failure & { readonly type: 'submit.notSent' };
export type SubmitRejected = Failure & { readonly type: 'submit.rejected' };
/** Answered with questions, before there is a task: nothing was created. */
export type SubmitInputRequired = Fact & Asked & { readonly type: 'submit.inputRequired' };
export type SubmitConnectionLost = Failure & { readonly type: 'submit.connectionLost' };
export type SenderLost = Fact & { readonly type: 'sender.lost' };
export type LookupFound = Fact & { readonly type: 'lookup.found'; readonly task: SeenTask };
export type LookupNeverCreated = Fact & { readonly type: 'lookup.neverCreated'; readonly closedThroughAttempt: number };
export type LookupExpiredWithReceipt = Fact & {
  readonly type: 'lookup.expiredWithReceipt';
  readonly task: SeenTask;
  readonly result: ResultRef | null;
};
export type LookupUnavailable = Failure & { readonly type: 'lookup.unavailable' };
export type LookupFailed = Failure & { readonly type: 'lookup.failed' };
export type PollStatus = Fact & {
  readonly type: 'poll.status';
  readonly task: SeenTask;
  readonly result: ResultRef | null;
};
export type PollFailed = Failure & { readonly type: 'poll.failed' };
export type PollNotFound = Failure & { readonly type: 'poll.notFound'; readonly sessionChanged: boolean };
export type ResultFetched = Fact & { readonly type: 'result.fetched'; readonly result: ResultRef };
export type ResultFailed = Failure & { readonly type: 'result.failed' };
export type ResultNotFound = Failure & { readonly type: 'result.notFound'; readonly sessionChanged: boolean };
export type InputRequested = Fact & Asked & { readonly type: 'input.requested' };
export type InputChannelClosed = Failure & {
  readonly type: 'input.channelClosed';
  /** What the channel ended with, verified: the task's result (2025-11-25: the answer to the held `tasks/result`). */
  readonly result: ResultRef | null;
};
export type InputDelivered = Fact & { readonly type: 'input.delivered' };
export type InputNotDelivered = Failure & { readonly type: 'input.notDelivered' };
export type InputDeadlinePassed = Fact & { readonly type: 'input.deadlinePassed' };
export type CancelConfirmed = Fact & { readonly type: 'cancel.confirmed'; readonly task: SeenTask };
export type CancelAcknowledged = Fact & { readonly type: 'cancel.acknowledged' };
export type CancelRefused = Failure & { readonly type: 'cancel.refused' };
export type CancelUnsupported = Failure & { readonly type: 'cancel.unsupported' };
export type CancelUnanswered = Failure & { readonly type: 'cancel.unanswered' };
export type ServerGone = Failure & { readonly type: 'server.gone' };

/**
 * What somebody saw, with the claims it was made under. Refused where these do not match: by which guards depends on the
 * fact (design section 1).
 */
export type OperationFact =
  | SubmitAcknowledged
  | SubmitOutcomeSeen
  | SubmitNotSent
  | SubmitRejected
  | SubmitInputRequired
  | SubmitConnectionLost
  | SenderLost
  | LookupFound
  | LookupNeverCreated
  | LookupExpiredWithReceipt
  | LookupUnavailable
  | LookupFailed
  | PollStatus
  | PollFailed
  | PollNotFound
  | ResultFetched
  | ResultFailed
  | ResultNotFound
  | InputRequested
  | InputChannelClosed
  | InputDelivered
  | InputNotDelivered
  | InputDeadlinePassed
  | CancelConfirmed
  | CancelAcknowledged
  | CancelRefused
  | CancelUnsupported
  | CancelUnanswered
  | ServerGone;

/** The executor takes the call off the queue: from here on it may have been sent. */
export type SubmitBegin = Fact & {
  readonly type: 'submit.begin';
  readonly creationAllowed: boolean;
  /** The adapter is being switched off: nothing new is submitted under it any more (R4). */
  readonly adapterEnded?: boolean;
  /** Who will send it: unique per drive, so that the record itself says who may. */
  readonly sender: string;
};
/** The executor puts a call that was never created back on the queue, as its next attempt. */
export type SubmitRequeue = Fact & { readonly type: 'submit.requeue'; readonly creationAllowed: boolean };
/** The executor is about to write a recorded answer: from here on it may be on the wire. */
export type InputSend = Fact & { readonly type: 'input.send'; readonly sender: string };
export type CancelRequest = Stamp & {
  readonly type: 'cancel.request';
  readonly by: string;
  readonly reason: string | null;
};
export type InputReplyCommand = Stamp & {
  readonly type: 'input.reply';
  readonly round: number;
  readonly schemaDigest: string;
  readonly replyDigest: string;
};
export type ReconcileAttach = Stamp & {
  readonly type: 'reconcile.attach';
  readonly taskId: string;
  readonly foreign: boolean;
  readonly by: string;
};
export type ReconcileAccept = Stamp & {
  readonly type: 'reconcile.accept';
  readonly status: TerminalStatus;
  readonly result: ResultRef | null;
  readonly by: string;
  readonly note: string;
};
export type ReconcileNeverCreated = Stamp & {
  readonly type: 'reconcile.neverCreated';
  readonly by: string;
  readonly note: string;
};
export type ReconcileGiveUp = Stamp & { readonly type: 'reconcile.giveUp'; readonly by: string; readonly note: string };
export type EpochAdopt = Stamp & { readonly type: 'epoch.adopt'; readonly executionEpoch: number };
/** B12: the only way into a terminal state. `expected` is what the acceptor verified the result against. */
export type TerminalAccept = Fact & {
  readonly type: 'terminal.accept';
  readonly expected: AcceptFields;
  readonly verdict: { readonly released: boolean; readonly marks: readonly string[] };
  readonly auditResult: ResultRef | null;
};

/** What somebody wants: a caller, a human, or the executor itself, which takes a step before it does the thing. */
export type OperationCommand =
  | SubmitBegin
  | SubmitRequeue
  | InputSend
  | CancelRequest
  | InputReplyCommand
  | ReconcileAttach
  | ReconcileAccept
  | ReconcileNeverCreated
  | ReconcileGiveUp
  | EpochAdopt
  | TerminalAccept;

/** All that the chart listens to. Anything else is dropped before it gets there. */
export type OperationEvent = OperationFact | OperationCommand;
export type OperationEventType = OperationEvent['type'];

/** Every event type there is: anything else is refused at the boundary (xstate's own `xstate.*` included). */
export const OPERATION_EVENT_TYPES = [
  'submit.acknowledged',
  'submit.outcome',
  'submit.notSent',
  'submit.rejected',
  'submit.inputRequired',
  'submit.connectionLost',
  'sender.lost',
  'lookup.found',
  'lookup.neverCreated',
  'lookup.expiredWithReceipt',
  'lookup.unavailable',
  'lookup.failed',
  'poll.status',
  'poll.failed',
  'poll.notFound',
  'result.fetched',
  'result.failed',
  'result.notFound',
  'input.requested',
  'input.channelClosed',
  'input.delivered',
  'input.notDelivered',
  'input.deadlinePassed',
  'cancel.confirmed',
  'cancel.acknowledged',
  'cancel.refused',
  'cancel.unsupported',
  'cancel.unanswered',
  'server.gone',
  'submit.begin',
  'submit.requeue',
  'input.send',
  'cancel.request',
  'input.reply',
  'reconcile.attach',
  'reconcile.accept',
  'reconcile.neverCreated',
  'reconcile.giveUp',
  'epoch.adopt',
  'terminal.accept',
] as const satisfies readonly OperationEventType[];
