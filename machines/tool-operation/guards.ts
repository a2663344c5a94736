/**
 * Every condition of the protocol, one named guard each: `(context, event) => boolean`, pure.
 * The chart composes them; no condition hides in an action, an adapter or the executor.
 */
import type { AcceptFields } from '../operation-ledger.ts';
import type { ResultRef, TerminalStatus, ToolOperationContext } from './context.ts';
import type { OperationEvent } from './events.ts';

export type Guard = (context: ToolOperationContext, event: OperationEvent) => boolean;

/** The fields of B12 as the record holds them; the ledger's script compares the same ones again. */
export function acceptFieldsOf(context: ToolOperationContext): AcceptFields {
  return {
    callNode: context.callNodeId,
    requestDigest: context.requestDigest,
    taskId: context.taskId ?? '',
    toolVersion: context.tool.version,
    executionEpoch: String(context.executionEpoch),
    cancelGeneration: String(context.cancelGeneration),
    terminalState: terminalStateOf(context),
    resultDigest: context.result?.digest ?? '',
  };
}

function terminalStateOf(context: ToolOperationContext): string {
  if (context.givenUp) return 'given_up';
  if (context.notSubmitted) return 'not_submitted';
  return context.terminal?.status ?? '';
}

/** The candidate, if it can be what a call with this status returned: only a failed one ends with a JSON-RPC error. */
export function candidateFor(context: ToolOperationContext, status: TerminalStatus): ResultRef | null {
  const { candidate } = context;
  if (candidate === null || status === 'cancelled') return null;
  return candidate.kind === 'error' && status !== 'failed' ? null : candidate;
}

const isTerminal = (status: string | null | undefined): status is TerminalStatus =>
  status === 'completed' || status === 'failed' || status === 'cancelled';
/** The outcome that an event speaks of, or the one that was observed. */
function outcomeOf(context: ToolOperationContext, event: OperationEvent): TerminalStatus | null {
  const said = event.type === 'reconcile.accept' ? event.status : task(event)?.status;
  return isTerminal(said) ? said : (context.terminal?.status ?? null);
}

const claims = (event: OperationEvent) => ('claims' in event ? event.claims : null);
const task = (event: OperationEvent) => ('task' in event ? event.task : null);
const expects =
  (field: keyof AcceptFields): Guard =>
  (context, event) =>
    event.type === 'terminal.accept' && event.expected[field] === acceptFieldsOf(context)[field];

/** The names are kept, and each guard is told by its type's name: spelled out, they were most of the package's declarations. */
const named = <Name extends string>(table: Record<Name, Guard>): Readonly<Record<Name, Guard>> => table;

