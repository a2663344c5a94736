/**
 * The record as the closed model keeps it: the production snapshot, with everything that no decision reads brought to one
 * value, so that there are finitely many. Counters that are only compared for equality (cursor, round) stand still here; what
 * was issued before they moved is marked stale instead. A time is only ever compared with now: it is past or it is not.
 */
import type { Evidence, ToolOperationContext } from '../../../machines/tool-operation/context.ts';
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';

export const NOW = 1_000_000;
export const PAST = NOW - 1;
export const FUTURE = 2 * NOW;
export const CURSOR = 10;
export const ROUND = 5;

type Context = ToolOperationContext;

const when = (time: number) => (time < NOW ? PAST : FUTURE);
const whenOr = (time: number | null) => (time === null ? null : when(time));
const bare = (entry: Evidence): Evidence => ({
  kind: entry.kind,
  at: 0,
  executionEpoch: 0,
  ...(entry.taskId === undefined ? {} : { taskId: entry.taskId }),
  ...(entry.status === undefined ? {} : { status: entry.status }),
  ...(entry.resultDigest === undefined ? {} : { resultDigest: entry.resultDigest }),
});

function distinct(entries: readonly Evidence[]): Evidence[] {
  const seen = new Map(entries.map((entry) => [JSON.stringify(bare(entry)), bare(entry)]));
  return [...seen.keys()].sort().map((key) => seen.get(key) as Evidence);
}

/** Whether the id was missed after the server's own expiry is decided by the order of the two: it is kept, the times are not. */
function missed(context: Context): Pick<Context, 'missing' | 'expiry'> {
  const { missing, expiry } = context;
  const latest = expiry === null ? null : when(expiry.latest);
  const after = missing !== null && expiry !== null && missing.at > expiry.latest;
  return {
    missing: missing === null ? null : { ...missing, at: after ? NOW : PAST - 1 },
    expiry: latest === null ? null : { earliest: FUTURE, latest },
  };
}

export function abstracted(context: Context): Context {
  return {
    ...context,
    ...missed(context),
    createdAt: 0,
    updatedAt: 0,
    dueAt: context.dueAt === null ? null : NOW,
    failures: Math.min(1, context.failures),
    waitDeadline: when(context.waitDeadline),
    stepDeadline: whenOr(context.stepDeadline),
    keyValidUntil: whenOr(context.keyValidUntil),
    pausedAt: context.pausedAt === null ? null : NOW,
    pollCursor: CURSOR,
    inputRound: ROUND,
    sender: context.sender === null ? null : 'a drive',
    statusMessage: null,
    pollIntervalMs: null,
    cancel: context.cancel && { ...context.cancel, requestedAt: 0, requestedBy: 'human', reason: null },
    input: context.input && {
      ...context.input,
      openedAt: 0,
      deadline: when(context.input.deadline),
      repliedAt: context.input.repliedAt === null ? null : 0,
    },
    terminal: context.terminal && { ...context.terminal, observedAt: 0, evidence: bare(context.terminal.evidence) },
    parked: context.parked && { ...context.parked, at: 0, note: null },
    notSubmitted: context.notSubmitted && { ...context.notSubmitted, reason: 'a reason' },
    givenUp: context.givenUp && { by: 'human', note: 'a note', at: 0 },
    inbox: distinct(context.inbox),
    audit: [],
  };
}

/** The deadlines of a record, one by one: time passes them in any order that the budgets allow. */
export const DEADLINES = {
  step: (context: Context) => context.stepDeadline === FUTURE && { stepDeadline: PAST },
  // The time of a human does not count.
  wait: (context: Context) => context.pausedAt === null && context.waitDeadline === FUTURE && { waitDeadline: PAST },
  input: (context: Context) => context.input?.deadline === FUTURE && { input: { ...context.input, deadline: PAST } },
  key: (context: Context) => context.keyValidUntil === FUTURE && { keyValidUntil: PAST },
  expiry: (context: Context) => context.expiry?.latest === FUTURE && { expiry: { ...context.expiry, latest: PAST } },
} as const satisfies Record<string, (context: Context) => Partial<Context> | false | undefined>;
export type Deadline = keyof typeof DEADLINES;

export const withContext = (snapshot: OperationSnapshot, context: Context): OperationSnapshot =>
  ({ ...snapshot, context }) as OperationSnapshot;
