/**
 * Plays event sequences on the pure chart. A step says an event, built from the record as it stands then (or under claims
 * remembered from earlier: what a slow answer carries), and the state it leads to.
 */
import { RECORD_SCHEMA, type ResultRef, type ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { Claims, OperationEvent, SeenTask } from '../../machines/tool-operation/events.ts';
import { acceptFieldsOf } from '../../machines/tool-operation/guards.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { explainRefusal } from '../../machines/tool-operation/refusal.ts';
import {
  applyEvent,
  newOperation,
  type OperationMachine,
  type OperationSnapshot,
  statePath,
} from '../../machines/tool-operation/snapshot.ts';

export const digestOf = (letter: string) => letter.repeat(64);
/** A key of a question, as the record knows it. */
export const KEY = 'c'.repeat(16);
export const START = 1_000_000;
export const BORN = '2026-12-02T08:00:00Z';

export const POLICY: ToolOperationContext['policy'] = {
  pollIntervalMs: 5_000,
  minPollIntervalMs: 500,
  maxPollIntervalMs: 60_000,
  jitter: 0,
  maxBackoffMs: 60_000,
  waitBudgetMs: 600_000,
  lookupBudgetMs: 60_000,
  fetchBudgetMs: 60_000,
  cancelBudgetMs: 60_000,
  inputDeadlineMs: 300_000,
  parkedIntervalMs: 60_000,
};
/** A server with everything: a look-up that closes, a terminal cancel, input on a channel. */
export const ABLE: ToolOperationContext['capabilities'] = {
  cancelSupported: true,
  cancelEvidence: 'terminal',
  lookup: 'closing',
  deduplicates: false,
  input: 'channel',
  inputRedelivery: false,
  effectFree: false,
};
export const able = (changes: Partial<ToolOperationContext['capabilities']>) => ({
  capabilities: { ...ABLE, ...changes },
});
export const COOPERATIVE = able({ cancelEvidence: 'cooperative' });
export const DEDUPLICATING = able({ deduplicates: true });
export const NO_CANCEL = able({ cancelSupported: false });

export function contextOf(changes: Partial<ToolOperationContext> = {}): ToolOperationContext {
  return {
    schema: RECORD_SCHEMA,
    operationId: 'op-1',
    namespace: 'test',
    principal: 'local',
    callNodeId: 'run-1/node-1/0',
    requestDigest: digestOf('a'),
    tool: { name: 'report', version: digestOf('b') },
    protocol: 'mcp-2025-11-25',
    endpoint: { id: 'server-1', kind: 'http', url: 'http://127.0.0.1/mcp' },
    submissionKey: digestOf('c'),
    keyValidUntil: START + 86_400_000,
    capabilities: ABLE,
    policy: POLICY,
    session: { sessionId: 's-1', protocolVersion: '2025-11-25' },
    executionEpoch: 5,
    attempt: 1,
    closedThroughAttempt: 0,
    sentThroughAttempt: 0,
    sender: null,
    cancelGeneration: 0,
    pollCursor: 0,
    inputRound: 0,
    taskId: null,
    taskCreatedAt: null,
    serverStatus: null,
    statusMessage: null,
    pollIntervalMs: null,
    expiry: null,
    createdAt: START,
    updatedAt: START,
    dueAt: START,
    failures: 0,
    waitDeadline: START + POLICY.waitBudgetMs,
    stepDeadline: null,
    pausedAt: null,
    cancel: null,
    input: null,
    answeredKeys: [],
    terminal: null,
    result: null,
    candidate: null,
    auditResult: null,
    outputVerdict: null,
    notSubmitted: null,
    missing: null,
    parked: null,
    givenUp: null,
    effectReconciliationRequired: false,
    inbox: [],
    audit: [],
    ...changes,
  };
}

export const claimsOf = (context: ToolOperationContext): Claims => ({
  executionEpoch: context.executionEpoch,
  attempt: context.attempt,
  cancelGeneration: context.cancelGeneration,
  pollCursor: context.pollCursor,
  endpointId: context.endpoint.id,
  taskId: context.taskId,
  inputRound: context.inputRound,
  toolVersion: context.tool.version,
  requestDigest: context.requestDigest,
});

export const taskOf = (changes: Partial<SeenTask> = {}): SeenTask => ({
  taskId: 'task-1',
  createdAt: BORN,
  status: 'working',
  statusMessage: null,
  pollIntervalMs: null,
  expiry: null,
  foreign: false,
  ...changes,
});
export const RESULT: ResultRef = { digest: digestOf('1'), bytes: 10, kind: 'result', isError: false };
export const OTHER_RESULT: ResultRef = { ...RESULT, digest: digestOf('2') };
export const ERROR_RESULT: ResultRef = { ...RESULT, digest: digestOf('3'), kind: 'error', isError: true };

export interface World {
  readonly context: ToolOperationContext;
  readonly now: number;
  readonly remembered: ReadonlyMap<string, Claims>;
}
export type Builder = (world: World) => OperationEvent;
/** Whose claims a fact carries: those of the record as it stands, remembered ones, or changed ones. */
export type Under = string | Partial<Claims>;

type Fields<T extends OperationEvent['type']> = Omit<
  Extract<OperationEvent, { type: T }>,
  'type' | 'at' | 'random' | 'claims'
>;

function claimsUnder(world: World, under: Under): Claims {
  if (typeof under !== 'string') return { ...claimsOf(world.context), ...under };
  const claims = world.remembered.get(under);
  if (!claims) throw new Error(`nothing is remembered as ${under}`);
  return claims;
}
const fact =
  <T extends OperationEvent['type']>(type: T, fields: Fields<T>, under: Under = {}): Builder =>
  (world) =>
    ({ type, at: world.now, random: 0, claims: claimsUnder(world, under), ...fields }) as unknown as OperationEvent;
const command =
  <T extends OperationEvent['type']>(type: T, fields: Fields<T>): Builder =>
  (world) =>
    ({ type, at: world.now, random: 0, ...fields }) as unknown as OperationEvent;

const because = { reason: 'for a test' };
type Task = Partial<SeenTask>;
/** Every event, by the name of its type, with the usual answer as default. */
export const say = {
  begin: (creationAllowed = true, under?: Under) =>
    fact('submit.begin', { creationAllowed, sender: 'sender-1' }, under),
  ended: (under?: Under) =>
    fact('submit.begin', { creationAllowed: true, adapterEnded: true, sender: 'sender-1' }, under),
  requeue: (creationAllowed = true, under?: Under) => fact('submit.requeue', { creationAllowed }, under),
  acknowledged: (task: Task = {}, under?: Under) => fact('submit.acknowledged', { task: taskOf(task) }, under),
  outcome: (result = RESULT, under?: Under) => fact('submit.outcome', { result }, under),
  notSent: (under?: Under) => fact('submit.notSent', because, under),
  rejected: (under?: Under) => fact('submit.rejected', because, under),
  connectionLost: (under?: Under) => fact('submit.connectionLost', because, under),
  senderLost: (under?: Under) => fact('sender.lost', {}, under),
  found: (task: Task = {}, under?: Under) => fact('lookup.found', { task: taskOf(task) }, under),
  neverCreated: (closedThroughAttempt: number, under?: Under) =>
    fact('lookup.neverCreated', { closedThroughAttempt }, under),
  receipt: (task: Task, result: ResultRef | null, under?: Under) =>
    fact('lookup.expiredWithReceipt', { task: taskOf(task), result }, under),
  noLookup: (under?: Under) => fact('lookup.unavailable', because, under),
  lookupFailed: (under?: Under) => fact('lookup.failed', because, under),
  status: (status: SeenTask['status'], under?: Under, task: Task = {}, result: ResultRef | null = null) =>
    fact('poll.status', { task: taskOf({ status, ...task }), result }, under),
  pollFailed: (under?: Under, retryAfterMs?: number) =>
    fact('poll.failed', { ...because, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, under),
  notFound: (sessionChanged = false, under?: Under) => fact('poll.notFound', { ...because, sessionChanged }, under),
  fetched: (result = RESULT, under?: Under) => fact('result.fetched', { result }, under),
  fetchFailed: (under?: Under) => fact('result.failed', because, under),
  resultNotFound: (sessionChanged = false, under?: Under) =>
    fact('result.notFound', { ...because, sessionChanged }, under),
  question: (schema = 'e', question = 'f', under?: Under, keys: readonly string[] = []) =>
    fact('input.requested', { schemaDigest: digestOf(schema), questionDigest: digestOf(question), keys }, under),
  asked: (schema = 'e', question = 'f', under?: Under) =>
    fact(
      'submit.inputRequired',
      { schemaDigest: digestOf(schema), questionDigest: digestOf(question), keys: [KEY] },
      under,
    ),
  channelClosed: (under?: Under, result: ResultRef | null = null) =>
    fact('input.channelClosed', { ...because, result }, under),
  sendInput: (under?: Under) => fact('input.send', { sender: 'sender-1' }, under),
  delivered: (under?: Under) => fact('input.delivered', {}, under),
  notDelivered: (under?: Under) => fact('input.notDelivered', because, under),
  deadlinePassed: (under?: Under) => fact('input.deadlinePassed', {}, under),
  reply: (round: number, schema = 'e', answer = 'd') =>
    command('input.reply', { round, schemaDigest: digestOf(schema), replyDigest: digestOf(answer) }),
  cancel: (by = 'alice') => command('cancel.request', { by, reason: null }),
  confirmed: (under?: Under, task: Task = {}) =>
    fact('cancel.confirmed', { task: taskOf({ status: 'cancelled', ...task }) }, under),
  heard: (under?: Under) => fact('cancel.acknowledged', {}, under),
  cancelRefused: (under?: Under) => fact('cancel.refused', because, under),
  cancelUnsupported: (under?: Under) => fact('cancel.unsupported', because, under),
  cancelUnanswered: (under?: Under) => fact('cancel.unanswered', because, under),
  gone: (under?: Under) => fact('server.gone', because, under),
  attach: (taskId = 'task-1', foreign = false) => command('reconcile.attach', { taskId, foreign, by: 'bob' }),
  acceptByHand: (status: 'completed' | 'failed' | 'cancelled', result: ResultRef | null) =>
    command('reconcile.accept', { status, result, by: 'bob', note: 'seen in the log' }),
  declareNeverCreated: () => command('reconcile.neverCreated', { by: 'bob', note: 'seen in the log' }),
  giveUp: () => command('reconcile.giveUp', { by: 'bob', note: 'nobody knows' }),
  adopt: (executionEpoch: number) => command('epoch.adopt', { executionEpoch }),
  accept:
    (
      changes: Partial<ReturnType<typeof acceptFieldsOf>> = {},
      under: Under = {},
      verdict: { released: boolean; marks: string[] } = { released: true, marks: [] },
      auditResult: ResultRef | null = null,
    ): Builder =>
    (world) => ({
      type: 'terminal.accept',
      at: world.now,
      random: 0,
      claims: claimsUnder(world, under),
      expected: { ...acceptFieldsOf(world.context), ...changes },
      verdict,
      auditResult,
    }),
};

/** `refused`: the very same snapshot afterwards. `taken`: something was written, the state is the same. */
export type Step =
  | readonly [Builder, string]
  | { readonly remember: string }
  | { readonly wait: number }
  | { readonly check: (context: ToolOperationContext) => void };
export const remember = (name: string): Step => ({ remember: name });
export const wait = (ms: number): Step => ({ wait: ms });
export const check = (what: (context: ToolOperationContext) => void): Step => ({ check: what });

export interface Scenario {
  readonly title: string;
  readonly given?: Partial<ToolOperationContext>;
  readonly steps: readonly Step[];
}

export interface Played {
  readonly snapshot: OperationSnapshot;
  /** One line per event: what it led to. */
  readonly trace: readonly string[];
  /** What was expected, in the form of `trace`. */
  readonly expected: readonly string[];
  /** Every snapshot on the way. */
  readonly snapshots: readonly OperationSnapshot[];
}

/** Plays a scenario. `checking` false: only to compare what a changed chart does. */
export function play(scenario: Scenario, machine: OperationMachine = toolOperation, checking = true): Played {
  let snapshot = newOperation(contextOf(scenario.given), machine);
  let now = START;
  const remembered = new Map<string, Claims>();
  const trace: string[] = [];
  const expected: string[] = [];
  const snapshots = [snapshot];
  for (const step of scenario.steps) {
    if ('remember' in step) remembered.set(step.remember, claimsOf(snapshot.context));
    else if ('wait' in step) now += step.wait;
    else if ('check' in step) {
      if (checking) step.check(snapshot.context);
    } else {
      const [build, then] = step;
      now += 10;
      const event = build({ context: snapshot.context, now, remembered });
      const next = applyEvent(machine, snapshot, event);
      const state = statePath(next);
      const what = next === snapshot ? 'refused' : state === statePath(snapshot) ? 'taken' : state;
      const why =
        checking && what === 'refused' && then !== 'refused'
          ? ` (${explainRefusal(machine, snapshot, event).text})`
          : '';
      trace.push(`${event.type} -> ${what}${why}`);
      expected.push(`${event.type} -> ${then}`);
      snapshot = next;
      snapshots.push(snapshot);
    }
  }
  return { snapshot, trace, expected, snapshots };
}

// --- the ways into each state, to begin a scenario with -------------------------------------------------------------
const sending: Step[] = [[say.begin(), 'SUBMITTING.sending']];
const unknown: Step[] = [...sending, remember('send'), [say.connectionLost(), 'SUBMISSION_UNKNOWN']];
const working: Step[] = [...sending, remember('send'), [say.acknowledged(), 'WORKING.polling']];
const asking: Step[] = [
  ...working,
  [say.status('input_required'), 'WORKING.listening'],
  [say.question(), 'INPUT_REQUIRED.awaiting'],
];
const asked: Step[] = [...sending, [say.asked(), 'SUBMITTING.asked']];
const replied: Step[] = [...asking, [say.reply(1), 'INPUT_REQUIRED.replied']];
const cancelling: Step[] = [...working, [say.cancel(), 'CANCEL_REQUESTED.sending']];
const missing: Step[] = [...working, [say.notFound(), 'CLASSIFYING_NOT_FOUND']];
const completed: Step[] = [...working, [say.status('completed'), 'TERMINAL_OBSERVED.outcome']];
const retrying: Step[] = [...completed, [say.fetchFailed(), 'FETCHING_RESULT.retrying']];
const verified: Step[] = [...completed, [say.fetched(), 'FETCHING_RESULT.verified']];
const unknownId: Step[] = [...missing, [say.noLookup(), 'PARKED.watching']];
const unavailable: Step[] = [...retrying, wait(60_001), [say.fetchFailed(), 'PARKED.watching']];
const noLookup: Step[] = [...unknown, [say.noLookup(), 'PARKED.waiting']];
const searching: Step[] = [...unknown, wait(60_001), [say.lookupFailed(), 'PARKED.searching']];
const safe: Step[] = [...unknown, [say.neverCreated(1), 'NOT_FOUND_SAFE']];
const secondQueued: Step[] = [...safe, [say.requeue(), 'SUBMITTING.queued']];
const disputed: Step[] = [...working, [say.acknowledged({ taskId: 'task-2' }, 'send'), 'PARKED.disputed']];

/** One way into each leaf state, as a prefix. */
export const into = {
  queued: [] as Step[],
  sending,
  unknown,
  safe,
  secondQueued,
  working,
  listening: [...working, [say.status('input_required'), 'WORKING.listening']] as Step[],
  asking,
  asked,
  replied,
  delivering: [...replied, [say.sendInput(), 'INPUT_REQUIRED.sending']] as Step[],
  inputExpired: [...asking, wait(300_001), [say.deadlinePassed(), 'INPUT_REQUIRED.expired']] as Step[],
  cancelling,
  confirming: [...cancelling, [say.cancelUnanswered(), 'CANCEL_REQUESTED.confirming']] as Step[],
  confirmed: [...cancelling, [say.confirmed(), 'CANCEL_REQUESTED.confirmed']] as Step[],
  completed,
  cancelledSeen: [...working, [say.status('cancelled'), 'TERMINAL_OBSERVED.cancelled']] as Step[],
  retrying,
  verified,
  missing,
  unknownId,
  unavailable,
  searching,
  noLookup,
  disputed,
  notSubmitted: [[say.cancel(), 'CONCLUDING.notSubmitted']] as Step[],
  givenUp: [...noLookup, [say.giveUp(), 'CONCLUDING.givenUp']] as Step[],
  accepted: [...verified, [say.accept(), 'ACCEPTED']] as Step[],
  cancelledAccepted: [
    ...cancelling,
    [say.confirmed(), 'CANCEL_REQUESTED.confirmed'],
    [say.accept(), 'CANCELLED_ACCEPTED'],
  ] as Step[],
  notSubmittedAccepted: [
    [say.cancel(), 'CONCLUDING.notSubmitted'],
    [say.accept(), 'NOT_SUBMITTED'],
  ] as Step[],
  givenUpAccepted: [...noLookup, [say.giveUp(), 'CONCLUDING.givenUp'], [say.accept(), 'GIVEN_UP']] as Step[],
};
