/**
 * `tool-operation`: the terminal protocol as one statechart (brief B5), and the only place that decides what may
 * follow what. It owns the life of one call node from SUBMITTING to its one receipt. It does not send, wait, store
 * or look at a clock: the executor does, and tells it by facts.
 *
 * Invariants: a terminal state is only entered by `terminal.accept` under `acceptTerminal`; `completed` and `failed`
 * never get there without their result; a won cancel never becomes a success; a call that may have been sent is never
 * queued again unless the next attempt is provably safe.
 *
 * There is no `after`, `invoke`, `spawn`, `raise` or `always`: none survives a restart. Each state names, as data, the
 * one request it still owes the world (`meta.effect`).
 */
import { and, assign, not, or, setup } from 'xstate';
import type { ParkReason, ToolOperationContext } from './context.ts';
import type { OperationEvent } from './events.ts';
import { type Guard, guards } from './guards.ts';
import { type TerminalReceipt, terminalReceipt } from './receipt.ts';
import { park, type Update, updates } from './updates.ts';

/** The one protocol request (or local step) that a state owes. */
export type Effect =
  | 'beginSubmit'
  | 'submit'
  | 'lookup'
  | 'requeue'
  | 'poll'
  | 'listen'
  | 'holdInput'
  | 'sendInput'
  | 'deliverInput'
  | 'sendCancel'
  | 'fetchResult'
  | 'acceptTerminal';

type RestsAt = 'watching' | 'searching' | 'waiting' | 'disputed';
const registered = <T extends Record<string, Guard>>(table: T) =>
  Object.fromEntries(
    Object.entries(table).map(([name, guard]) => [
      name,
      ({ context, event }: { context: ToolOperationContext; event: OperationEvent }) => guard(context, event),
    ]),
  ) as Record<keyof T, (args: { context: ToolOperationContext; event: OperationEvent }) => boolean>;

const write = (update: Update) =>
  assign<ToolOperationContext, OperationEvent, undefined, OperationEvent, never>(({ context, event }) =>
    update(context, event),
  );
const writers = Object.fromEntries(Object.entries(updates).map(([name, update]) => [name, write(update)])) as Record<
  keyof typeof updates,
  ReturnType<typeof write>
>;

const base = setup({
  types: {
    context: {} as ToolOperationContext,
    input: {} as ToolOperationContext,
    events: {} as OperationEvent,
    output: {} as TerminalReceipt,
    meta: {} as { readonly effect?: Effect },
  },
  guards: registered(guards),
  actions: {
    ...writers,
    park: assign(({ context, event }, params: { reason: ParkReason; restsAt: RestsAt }) =>
      park(params.reason, params.restsAt)(context, event),
    ),
  },
});

/**
 * The fences (design section 1): which claims must match for which kind of fact. A passing status is fenced by
 * everything; evidence only by identity, since it cannot be had again. Every composite has a name, so that the
 * inspector, the graph and a refusal can say it.
 */