/** Every guard of the chart, by its name there. */
export const guards = named({
  // --- whose word is it? the claims of a fact against the record -------------------------------------------------
  /** F8: made under the record's execution epoch. */
  matchesExecutionEpoch: (context, event) => claims(event)?.executionEpoch === context.executionEpoch,
  isFromOlderEpoch: (context, event) =>
    (claims(event)?.executionEpoch ?? Number.POSITIVE_INFINITY) < context.executionEpoch,
  adoptsNewerEpoch: (context, event) => event.type === 'epoch.adopt' && event.executionEpoch > context.executionEpoch,
  matchesAttempt: (context, event) => claims(event)?.attempt === context.attempt,
  /** Any attempt that was made: an id under our key is evidence, whichever send brought it about. */
  isMadeAttempt: (context, event) => {
    const attempt = claims(event)?.attempt;
    return attempt !== undefined && attempt >= 1 && attempt <= context.attempt;
  },
  matchesCancelGeneration: (context, event) => claims(event)?.cancelGeneration === context.cancelGeneration,
  matchesEndpoint: (context, event) => claims(event)?.endpointId === context.endpoint.id,
  /** The request named the record's task, and the answer, where it names one, the same. */
  matchesTaskId: (context, event) =>
    context.taskId !== null &&
    claims(event)?.taskId === context.taskId &&
    (task(event)?.taskId ?? context.taskId) === context.taskId,
  /** F9: an id that comes back with another birth is another task. */
  matchesTaskCreatedAt: (context, event) => {
    const createdAt = task(event)?.createdAt ?? null;
    return context.taskCreatedAt === null || createdAt === null || createdAt === context.taskCreatedAt;
  },
  /**
   * F2: no answer to a request issued after this one's was applied yet (a poll's cursor is the next after the last applied).
   * Before there is an id, the cursor counts the sends: it tells what was known before a send from what its sender knows.
   */
  matchesPollCursor: (context, event) => claims(event)?.pollCursor === context.pollCursor,
  matchesToolVersion: (context, event) => claims(event)?.toolVersion === context.tool.version,
  matchesRequestDigest: (context, event) => claims(event)?.requestDigest === context.requestDigest,
  matchesInputRound: (context, event) =>
    event.type === 'input.reply'
      ? event.round === context.inputRound
      : claims(event)?.inputRound === context.inputRound,
  matchesSchemaDigest: (context, event) =>
    event.type === 'input.reply' && event.schemaDigest === context.input?.schemaDigest,
  beforeInputDeadline: (context, event) => context.input !== null && event.at <= context.input.deadline,

  // --- identity of a task ----------------------------------------------------------------------------------------
  taskIdIsKnown: (context) => context.taskId !== null,
  taskIsOurs: (_, event) => ('foreign' in event ? !event.foreign : task(event)?.foreign === false),
  /** The same id as on record: evidence of a second submission under our key would name another. */
  namesKnownTask: (context, event) => task(event)?.taskId === context.taskId,
  attachesKnownTask: (context, event) =>
    event.type === 'reconcile.attach' && (context.taskId === null || context.taskId === event.taskId),

  // --- what the server said --------------------------------------------------------------------------------------
  saysOutcome: (_, event) => task(event)?.status === 'completed' || task(event)?.status === 'failed',
  saysCancelled: (_, event) => task(event)?.status === 'cancelled',
  saysInputRequired: (_, event) => task(event)?.status === 'input_required',
  saysTerminal: (_, event) => isTerminal(task(event)?.status),
  /** Terminal A, then terminal B: the server contradicts itself. */
  contradictsTerminal: (context, event) => {
    const status = task(event)?.status;
    return context.terminal !== null && status !== undefined && status !== context.terminal.status;
  },
  terminalIsObserved: (context) => context.terminal !== null,
  outcomeIsObserved: (context) => context.terminal !== null && context.terminal.status !== 'cancelled',
  resultIsInHand: (context) => context.result !== null,
  /** A verified result came before the status that it belongs to, and fits that status. */
  candidateFits: (context, event) => {
    const outcome = outcomeOf(context, event);
    return outcome !== null && candidateFor(context, outcome) !== null;
  },
  /** The result that an event brings can belong to the outcome that was observed. */
  fitsOutcome: (context, event) =>
    'result' in event &&
    event.result !== null &&
    context.terminal !== null &&
    candidateFor({ ...context, candidate: event.result }, context.terminal.status) !== null,
  bringsResult: (_, event) => 'result' in event && event.result !== null,
  /** A second, different result: the first one in hand is final. */
  bringsOtherResult: (context, event) =>
    'result' in event &&
    event.result !== null &&
    context.result !== null &&
    event.result.digest !== context.result.digest,
  /** The first verified result is final: a fetched one must be it, once there is one. */
  matchesResultDigest: (context, event) =>
    'result' in event &&
    event.result !== null &&
    (context.result === null || event.result.digest === context.result.digest),
  handDeclaresCancelled: (_, event) => event.type === 'reconcile.accept' && event.status === 'cancelled',
  handBringsResult: (context, event) =>
    event.type === 'reconcile.accept' &&
    (event.result !== null || context.result !== null || candidateFor(context, event.status) !== null),

  // --- submission (B4, design section 6) -------------------------------------------------------------------------
  creationIsAllowed: (_, event) => 'creationAllowed' in event && event.creationAllowed,
  /** R4: nothing new is submitted under this adapter any more, and never will be. */
  adapterIsEnded: (_, event) => event.type === 'submit.begin' && event.adapterEnded === true,
  /** Inside the key's published retention window: after it, a server that forgot is not a server that never knew. */
  keyIsValid: (context, event) => context.keyValidUntil === null || event.at <= context.keyValidUntil,
  /** A further attempt cannot make a second operation: both meet in one key, or the key is closed for all before it. */
  nextAttemptIsSafe: (context, event) =>
    context.capabilities.deduplicates || closedThrough(context, event) >= context.sentThroughAttempt,
  /** Nothing that was sent so far can still create an operation (trivially so when nothing was sent). */
  everySendIsClosed: (context, event) => closedThrough(context, event) >= context.sentThroughAttempt,
  /** The same, apart from the attempt at hand: what its own sender knows of it is proven otherwise. */
  earlierSendsAreClosed: (context) => context.closedThroughAttempt >= context.attempt - 1,
  somethingWasSent: (context) => context.sentThroughAttempt > 0,

  // --- cancel (B9, B10) ------------------------------------------------------------------------------------------
  cancelIsWanted: (context) => context.cancel !== null,
  cancelIsSupported: (context) => context.capabilities.cancelSupported,
  cancelIsTerminalEvidence: (context) => context.capabilities.cancelEvidence === 'terminal',
  cancelIsUnheard: (context) =>
    context.cancel !== null && !context.cancel.heard && context.capabilities.cancelSupported,

  // --- budgets (B8) ----------------------------------------------------------------------------------------------
  withinWaitBudget: (context, event) => event.at <= context.waitDeadline,
  withinStepBudget: (context, event) => context.stepDeadline === null || event.at <= context.stepDeadline,
  withinPromptDeadline: (context, event) =>
    context.input === null || context.input.delivery === 'delivered' || event.at <= context.input.deadline,
  /** A question that was answered is known by its key, and is not opened again, however late its repetition comes. */
  asksOnlyNew: (context, event) =>
    event.type === 'input.requested' && !event.keys.some((key) => answeredKeys(context).includes(key)),
  answerIsRecorded: (context, event) =>
    event.type === 'input.requested' &&
    context.input?.delivery === 'recorded' &&
    context.input.schemaDigest === event.schemaDigest &&
    context.input.requestDigest === event.questionDigest,
  /** Parked because the id was unknown: a server that knows it again takes the operation back. */
  wasParkedAsUnknown: (context) => ['unknown-id', 'expired', 'session-lost'].includes(context.parked?.reason ?? ''),
  wasUnderNewSession: (context) => context.missing?.sessionChanged === true,
  /** The id was unknown only after the server's own expiry (however long it takes to find out why). */
  wasMissedAfterExpiry: (context) =>
    context.missing !== null && context.expiry !== null && context.missing.at > context.expiry.latest,

  // --- B12: the fields of acceptTerminal, one guard each ----------------------------------------------------------
  acceptsCallNode: expects('callNode'),
  acceptsRequestDigest: expects('requestDigest'),
  acceptsTaskId: expects('taskId'),
  acceptsToolVersion: expects('toolVersion'),
  acceptsExecutionEpoch: expects('executionEpoch'),
  acceptsCancelGeneration: expects('cancelGeneration'),
  acceptsTerminalState: expects('terminalState'),
  acceptsResultDigest: expects('resultDigest'),
});

/** Delivered, or on record and on its way. */
const answeredKeys = ({ answeredKeys: delivered, input }: ToolOperationContext): readonly string[] =>
  input?.replyDigest ? [...delivered, ...input.keys] : delivered;

/**
 * May the look-up repeat the call (AIP-155)? It creates where nothing was: only inside the key's window, before an id is
 * known, and while nobody wants it cancelled.
 */
export function mayRepeatCall(context: ToolOperationContext, at: number): boolean {
  const inTime = context.keyValidUntil === null || at <= context.keyValidUntil;
  return inTime && context.taskId === null && context.cancel === null;
}

function closedThrough(context: ToolOperationContext, event: OperationEvent): number {
  return event.type === 'lookup.neverCreated'
    ? Math.max(context.closedThroughAttempt, event.closedThroughAttempt)
    : context.closedThroughAttempt;
}

export type GuardName = keyof typeof guards;
