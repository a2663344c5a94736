/** From what an adapter saw to a fact of the chart: claims, ledger time and stored payloads added. */
import { canonicalJson, sha256 } from '../digest.ts';
import type { PayloadWrite } from '../operation-ledger.ts';
import type {
  CancelOutcome,
  LookupOutcome,
  Payload,
  ResultOutcome,
  StatusOutcome,
  SubmitOutcome,
  TaskView,
} from '../operation-protocol.ts';
import type { ResultRef, ToolOperationContext } from '../tool-operation/context.ts';
import type { Claims, OperationEvent, SeenTask } from '../tool-operation/events.ts';
import { type Asked, askedBeforeTask } from './question.ts';

/** What was known when the request left, and when that was. */
export interface Issued {
  readonly claims: Claims;
  readonly sentAt: number;
  /** What the ledger takes of one payload, bytes of canonical JSON (it may be longer than the answer on the wire). */
  readonly payloadLimit: number;
}
export interface Stamp {
  readonly at: number;
  readonly random: number;
}
/** An event and what must be stored with the step that takes it in. */
export interface Told {
  readonly event: OperationEvent;
  readonly payloads: readonly PayloadWrite[];
}

export function claimsOf(context: ToolOperationContext, executionEpoch: number): Claims {
  return {
    executionEpoch,
    attempt: context.attempt,
    cancelGeneration: context.cancelGeneration,
    pollCursor: context.pollCursor,
    endpointId: context.endpoint.id,
    taskId: context.taskId,
    inputRound: context.inputRound,
    toolVersion: context.tool.version,
    requestDigest: context.requestDigest,
  };
}

/** The server's remaining time to live, as an interval of ledger time: it started to run somewhere between request and answer. */
export function seenTask(view: TaskView, issued: Issued, at: number, foreign: boolean): SeenTask {
  return {
    taskId: view.taskId,
    createdAt: view.taskCreatedAt,
    status: view.status,
    statusMessage: view.statusMessage,
    pollIntervalMs: view.pollIntervalMs,
    expiry:
      view.remainingTtlMs === null
        ? null
        : { earliest: issued.sentAt + view.remainingTtlMs, latest: at + (view.ttlMs ?? view.remainingTtlMs) },
    foreign,
  };
}

export function storedPayload(payload: Payload): { readonly ref: ResultRef; readonly write: PayloadWrite } {
  const text = canonicalJson(payload.value);
  const digest = sha256(text);
  const isError = payload.kind === 'error' || payload.isError;
  return { ref: { digest, bytes: Buffer.byteLength(text), kind: payload.kind, isError }, write: { digest, text } };
}

/** A payload that cannot be kept is a fact like any other, not a fault: too large, or nested too deep. */
export function storable(
  payload: Payload,
  limit: number,
): ReturnType<typeof storedPayload> | { readonly problem: string } {
  try {
    const stored = storedPayload(payload);
    if (stored.ref.bytes <= limit) return stored;
    return { problem: `the content has ${stored.ref.bytes} bytes, the ledger keeps ${limit}` };
  } catch (error) {
    return { problem: `the content cannot be kept: ${(error as Error).message}` };
  }
}