const fenced = base
  .extend({
    guards: {
      isOfThisCall: and(['matchesExecutionEpoch', 'matchesEndpoint', 'matchesToolVersion', 'matchesRequestDigest']),
      isEvidenceOfOlderEpoch: and(['isFromOlderEpoch', 'matchesEndpoint', 'matchesRequestDigest']),
      // Not fenced by epoch: only the process that had the server can say so, whatever epoch it works under.
      isGoneServer: and(['matchesEndpoint']),
      namesWrongTask: or([
        not('taskIsOurs'),
        and(['taskIdIsKnown', not('namesKnownTask')]),
        not('matchesTaskCreatedAt'),
      ]),
    },
  })
  .extend({
    guards: {
      isPassing: and([
        'isOfThisCall',
        'matchesAttempt',
        'matchesTaskId',
        'matchesTaskCreatedAt',
        'matchesCancelGeneration',
        'matchesInputRound',
        'matchesPollCursor',
      ]),
      isEvidenceOfTask: and(['isOfThisCall', 'matchesTaskId', 'matchesTaskCreatedAt']),
      isReusedTaskId: and(['isOfThisCall', 'matchesTaskId', not('matchesTaskCreatedAt')]),
      isEvidenceOfSubmission: and(['isOfThisCall', 'isMadeAttempt']),
      isAnswerOfSender: and(['isOfThisCall', 'matchesAttempt', 'matchesPollCursor']),
      isCurrentLookup: and(['isOfThisCall', 'matchesAttempt', 'matchesPollCursor']),
      isAnswerOfChannel: and(['isOfThisCall', 'matchesTaskId', 'matchesInputRound']),
      isCurrentStep: and(['isOfThisCall', 'matchesAttempt', 'matchesCancelGeneration']),
    },
  })
  .extend({
    guards: {
      // submission
      beginsAfterKeyExpired: and(['isCurrentStep', 'somethingWasSent', not('keyIsValid')]),
      endsUnsent: and(['isCurrentStep', 'adapterIsEnded', 'everySendIsClosed']),
      endsWithOpenSends: and(['isCurrentStep', 'adapterIsEnded']),
      mayBegin: and(['isCurrentStep', 'creationIsAllowed']),
      unsentWithinBudget: and(['isAnswerOfSender', 'withinWaitBudget']),
      unsentForGood: and(['isAnswerOfSender', 'everySendIsClosed']),
      senderKnowsUnsent: and(['isAnswerOfSender', not('taskIdIsKnown'), not('cancelIsWanted')]),
      nothingCanBeCreated: and(['isAnswerOfSender', not('taskIdIsKnown'), 'earlierSendsAreClosed']),
      earlierSendStillOpen: and(['isAnswerOfSender', not('taskIdIsKnown')]),
      askedButCancelled: and(['isAnswerOfSender', not('taskIdIsKnown'), 'cancelIsWanted', 'earlierSendsAreClosed']),
      askedWithOpenSends: and(['isAnswerOfSender', not('taskIdIsKnown'), 'cancelIsWanted']),
      askedBeforeTask: and(['isAnswerOfSender', not('taskIdIsKnown')]),
      submissionNamesWrongTask: and(['isEvidenceOfSubmission', 'namesWrongTask']),
      submissionFoundToCancel: and(['isEvidenceOfSubmission', 'cancelIsWanted', 'cancelIsSupported']),
      secondTaskNamed: and(['isEvidenceOfSubmission', or([not('namesKnownTask'), 'namesWrongTask'])]),
      secondOutcomeSeen: and(['isEvidenceOfSubmission', 'taskIdIsKnown']),
      otherOutcomeSeen: and(['isEvidenceOfSubmission', 'bringsOtherResult']),
      // look-up
      lookupNamesWrongTask: and(['isCurrentLookup', 'namesWrongTask']),
      lookupFoundToCancel: and(['isCurrentLookup', 'cancelIsWanted', 'cancelIsSupported']),
      receiptContradicted: and(['isCurrentLookup', 'contradictsTerminal']),
      lookupFoundReceiptOfCancelled: and(['isCurrentLookup', 'saysCancelled']),
      lookupFoundReceiptOfOutcome: and([
        'isCurrentLookup',
        'saysOutcome',
        or(['bringsResult', 'resultIsInHand', 'candidateFits']),
      ]),
      lookupFoundReceiptOnly: and(['isCurrentLookup', 'saysOutcome']),
      neverCreatedAfterKeyExpired: and(['isCurrentLookup', not('keyIsValid')]),
      neverCreatedAndCancelled: and(['isCurrentLookup', 'cancelIsWanted', 'everySendIsClosed']),
      neverCreatedAndSafe: and(['isCurrentLookup', not('cancelIsWanted'), 'nextAttemptIsSafe']),
      lookupAfterKeyExpired: and(['isCurrentLookup', not('keyIsValid')]),
      lookupWithinBudget: and(['isCurrentLookup', 'withinStepBudget']),
      lookupAfterSessionChange: and(['isCurrentLookup', 'wasUnderNewSession']),
      lookupAfterExpiry: and(['isCurrentLookup', 'wasMissedAfterExpiry']),
      // polling
      outcomeSeen: and(['isEvidenceOfTask', 'saysOutcome']),
      cancelledSeen: and(['isEvidenceOfTask', 'saysCancelled']),
      inputAnnounced: and(['isPassing', 'saysInputRequired', 'withinWaitBudget', 'withinPromptDeadline']),
      promptLost: and(['isPassing', 'saysInputRequired', not('withinPromptDeadline')]),
      passingWithinBudget: and(['isPassing', 'withinWaitBudget']),
      passingWithinStep: and(['isPassing', 'withinStepBudget']),
      cancelMustBeSentAgain: and(['isPassing', 'withinStepBudget', 'cancelIsUnheard']),
      knownAgainToCancel: and(['isPassing', 'wasParkedAsUnknown', 'cancelIsWanted', 'cancelIsSupported']),
      knownAgain: and(['isPassing', 'wasParkedAsUnknown']),
      oldIdIsAllThereIs: and(['isEvidenceOfOlderEpoch', not('taskIdIsKnown')]),
      oldTerminalSeen: and(['isEvidenceOfOlderEpoch', 'saysTerminal']),
      oldResultSeen: and(['isEvidenceOfOlderEpoch', 'bringsResult']),
      terminalOfThisCall: and(['isOfThisCall', 'saysTerminal']),
      // result
      outcomeContradicted: and(['isEvidenceOfTask', 'saysTerminal', 'contradictsTerminal']),
      resultDiffers: and(['isEvidenceOfTask', 'bringsOtherResult']),
      resultOfTaskWithinBudget: and(['isEvidenceOfTask', 'withinStepBudget']),
      lateResultVerified: and(['isEvidenceOfTask', 'outcomeIsObserved', 'matchesResultDigest']),
      resultTryOfTask: and(['isOfThisCall', 'taskIdIsKnown']),
      candidateArrived: and(['isEvidenceOfTask', 'bringsResult']),
      lateCandidateFits: and(['isEvidenceOfTask', 'matchesResultDigest', 'fitsOutcome']),
      goneButCandidateInHand: and(['isEvidenceOfTask', 'candidateFits', 'withinStepBudget']),
      resultVerified: and(['isEvidenceOfTask', 'matchesResultDigest']),
      immediateResultVerified: and(['isAnswerOfSender', not('taskIdIsKnown'), 'matchesResultDigest']),
      resultTryWithinBudget: and(['isOfThisCall', 'withinStepBudget']),
      goneWithoutResult: and(['isGoneServer', not('resultIsInHand')]),
      goneBeforeAnyOpenSend: and(['isGoneServer', 'everySendIsClosed']),
      // input
      promptRepeatsRecorded: and([
        'isAnswerOfChannel',
        'matchesCancelGeneration',
        'answerIsRecorded',
        'withinPromptDeadline',
      ]),
      promptArrived: and(['isAnswerOfChannel', 'matchesCancelGeneration', 'asksOnlyNew']),
      replyFits: and(['matchesInputRound', 'matchesSchemaDigest', 'beforeInputDeadline']),
      deadlineIsOver: and(['isAnswerOfChannel', not('beforeInputDeadline')]),
      unansweredForGood: and(['isCurrentStep', 'matchesInputRound', not('beforeInputDeadline'), 'everySendIsClosed']),
      unansweredInTime: and(['isCurrentStep', 'matchesInputRound', not('beforeInputDeadline')]),
      // cancel
      cancelIsNew: and(['cancelIsSupported', not('cancelIsWanted'), not('terminalIsObserved')]),
      cancelIsSendable: and(['cancelIsSupported', not('terminalIsObserved')]),
      cancelLeavesNothingOpen: and(['everySendIsClosed']),
      cancelConfirmed: and(['isEvidenceOfTask', 'cancelIsWanted', 'cancelIsTerminalEvidence']),
      cancelConfirmedTooLate: and(['isEvidenceOfTask', 'cancelIsTerminalEvidence', 'contradictsTerminal']),
      // reconciliation
      handMayBringOutcome: and(['handBringsResult', or([not('terminalIsObserved'), 'outcomeIsObserved'])]),
      handMayDeclareNeverCreated: and([not('taskIdIsKnown')]),
      attachIsPossible: and(['attachesKnownTask', 'taskIsOurs']),
      attachToCancel: and(['attachesKnownTask', 'taskIsOurs', 'cancelIsWanted', 'cancelIsSupported']),
      // B12
      acceptTerminal: and([
        'isOfThisCall',
        'acceptsCallNode',
        'acceptsRequestDigest',
        'acceptsTaskId',
        'acceptsToolVersion',
        'acceptsExecutionEpoch',
        'acceptsCancelGeneration',
        'acceptsTerminalState',
        'acceptsResultDigest',
      ]),
    },
  })
  .extend({ guards: { acceptOutcome: and(['acceptTerminal', 'resultIsInHand']) } });

const to = {
  queued: '#toolOperation.SUBMITTING.queued',
  polling: '#toolOperation.WORKING.polling',
  listening: '#toolOperation.WORKING.listening',
  replied: '#toolOperation.INPUT_REQUIRED.replied',
  notFoundSafe: '#toolOperation.NOT_FOUND_SAFE',
  cancelSending: '#toolOperation.CANCEL_REQUESTED.sending',
  confirming: '#toolOperation.CANCEL_REQUESTED.confirming',
  cancelConfirmed: '#toolOperation.CANCEL_REQUESTED.confirmed',
  outcome: '#toolOperation.TERMINAL_OBSERVED.outcome',
  cancelled: '#toolOperation.TERMINAL_OBSERVED.cancelled',
  verified: '#toolOperation.FETCHING_RESULT.verified',
  notSubmitted: '#toolOperation.CONCLUDING.notSubmitted',
  givenUp: '#toolOperation.CONCLUDING.givenUp',
  watching: '#toolOperation.PARKED.watching',
  searching: '#toolOperation.PARKED.searching',
  waiting: '#toolOperation.PARKED.waiting',
  disputed: '#toolOperation.PARKED.disputed',
} as const;

const parked = <R extends ParkReason, S extends RestsAt>(reason: R, restsAt: S) =>
  ({ target: to[restsAt], actions: { type: 'park', params: { reason, restsAt } } }) as const;