export const told = {
  submit(outcome: SubmitOutcome, issued: Issued, stamp: Stamp, foreign: boolean): Told {
    const base = { ...stamp, claims: issued.claims };
    switch (outcome.kind) {
      case 'acknowledged':
        return {
          event: { ...base, type: 'submit.acknowledged', task: seenTask(outcome.task, issued, stamp.at, foreign) },
          payloads: [],
        };
      case 'outcome': {
        const stored = storable(outcome.payload, issued.payloadLimit);
        if ('problem' in stored) {
          return { event: { ...base, type: 'submit.connectionLost', reason: stored.problem }, payloads: [] };
        }
        return { event: { ...base, type: 'submit.outcome', result: stored.ref }, payloads: [stored.write] };
      }
      case 'inputRequired': {
        const { said, payload } = askedBeforeTask(outcome.requests, outcome.requestState);
        return { event: { ...base, ...said, type: 'submit.inputRequired' }, payloads: stored(payload) };
      }
      default:
        return { event: { ...base, ...failure(outcome), type: `submit.${outcome.kind}` }, payloads: [] };
    }
  },

  status(outcome: StatusOutcome, issued: Issued, stamp: Stamp, foreign: boolean, sessionChanged: boolean): Told {
    const base = { ...stamp, claims: issued.claims };
    switch (outcome.kind) {
      case 'status': {
        const stored = outcome.payload ? kept(outcome.payload, issued.payloadLimit) : null;
        return {
          event: {
            ...base,
            type: 'poll.status',
            task: seenTask(outcome.task, issued, stamp.at, foreign),
            result: stored?.ref ?? null,
          },
          payloads: stored ? [stored.write] : [],
        };
      }
      case 'notFound':
        return { event: { ...base, type: 'poll.notFound', reason: outcome.reason, sessionChanged }, payloads: [] };
      case 'unknown':
        return { event: { ...base, ...failure(outcome), type: 'poll.failed' }, payloads: [] };
    }
  },

  requested({ said, payload }: Asked, issued: Issued, stamp: Stamp): Told {
    return { event: { ...stamp, ...said, type: 'input.requested', claims: issued.claims }, payloads: stored(payload) };
  },

  result(outcome: ResultOutcome, issued: Issued, stamp: Stamp, sessionChanged: boolean): Told {
    const base = { ...stamp, claims: issued.claims };
    switch (outcome.kind) {
      case 'result': {
        const stored = storable(outcome.payload, issued.payloadLimit);
        if ('problem' in stored) {
          return { event: { ...base, type: 'result.failed', reason: stored.problem }, payloads: [] };
        }
        return { event: { ...base, type: 'result.fetched', result: stored.ref }, payloads: [stored.write] };
      }
      case 'notFound':
        return { event: { ...base, type: 'result.notFound', reason: outcome.reason, sessionChanged }, payloads: [] };
      default:
        return { event: { ...base, ...failure(outcome), type: 'result.failed' }, payloads: [] };
    }
  },

  /** The end of a question channel, and the result that it ended with, if it did. */
  channelClosed(reason: string, payload: Payload | null, issued: Issued, stamp: Stamp): Told {
    const stored = payload === null ? null : storable(payload, issued.payloadLimit);
    const problem = stored !== null && 'problem' in stored ? `: ${stored.problem}` : '';
    const result = stored === null || 'problem' in stored ? null : stored;
    return {
      event: {
        ...stamp,
        ...failure({ reason: `${reason}${problem}` }),
        type: 'input.channelClosed',
        claims: issued.claims,
        result: result?.ref ?? null,
      },
      payloads: result ? [result.write] : [],
    };
  },

  cancel(outcome: CancelOutcome, issued: Issued, stamp: Stamp): Told {
    const base = { ...stamp, claims: issued.claims };
    switch (outcome.kind) {
      case 'confirmed':
        return {
          event: { ...base, type: 'cancel.confirmed', task: seenTask(outcome.task, issued, stamp.at, false) },
          payloads: [],
        };
      case 'acknowledged':
        return { event: { ...base, type: 'cancel.acknowledged' }, payloads: [] };
      case 'unknown':
        return { event: { ...base, ...failure(outcome), type: 'cancel.unanswered' }, payloads: [] };
      default:
        return { event: { ...base, ...failure(outcome), type: `cancel.${outcome.kind}` }, payloads: [] };
    }
  },

  lookup(outcome: LookupOutcome, issued: Issued, stamp: Stamp, foreign: boolean): Told {
    const base = { ...stamp, claims: issued.claims };
    switch (outcome.kind) {
      case 'found':
        return {
          event: { ...base, type: 'lookup.found', task: seenTask(outcome.task, issued, stamp.at, foreign) },
          payloads: [],
        };
      case 'neverCreated':
        return {
          event: { ...base, type: 'lookup.neverCreated', closedThroughAttempt: outcome.closedThroughAttempt },
          payloads: [],
        };
      case 'expiredWithReceipt': {
        const stored = outcome.payload ? kept(outcome.payload, issued.payloadLimit) : null;
        const task = {
          taskId: outcome.taskId,
          createdAt: outcome.taskCreatedAt,
          status: outcome.status,
          statusMessage: null,
          pollIntervalMs: null,
          expiry: null,
          foreign,
        };
        return {
          event: { ...base, type: 'lookup.expiredWithReceipt', task, result: stored?.ref ?? null },
          payloads: stored ? [stored.write] : [],
        };
      }
      case 'unavailable':
        return { event: { ...base, ...failure(outcome), type: 'lookup.unavailable' }, payloads: [] };
      case 'unknown':
        return { event: { ...base, ...failure(outcome), type: 'lookup.failed' }, payloads: [] };
    }
  },
};

const stored = (payload: PayloadWrite | null): readonly PayloadWrite[] => (payload === null ? [] : [payload]);

/** An inlined payload that cannot be kept is left out: the fetch that follows says so. */
function kept(payload: Payload, limit: number): ReturnType<typeof storedPayload> | null {
  const stored = storable(payload, limit);
  return 'problem' in stored ? null : stored;
}

function failure(outcome: { readonly reason: string; readonly retryAfterMs?: number }): {
  reason: string;
  retryAfterMs?: number;
} {
  return {
    reason: outcome.reason.slice(0, 2_000),
    ...(outcome.retryAfterMs === undefined ? {} : { retryAfterMs: outcome.retryAfterMs }),
  };
}