const wrongTaskAcknowledged = { guard: 'submissionNamesWrongTask', ...parked('contradiction', 'disputed') } as const;
const adopted = { guard: 'isEvidenceOfSubmission', target: to.polling, actions: 'adoptTask' } as const;
/** The reply to the submission, however late it comes: an id under our key is adopted, a wrong one disputed (F9). */
const acknowledged = [
  wrongTaskAcknowledged,
  { guard: 'submissionFoundToCancel', target: to.cancelSending, actions: 'adoptTask' },
  adopted,
] as const;
/** Where a cancel ends or parks the call at once: none is ever wanted there. */
const acknowledgedUncancelled = [wrongTaskAcknowledged, adopted] as const;
const immediateOutcome = {
  guard: 'isEvidenceOfSubmission',
  target: to.outcome,
  actions: 'takeImmediateOutcome',
} as const;
const secondOutcome = { guard: 'secondOutcomeSeen', ...parked('contradiction', 'disputed') } as const;
/** This attempt created nothing, says its sender; without earlier sends that are still open, nothing ever can. */
const nothingCreated = [
  { guard: 'nothingCanBeCreated', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
  { guard: 'earlierSendStillOpen', ...parked('late-submission-possible', 'searching') },
] as const;
/** Questions instead of a task: nothing was created, and the call goes on with their answers, unless nobody wants it any more. */
const askedBeforeTask = [
  { guard: 'askedButCancelled', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
  { guard: 'askedWithOpenSends', ...parked('late-submission-possible', 'searching') },
  { guard: 'askedBeforeTask', target: '#toolOperation.SUBMITTING.asked', actions: 'openFirstRound' },
] as const;
/** The reply at last, at a record that did not wait for it. */
const answersOfSubmission = {
  'submit.acknowledged': acknowledged,
  'submit.outcome': immediateOutcome,
  'submit.notSent': [{ guard: 'senderKnowsUnsent', target: to.notFoundSafe, actions: 'noteUnsent' }, ...nothingCreated],
  'submit.rejected': nothingCreated,
  'submit.inputRequired': askedBeforeTask,
} as const;
/** The record went on with an id: another one under our key, or an outcome without one, is a second operation. */
const secondSubmission = {
  'submit.acknowledged': { guard: 'secondTaskNamed', ...parked('contradiction', 'disputed') },
  'submit.outcome': secondOutcome,
} as const;

const wrongTaskFound = { guard: 'lookupNamesWrongTask', ...parked('contradiction', 'disputed') } as const;
const found = { guard: 'isCurrentLookup', target: to.polling, actions: 'adoptTask' } as const;
const lookupFound = [
  wrongTaskFound,
  { guard: 'lookupFoundToCancel', target: to.cancelSending, actions: 'adoptTask' },
  found,
] as const;
const lookupFoundUncancelled = [wrongTaskFound, found] as const;
/** B13, EXPIRED_WITH_RECEIPT: gone, but what became of it is on record and may still be accepted. */
const receiptOfTask = [
  { guard: 'lookupFoundReceiptOfCancelled', target: to.cancelled, actions: 'observeTerminal' },
  { guard: 'lookupFoundReceiptOfOutcome', target: to.outcome, actions: 'observeTerminal' },
  {
    guard: 'lookupFoundReceiptOnly',
    target: to.waiting,
    actions: ['observeTerminal', { type: 'park', params: { reason: 'result-unavailable', restsAt: 'waiting' } }],
  },
] as const;
const receiptFound = [wrongTaskFound, ...receiptOfTask] as const;
/** Where a terminal state may be on record that it contradicts. */
const receiptFoundLate = [
  wrongTaskFound,
  { guard: 'receiptContradicted', ...parked('contradiction', 'disputed') },
  ...receiptOfTask,
] as const;
/** B13, NEVER_CREATED: the only case in which submitting again is allowed. */
const neverCreated = [
  { guard: 'neverCreatedAfterKeyExpired', ...parked('key-expired', 'waiting') },
  { guard: 'neverCreatedAndCancelled', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
  { guard: 'neverCreatedAndSafe', target: to.notFoundSafe, actions: 'noteNeverCreated' },
  { guard: 'isCurrentLookup', ...parked('late-submission-possible', 'searching') },
] as const;

/** For a state whose parent asks for a reused id already. */
const terminalOfTask = [
  { guard: 'outcomeContradicted', ...parked('contradiction', 'disputed') },
  { guard: 'outcomeSeen', target: to.outcome, actions: 'observeTerminal' },
  { guard: 'cancelledSeen', target: to.cancelled, actions: 'observeTerminal' },
] as const;
/** A terminal state that the server shows: evidence whenever it arrives, also from before a cancel. */
const terminalSeen = [{ guard: 'isReusedTaskId', ...parked('contradiction', 'disputed') }, ...terminalOfTask] as const;
const cancelContradicted = [
  { guard: 'isReusedTaskId', ...parked('contradiction', 'disputed') },
  { guard: 'cancelConfirmedTooLate', ...parked('contradiction', 'disputed') },
] as const;
const cancelWon = [
  ...cancelContradicted,
  { guard: 'cancelConfirmed', target: to.cancelConfirmed, actions: 'confirmCancel' },
] as const;
const cancelHeard = { guard: 'isEvidenceOfTask', actions: 'hearCancel' } as const;
const cancelIntent = { guard: 'cancelIsNew', actions: 'recordCancelIntent' } as const;
const cancelUnsent = [
  { guard: 'cancelLeavesNothingOpen', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
  parked('late-submission-possible', 'searching'),
] as const;
const cancelTask = { guard: 'cancelIsSendable', target: to.cancelSending, actions: 'requestCancel' } as const;
const missing = {
  guard: 'isPassing',
  target: '#toolOperation.CLASSIFYING_NOT_FOUND',
  actions: 'beginClassification',
} as const;
const serverGone = { guard: 'isGoneServer', ...parked('server-gone', 'waiting') } as const;
const goneUnsent = [
  { guard: 'goneBeforeAnyOpenSend', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
  serverGone,
] as const;
const beginsTooLate = { guard: 'beginsAfterKeyExpired', ...parked('key-expired', 'waiting') } as const;
/** After `mayBegin`: the step is its own, and only the switch keeps it from beginning. */
const paused = { guard: 'isCurrentStep', actions: 'retryLater' } as const;
/** A verified result with no status that it belongs to: kept, until a status (or a human) says what it is worth (B11). */
const candidate = { guard: 'candidateArrived', actions: 'keepCandidate' } as const;
/** Observed already: what is reported now is a repetition, or a contradiction. */
const observedAlready = {
  'submit.acknowledged': secondSubmission['submit.acknowledged'],
  'submit.outcome': [secondOutcome, { guard: 'otherOutcomeSeen', actions: 'keepForAudit' }],
  'poll.status': [
    { guard: 'isReusedTaskId', ...parked('contradiction', 'disputed') },
    { guard: 'outcomeContradicted', ...parked('contradiction', 'disputed') },
    { guard: 'resultDiffers', actions: 'keepForAudit' },
  ],
  'cancel.confirmed': cancelContradicted,
  'input.channelClosed': candidate,
} as const;
/** The first verified result is final (the difference is recorded). */
const fetched = [
  { guard: 'resultVerified', target: to.verified, actions: 'storeResult' },
  { guard: 'immediateResultVerified', target: to.verified, actions: 'storeResult' },
] as const;
/** A result that comes when nobody waits for it any more: taken, if its outcome was observed, and kept for it otherwise. */
const lateResult = [{ guard: 'lateResultVerified', target: to.verified, actions: 'storeResult' }, candidate] as const;
/** The same, on the channel that was held for questions. */
const lateCandidate = [{ guard: 'lateCandidateFits', target: to.verified, actions: 'storeResult' }, candidate] as const;
/** The id is unknown, but its result came on the channel while it was asked for. */
const resultGone = [
  {
    guard: 'goneButCandidateInHand',
    target: '#toolOperation.FETCHING_RESULT.retrying',
    actions: 'retryLater',
  },
  {
    guard: 'isEvidenceOfTask',
    target: '#toolOperation.CLASSIFYING_NOT_FOUND',
    actions: 'beginClassification',
  },
] as const;
/** Not fetched and not known to the look-up: the best word for what is not known. */
const unclassified = [
  { guard: 'lookupAfterSessionChange', ...parked('session-lost', 'watching') },
  { guard: 'lookupAfterExpiry', ...parked('expired', 'watching') },
  { guard: 'isCurrentLookup', ...parked('unknown-id', 'watching') },
] as const;
/** Evidence that nothing can be made of here: kept for the human and the audit. */
const kept = {
  'submit.acknowledged': { guard: 'isOfThisCall', actions: 'keepForAudit' },
  'submit.outcome': { guard: 'isOfThisCall', actions: 'keepForAudit' },
  'lookup.found': { guard: 'isOfThisCall', actions: 'keepForAudit' },
  'poll.status': { guard: 'terminalOfThisCall', actions: 'keepForAudit' },
  'result.fetched': { guard: 'isOfThisCall', actions: 'keepForAudit' },
  'cancel.confirmed': { guard: 'isOfThisCall', actions: 'keepForAudit' },
} as const;

/** A look-up that is a repetition of the call proves nothing, and may create, once the key is forgotten. */
const noLookup = [
  { guard: 'lookupAfterKeyExpired', ...parked('key-expired', 'waiting') },
  { guard: 'isCurrentLookup', ...parked('no-lookup', 'waiting') },
] as const;

const acceptByHand = [
  { guard: 'handDeclaresCancelled', target: to.cancelled, actions: 'acceptByHand' },
  { guard: 'handMayBringOutcome', target: to.outcome, actions: 'acceptByHand' },
] as const;
const giveUp = { target: to.givenUp, actions: 'giveUp' } as const;
const attach = [
  { guard: 'attachToCancel', target: to.cancelSending, actions: 'attachTask' },
  { guard: 'attachIsPossible', target: to.polling, actions: 'attachTask' },
] as const;
const declareNeverCreated = {
  guard: 'handMayDeclareNeverCreated',
  target: to.notSubmitted,
  actions: 'concludeNotSubmitted',
} as const;

const oldEvidence = { guard: 'isEvidenceOfOlderEpoch', actions: 'keepInInbox' } as const;
/** An id from an older epoch gives a waiting record something to ask again. */
const oldIdToAsk = {
  guard: 'oldIdIsAllThereIs',
  target: to.searching,
  actions: ['keepInInbox', 'askNow'],
} as const;

/**
 * The chart (B5). Its context is the record, its output the terminal receipt; the executor runs it by pure transitions,
 * never as an actor.
 */
export const toolOperation = fenced.createMachine({
  id: 'toolOperation',
  description: 'One call node, one operation, exactly one accepted terminal state.',
  context: ({ input }) => input,
  output: ({ context }) => terminalReceipt(context),
  initial: 'SUBMITTING',
  on: {
    'epoch.adopt': {
      guard: 'adoptsNewerEpoch',
      actions: 'adoptEpoch',
      description: 'A newer execution epoch takes the record over (R3).',
    },
    // F8: what an executor of an older epoch brings is kept, and verified by a request of the current one.
    'submit.acknowledged': oldEvidence,
    'submit.outcome': oldEvidence,
    'lookup.found': oldEvidence,
    'poll.status': { guard: 'oldTerminalSeen', actions: 'keepInInbox' },
    'result.fetched': oldEvidence,
    'cancel.confirmed': oldEvidence,
    'input.channelClosed': { guard: 'oldResultSeen', actions: 'keepInInbox' },
  },
  states: {
    SUBMITTING: {
      description: 'The call has an identity in the ledger; no id of the server yet (B4).',
      initial: 'queued',
      states: {
        queued: {
          description: 'Nothing of this attempt was sent: anybody may start it.',
          meta: { effect: 'beginSubmit' },
          on: {
            'submit.notSent': [
              { guard: 'unsentWithinBudget', actions: 'retryLater' },
              { guard: 'unsentForGood', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
              { guard: 'isAnswerOfSender', ...parked('late-submission-possible', 'searching') },
            ],
            'submit.begin': [
              beginsTooLate,
              { guard: 'endsUnsent', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
              { guard: 'endsWithOpenSends', ...parked('late-submission-possible', 'searching') },
              { guard: 'mayBegin', target: 'sending', actions: 'beginSubmit' },
              paused,
            ],
            'submit.acknowledged': acknowledgedUncancelled,
            'submit.outcome': immediateOutcome,
            'cancel.request': cancelUnsent,
            'server.gone': goneUnsent,
          },
        },
        sending: {
          description: 'One executor, under its lease, may have sent it. Nobody ever sends it again.',
          meta: { effect: 'submit' },
          on: {
            ...answersOfSubmission,
            'submit.notSent': [
              { guard: 'senderKnowsUnsent', target: to.queued, actions: 'requeueUnsent' },
              ...nothingCreated,
            ],
            'submit.connectionLost': {
              guard: 'isAnswerOfSender',
              target: '#toolOperation.SUBMISSION_UNKNOWN',
              actions: 'beginLookup',
            },
            'sender.lost': {
              guard: 'isAnswerOfSender',
              target: '#toolOperation.SUBMISSION_UNKNOWN',
              actions: 'beginLookup',
            },
            'cancel.request': cancelIntent,
            'server.gone': serverGone,
          },
        },
        asked: {
          description:
            'The server asks before it makes a task: nothing was created, and a human decides. With the answer the call goes back on the queue.',
          meta: { effect: 'holdInput' },
          on: {
            'input.reply': { guard: 'replyFits', target: 'queued', actions: 'queueWithReply' },
            'input.deadlinePassed': [
              { guard: 'unansweredForGood', target: to.notSubmitted, actions: 'concludeNotSubmitted' },
              { guard: 'unansweredInTime', ...parked('late-submission-possible', 'searching') },
            ],
            'submit.acknowledged': acknowledgedUncancelled,
            'submit.outcome': immediateOutcome,
            'cancel.request': cancelUnsent,
            'server.gone': goneUnsent,
          },
        },
      },
    },
    SUBMISSION_UNKNOWN: {
      description: 'The reply to the submission was lost: look up by the same key, never send again on a guess (B4).',
      meta: { effect: 'lookup' },
      on: {
        ...answersOfSubmission,
        'lookup.found': lookupFound,
        'lookup.neverCreated': neverCreated,
        'lookup.expiredWithReceipt': receiptFound,
        'lookup.unavailable': noLookup,
        'lookup.failed': [
          { guard: 'lookupWithinBudget', actions: 'retryLater' },
          { guard: 'isCurrentLookup', ...parked('lookup-budget', 'searching') },
        ],
        'cancel.request': cancelIntent,
        'server.gone': serverGone,
      },
    },
    NOT_FOUND_SAFE: {
      description:
        'Proven by submission key: nothing was created, and a further attempt cannot make a second operation (B13).',
      meta: { effect: 'requeue' },
      on: {
        'submit.acknowledged': acknowledgedUncancelled,
        'submit.outcome': immediateOutcome,
        'lookup.found': lookupFoundUncancelled,
        'submit.requeue': [
          beginsTooLate,
          { guard: 'mayBegin', target: to.queued, actions: 'queueNextAttempt' },
          paused,
        ],
        'cancel.request': cancelUnsent,
        'server.gone': goneUnsent,
      },
    },
    WORKING: {
      description: 'The server returned an id that can be queried.',
      initial: 'polling',
      on: {
        ...secondSubmission,
        'cancel.request': cancelTask,
        'poll.notFound': missing,
        'poll.failed': [
          { guard: 'passingWithinBudget', actions: 'retryLater' },
          { guard: 'isPassing', ...parked('wait-budget', 'watching') },
        ],
        'input.requested': [
          { guard: 'promptRepeatsRecorded', target: to.replied, actions: 'reopenRecorded' },
          { guard: 'promptArrived', target: '#toolOperation.INPUT_REQUIRED', actions: 'openRound' },
        ],
        'result.fetched': candidate,
        'input.channelClosed': candidate,
        'server.gone': serverGone,
      },
      states: {
        polling: {
          description: 'Asks for the status at the interval of the server (B8).',
          meta: { effect: 'poll' },
          on: {
            'poll.status': [
              ...terminalSeen,
              { guard: 'inputAnnounced', target: 'listening', actions: 'applyStatus' },
              { guard: 'promptLost', ...parked('input-deadline', 'watching') },
              { guard: 'passingWithinBudget', actions: 'applyStatus' },
              { guard: 'isPassing', ...parked('wait-budget', 'watching') },
            ],
          },
        },
        listening: {
          description:
            'The server says that it wants input: the channel is held open, nobody is asked from the status alone.',
          meta: { effect: 'listen' },
          on: {
            'poll.status': [
              ...terminalSeen,
              { guard: 'promptLost', ...parked('input-deadline', 'watching') },
              { guard: 'inputAnnounced', actions: 'applyStatus' },
              { guard: 'passingWithinBudget', target: 'polling', actions: 'applyStatus' },
              { guard: 'isPassing', ...parked('wait-budget', 'watching') },
            ],
            'input.channelClosed': { guard: 'isAnswerOfChannel', actions: 'loseChannel' },
          },
        },
      },
    },
    INPUT_REQUIRED: {
      description: 'One round of input is open: automatic polling pauses, a human decides (B7).',
      initial: 'awaiting',
      on: {
        ...secondSubmission,
        'poll.status': terminalSeen,
        'cancel.request': cancelTask,
        'input.channelClosed': [
          { guard: 'isAnswerOfChannel', target: to.listening, actions: 'loseChannel' },
          candidate,
        ],
        'result.fetched': candidate,
        'server.gone': serverGone,
      },
      states: {
        awaiting: {
          description: 'The question is with the human.',
          meta: { effect: 'holdInput' },
          on: {
            'input.reply': { guard: 'replyFits', target: 'replied', actions: 'recordReply' },
            'input.deadlinePassed': { guard: 'deadlineIsOver', target: 'expired', actions: 'askOnceMore' },
          },
        },
        replied: {
          description: 'The answer is in the ledger and provably not on the wire.',
          meta: { effect: 'sendInput' },
          on: { 'input.send': { guard: 'isAnswerOfChannel', target: 'sending', actions: 'markAttempted' } },
        },
        sending: {
          description: 'The answer may be on the wire.',
          meta: { effect: 'deliverInput' },
          on: {
            'input.delivered': { guard: 'isAnswerOfChannel', target: to.listening, actions: 'markDelivered' },
            'input.notDelivered': { guard: 'isAnswerOfChannel', target: to.listening, actions: 'takeBackDelivery' },
          },
        },
        expired: {
          description: 'Nobody answered in time: one last look before parking.',
          meta: { effect: 'poll' },
          on: {
            'poll.status': [...terminalOfTask, { guard: 'isPassing', ...parked('input-deadline', 'watching') }],
            'poll.failed': [
              { guard: 'passingWithinStep', actions: 'retryLater' },
              { guard: 'isPassing', ...parked('input-deadline', 'watching') },
            ],
            'poll.notFound': missing,
          },
        },
      },
    },
    CANCEL_REQUESTED: {
      description: 'A cancel is a request: its generation is raised first, then it is sent (B9).',
      initial: 'sending',
      on: {
        ...secondSubmission,
        'cancel.confirmed': cancelWon,
        'result.fetched': candidate,
        'input.channelClosed': candidate,
        'server.gone': serverGone,
      },
      states: {
        sending: {
          description: 'The cancel is owed to the server.',
          meta: { effect: 'sendCancel' },
          on: {
            'poll.status': terminalSeen,
            'cancel.acknowledged': { guard: 'isEvidenceOfTask', target: 'confirming', actions: 'hearCancel' },
            'cancel.unsupported': { guard: 'isEvidenceOfTask', target: 'confirming', actions: 'hearCancel' },
            'cancel.refused': { guard: 'isEvidenceOfTask', target: 'confirming', actions: 'readAfterCancel' },
            'cancel.unanswered': { guard: 'isEvidenceOfTask', target: 'confirming', actions: 'readAfterCancel' },
          },
        },
        confirming: {
          description: 'The status decides what became of the cancel.',
          meta: { effect: 'poll' },
          on: {
            'poll.status': [
              ...terminalSeen,
              { guard: 'cancelMustBeSentAgain', target: 'sending', actions: 'resendCancel' },
              { guard: 'passingWithinStep', actions: 'applyStatus' },
              { guard: 'isPassing', ...parked('cancel-unconfirmed', 'watching') },
            ],
            'poll.failed': [
              { guard: 'passingWithinStep', actions: 'retryLater' },
              { guard: 'isPassing', ...parked('cancel-unconfirmed', 'watching') },
            ],
            'poll.notFound': missing,
            'cancel.acknowledged': cancelHeard,
          },
        },
        confirmed: {
          description: 'The cancel won: whatever comes later is for the audit (B10).',
          meta: { effect: 'acceptTerminal' },
          on: {
            ...kept,
            'server.gone': { guard: 'isGoneServer', actions: 'keepForAudit' },
            'terminal.accept': {
              guard: 'acceptTerminal',
              target: '#toolOperation.CANCELLED_ACCEPTED',
              actions: 'acceptCancelled',
            },
          },
        },
      },
    },
    TERMINAL_OBSERVED: {
      description: 'The server says that it is over. Observed is not accepted (B11).',
      initial: 'outcome',
      on: observedAlready,
      states: {
        outcome: {
          description: 'Completed or failed: the result must be in hand first.',
          meta: { effect: 'fetchResult' },
          on: {
            'result.fetched': [
              ...fetched,
              {
                guard: 'resultDiffers',
                target: '#toolOperation.FETCHING_RESULT.retrying',
                actions: ['keepForAudit', 'retryLater'],
              },
            ],
            'result.failed': {
              guard: 'isOfThisCall',
              target: '#toolOperation.FETCHING_RESULT.retrying',
              actions: 'retryLater',
            },
            'result.notFound': resultGone,
            'server.gone': { guard: 'goneWithoutResult', ...parked('server-gone', 'waiting') },
          },
        },
        cancelled: {
          description:
            'Cancelled, by whomever: accepted on that evidence (one look at a result for the audit gates nothing).',
          meta: { effect: 'acceptTerminal' },
          on: {
            'terminal.accept': {
              guard: 'acceptTerminal',
              target: '#toolOperation.CANCELLED_ACCEPTED',
              actions: 'acceptCancelled',
            },
          },
        },
      },
    },
    FETCHING_RESULT: {
      description: 'The result (or the error) is fetched and verified before anything advances (B11).',
      initial: 'retrying',
      on: observedAlready,
      states: {
        retrying: {
          description: 'It was lost, cut off or invalid: ask again, inside the budget.',
          meta: { effect: 'fetchResult' },
          on: {
            'result.fetched': [
              ...fetched,
              { guard: 'resultOfTaskWithinBudget', actions: ['keepForAudit', 'retryLater'] },
              { guard: 'resultDiffers', ...parked('result-unavailable', 'watching') },
            ],
            'result.failed': [
              { guard: 'resultTryWithinBudget', actions: 'retryLater' },
              { guard: 'resultTryOfTask', ...parked('result-unavailable', 'watching') },
              { guard: 'isOfThisCall', ...parked('result-unavailable', 'waiting') },
            ],
            'result.notFound': resultGone,
            'server.gone': { guard: 'goneWithoutResult', ...parked('server-gone', 'waiting') },
          },
        },
        verified: {
          description: 'In hand, verified, stored under its digest.',
          meta: { effect: 'acceptTerminal' },
          on: {
            'result.fetched': { guard: 'resultDiffers', actions: 'keepForAudit' },
            'terminal.accept': { guard: 'acceptOutcome', target: '#toolOperation.ACCEPTED', actions: 'acceptOutcome' },
          },
        },
      },
    },
    CLASSIFYING_NOT_FOUND: {
      description: 'The server does not know the id: key, receipt and session tell why (B13). Never "failed".',
      meta: { effect: 'lookup' },
      on: {
        ...secondSubmission,
        'lookup.found': lookupFound,
        'lookup.neverCreated': { guard: 'isCurrentLookup', ...parked('unknown-id', 'watching') },
        'lookup.expiredWithReceipt': receiptFoundLate,
        'lookup.unavailable': unclassified,
        'lookup.failed': [{ guard: 'lookupWithinBudget', actions: 'retryLater' }, ...unclassified],
        'poll.status': terminalSeen,
        'result.fetched': lateResult,
        'input.channelClosed': lateCandidate,
        'cancel.confirmed': cancelWon,
        'cancel.acknowledged': cancelHeard,
        'cancel.request': cancelIntent,
        'server.gone': serverGone,
      },
    },
    PARKED: {
      description:
        'UNKNOWN: a human reconciles, with all evidence. Late evidence is still taken, and what can be asked is asked, slowly.',
      initial: 'waiting',
      on: {
        'reconcile.accept': acceptByHand,
        'reconcile.giveUp': giveUp,
      },
      states: {
        watching: {
          description: 'The id is known: its status is still read.',
          meta: { effect: 'poll' },
          on: {
            'poll.status': [
              ...terminalSeen,
              { guard: 'cancelMustBeSentAgain', target: to.cancelSending, actions: 'requestCancel' },
              { guard: 'knownAgainToCancel', target: to.confirming, actions: 'adoptTask' },
              { guard: 'knownAgain', target: to.polling, actions: 'adoptTask' },
              { guard: 'isPassing', actions: 'applyParkedStatus' },
            ],
            'poll.failed': { guard: 'isPassing', actions: 'waitParked' },
            'poll.notFound': { guard: 'isPassing', actions: 'waitParked' },
            ...secondSubmission,
            'result.fetched': lateResult,
            'input.channelClosed': lateCandidate,
            'cancel.confirmed': cancelWon,
            'cancel.acknowledged': cancelHeard,
            'cancel.request': cancelTask,
            'server.gone': serverGone,
            'reconcile.attach': attach,
          },
        },
        searching: {
          description: 'The key is valid: the look-up goes on.',
          meta: { effect: 'lookup' },
          on: {
            ...answersOfSubmission,
            'lookup.found': lookupFound,
            'lookup.neverCreated': neverCreated,
            'lookup.expiredWithReceipt': receiptFound,
            'lookup.unavailable': noLookup,
            'lookup.failed': { guard: 'isCurrentLookup', actions: 'waitParked' },
            'cancel.request': cancelIntent,
            'server.gone': serverGone,
            'reconcile.attach': attach,
            'reconcile.neverCreated': declareNeverCreated,
          },
        },
        waiting: {
          description: 'Nothing can be asked: only late evidence or a human goes on from here.',
          on: {
            ...answersOfSubmission,
            'submit.acknowledged': [...acknowledged, oldIdToAsk],
            'submit.outcome': [secondOutcome, immediateOutcome],
            'lookup.found': [...lookupFound, oldIdToAsk],
            'lookup.expiredWithReceipt': receiptFoundLate,
            'poll.status': terminalSeen,
            'result.fetched': lateResult,
            'input.channelClosed': lateCandidate,
            'cancel.confirmed': cancelWon,
            'cancel.request': cancelIntent,
            'reconcile.attach': attach,
            'reconcile.neverCreated': declareNeverCreated,
          },
        },
        disputed: {
          description: 'The server contradicted itself: only a human decides.',
          on: { ...kept, 'input.channelClosed': candidate },
        },
      },
    },
    CONCLUDING: {
      description: 'Ends without a terminal state of the server.',
      initial: 'notSubmitted',
      states: {
        notSubmitted: {
          description: 'Provably nothing was created, and nothing can be.',
          meta: { effect: 'acceptTerminal' },
          on: {
            // Not accepted yet: evidence to the contrary counts more than anybody's conclusion.
            'submit.acknowledged': acknowledged,
            'submit.outcome': immediateOutcome,
            'lookup.found': lookupFound,
            'terminal.accept': {
              guard: 'acceptTerminal',
              target: '#toolOperation.NOT_SUBMITTED',
              actions: 'acceptConclusion',
            },
          },
        },
        givenUp: {
          description: 'A human gave it up, in writing.',
          meta: { effect: 'acceptTerminal' },
          on: {
            ...kept,
            'input.channelClosed': candidate,
            'terminal.accept': {
              guard: 'acceptTerminal',
              target: '#toolOperation.GIVEN_UP',
              actions: 'acceptConclusion',
            },
          },
        },
      },
    },
    ACCEPTED: { type: 'final', description: 'Completed or failed, with its result, receipt and one ready row.' },
    CANCELLED_ACCEPTED: {
      type: 'final',
      description: 'Cancelled, on the evidence of the cancel. Never becomes anything else.',
    },
    NOT_SUBMITTED: { type: 'final', description: 'Nothing was ever created.' },
    GIVEN_UP: { type: 'final', description: 'Unknown, and closed by a human.' },
  },
});
