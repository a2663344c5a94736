/**
 * The independent checker: judges a recorded history by the brief (rows B, F, G) and by nothing else. It shares no code
 * with the machine; what it knows of states are their names and the arrows of B5, and the states that the design adds.
 *
 * Input is plain data, one record per call node: what the server saw and holds, what the ledger recorded, what
 * consumers were handed. Output: what must not have happened, by row.
 */
import { createHash } from 'node:crypto';

/** One thing that must not have happened. */
export interface Violation {
  /** The row of the brief that it breaks: `B5`, `G2`... */
  readonly row: string;
  /** As the caller gave it; a name in brackets where it is about servers and no single call. */
  readonly callNode: string;
  /** What was found, in one sentence. */
  readonly what: string;
}

/** A terminal receipt, as far as the brief speaks of it. */
export interface SeenReceipt {
  /** As the caller gave it. */
  readonly callNodeId: string;
  /** `completed`, `failed`, `cancelled`, `not_submitted` or `given_up`. */
  readonly outcome: string;
  /** The terminal status that was observed (B6); `null`: none was. */
  readonly status: string | null;
  /** `null`: the call never became a task, or its id was never known. */
  readonly taskId: string | null;
  /** SHA-256 of the canonical JSON of the result or error, hex; `null`: none was accepted (B11). */
  readonly resultDigest: string | null;
  /** The result goes on to who waits for it. */
  readonly released: boolean;
  /** An effect outside may have happened, and somebody has to look (B10). */
  readonly effectReconciliationRequired: boolean;
}

/** A task that the server made for the call node. */
export interface SeenTask {
  /** As the server named it. */
  readonly taskId: string;
  /** Every terminal status that the server ever had for it (one, if it is honest; none while it works). */
  readonly ended: readonly string[];
  /** Every result, or JSON-RPC error, that the server ever stored for it. */
  readonly stored: readonly unknown[];
  /** The server no longer holds it: how it ended is not known to the recording. */
  readonly forgotten?: boolean;
}

/** A committed step of the record (B5). States are paths: `SUBMITTING.sending`. */
export interface SeenStep {
  /** Empty: the operation began with this step. */
  readonly from: string;
  /** Where the record stood afterwards. */
  readonly to: string;
  /** The type of the event that led there: `cancel.request`. */
  readonly event: string;
  /** By the clock of the ledger, ms. */
  readonly at: number;
}

/** What is known of one call node: by its server, and by the ledger. */
export interface CallHistory {
  /** As the caller gave it. */
  readonly callNode: string;
  /** The tool has no effect outside, by its declaration: a cancelled call leaves nothing to look after (B10). */
  readonly effectFree: boolean;
  /** What the servers that it may have reached saw and hold. */
  readonly server: {
    /** `tools/call` requests that reached the server: the submission key of each (B4), and when, ms of the server's clock. */
    readonly calls: readonly { readonly key: string; readonly at: number }[];
    /** More than one is one too many (G2). */
    readonly tasks: readonly SeenTask[];
    /** A repeated key is answered with the operation that it made: the same call is its own look-up (AIP-155). */
    readonly repeats?: boolean;
    /** Runs of the tool for this call node, where the recording can tell them apart. */
    readonly executions: number;
    /** Outcomes that were returned at once, without a task. */
    readonly immediate: readonly unknown[];
    /** Answers that reached the server: the question that each was taken for, and the one that it was meant for. */
    readonly answers: readonly { readonly question: string; readonly meant: string }[];
    /** `tasks/cancel` requests, ms. */
    readonly cancels: readonly number[];
  };
  /** What the ledger recorded, and handed out. */
  readonly ledger: {
    /** All of them, in order. */
    readonly steps: readonly SeenStep[];
    /** Where the record stands now. */
    readonly state: string;
    /** Every receipt that anybody ever read for this call node. */
    readonly receipts: readonly SeenReceipt[];
    /** What the outbox handed to consumers: a row may come again after its lease, with the very same receipt. */
    readonly deliveries: readonly { readonly receipt: SeenReceipt; readonly output: unknown }[];
    /** Acknowledgements that the ledger took. */
    readonly acknowledged: number;
    /**
     * A failover made its partition forget acknowledged steps, and an operator let it go on. The mark that a row was consumed
     * may be among them: then the row comes again, with the same receipt.
     */
    readonly forgot?: boolean;
  };
}

/** What `check` judges: plain data, from whatever source. `recordHistory` makes it of a ledger and its servers. */
export interface History {
  /** One for each call node. */
  readonly calls: readonly CallHistory[];
  /** Servers as a whole: runs that the records of single call nodes may not show. */
  readonly servers: readonly {
    readonly name: string;
    readonly executions: number;
    /** `tools/call` requests that carry the key of no call node. */
    readonly strayCalls: number;
  }[];
  /** Was everything healed and given time? Then nothing may be under way any more, and no ready row may wait. */
  readonly settled: boolean;
  /** How far the clocks of ledger and server may differ, ms. */
  readonly clockToleranceMs: number;
}

const FINAL: Readonly<Record<string, readonly string[]>> = {
  ACCEPTED: ['completed', 'failed'],
  CANCELLED_ACCEPTED: ['cancelled'],
  NOT_SUBMITTED: ['not_submitted'],
  GIVEN_UP: ['given_up'],
};

/** B5, and the edges that the design adds to it (section 1: at once, never created, parked, classified, concluded). */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  '': ['SUBMITTING'],
  SUBMITTING: ['WORKING', 'SUBMISSION_UNKNOWN', 'TERMINAL_OBSERVED', 'CANCEL_REQUESTED', 'CONCLUDING', 'PARKED'],
  SUBMISSION_UNKNOWN: [
    ...['WORKING', 'NOT_FOUND_SAFE', 'TERMINAL_OBSERVED', 'CANCEL_REQUESTED', 'CONCLUDING', 'PARKED', 'SUBMITTING'],
  ],
  NOT_FOUND_SAFE: ['SUBMITTING', 'WORKING', 'TERMINAL_OBSERVED', 'CANCEL_REQUESTED', 'CONCLUDING', 'PARKED'],
  WORKING: ['INPUT_REQUIRED', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED', 'CLASSIFYING_NOT_FOUND', 'PARKED'],
  INPUT_REQUIRED: ['WORKING', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED', 'CLASSIFYING_NOT_FOUND', 'PARKED'],
  CANCEL_REQUESTED: ['CANCELLED_ACCEPTED', 'TERMINAL_OBSERVED', 'CLASSIFYING_NOT_FOUND', 'PARKED'],
  TERMINAL_OBSERVED: ['FETCHING_RESULT', 'CANCELLED_ACCEPTED', 'CLASSIFYING_NOT_FOUND', 'PARKED'],
  FETCHING_RESULT: ['ACCEPTED', 'CLASSIFYING_NOT_FOUND', 'PARKED'],
  CLASSIFYING_NOT_FOUND: ['WORKING', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'PARKED'],
  PARKED: [
    ...['WORKING', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'NOT_FOUND_SAFE', 'CONCLUDING'],
    'SUBMITTING',
  ],
  CONCLUDING: ['NOT_SUBMITTED', 'GIVEN_UP', 'WORKING', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED', 'PARKED'],
};

/** States that only one step leads into. */
const ONLY_FROM: Readonly<Record<string, readonly string[]>> = {
  // What may have been sent is queued again only when it is proven that it created nothing.
  'SUBMITTING.queued': ['', 'SUBMITTING.queued', 'SUBMITTING.sending', 'SUBMITTING.asked', 'NOT_FOUND_SAFE'],
  'SUBMITTING.sending': ['SUBMITTING.queued', 'SUBMITTING.sending'],
  'INPUT_REQUIRED.sending': ['INPUT_REQUIRED.replied', 'INPUT_REQUIRED.sending'],
  ACCEPTED: ['FETCHING_RESULT.verified'],
  CANCELLED_ACCEPTED: ['CANCEL_REQUESTED.confirmed', 'TERMINAL_OBSERVED.cancelled'],
  NOT_SUBMITTED: ['CONCLUDING.notSubmitted'],
  GIVEN_UP: ['CONCLUDING.givenUp'],
};

/** All that must not have happened. Empty: the history keeps the brief. */
export function check(history: History): readonly Violation[] {
  const violations = history.calls.flatMap((call) =>
    [...rules(call, history)].map(([row, what]) => ({ row, callNode: call.callNode, what })),
  );
  const runs = history.servers.reduce((sum, { executions }) => sum + executions, 0);
  const asked = history.calls.filter(({ server }) => server.calls.length > 0).length;
  if (runs > asked) violations.push({ row: 'G2', callNode: '(servers)', what: `${runs} runs for ${asked} call nodes` });
  for (const { name, strayCalls } of history.servers)
    if (strayCalls > 0)
      violations.push({ row: 'B4', callNode: `(${name})`, what: `${strayCalls} tools/call of no recorded call node` });
  return violations;
}

type Found = readonly [row: string, what: string];

function* rules(call: CallHistory, history: History): Generator<Found> {
  yield* steps(call);
  yield* submissions(call, history.clockToleranceMs);
  yield* inputs(call);
  yield* cancels(call, history.clockToleranceMs);
  yield* receipts(call);
  yield* outbox(call, history.settled);
  if (history.settled && !(call.ledger.state in FINAL) && stateOf(call.ledger.state) !== 'PARKED')
    yield ['G1', `neither terminal nor parked, but ${call.ledger.state}`];
}

function* steps({ ledger }: CallHistory): Generator<Found> {
  let state = '';
  for (const { from, to, event } of ledger.steps) {
    if (from !== state)
      yield ['B5', `a step from ${from || 'nothing'}, although the record was in ${state || 'nothing'}`];
    if (from in FINAL) yield ['B5', `${event} led on from the final ${from} to ${to}`];
    const inside = stateOf(from) === stateOf(to) && from !== '';
    const sources = ONLY_FROM[to];
    const drawn = (inside || ARROWS[stateOf(from)]?.includes(stateOf(to))) && (!sources || sources.includes(from));
    if (!drawn && !(from in FINAL)) yield ['B5', `${event} led from ${from || 'nothing'} to ${to}: no such arrow`];
    state = to;
  }
  if (ledger.steps.length > 0 && state !== ledger.state)
    yield ['B5', `the last step led to ${state}, the record says ${ledger.state}`];
}

function* submissions({ server, ledger }: CallHistory, toleranceMs: number): Generator<Found> {
  if (new Set(server.calls.map(({ key }) => key)).size > 1) yield ['B4', 'another submission key was minted'];
  const operations = Math.max(server.tasks.length, server.executions);
  if (operations > 1) yield ['G2', `${operations} operations for one call node`];
  // Commit before effect: each request on the wire had its own committed permission, before it.
  const permissions = ledger.steps.filter(({ from, to }) => to === 'SUBMITTING.sending' && from !== to);
  const sent = [...server.calls].sort((a, b) => a.at - b.at);
  // Where the same call is the look-up, one that may have been sent may be sent again.
  const doubt = ledger.steps.find(({ to }) => to === 'SUBMISSION_UNKNOWN' || to === 'PARKED.searching');
  for (const [i, { at }] of sent.entries()) {
    const permission = permissions[i] ?? (server.repeats ? doubt : undefined);
    if (!permission || permission.at > at + toleranceMs)
      yield ['B4', `tools/call number ${i + 1} reached the server without a committed SUBMITTING.sending of its own`];
  }
}

function* inputs({ server, ledger }: CallHistory): Generator<Found> {
  for (const asked of new Set(server.answers.map(({ question }) => question))) {
    const times = server.answers.filter(({ question }) => question === asked).length;
    if (times > 1) yield ['B7', `"${asked}" was answered ${times} times`];
  }
  for (const { question, meant } of server.answers)
    if (meant !== question) yield ['B7', `"${question}" was given the answer to "${meant}"`];
  // A round may go to the wire again only after its writer knew that it was not written.
  let writable = 0;
  for (const { event, from, to } of ledger.steps) {
    if (event === 'input.requested' && stateOf(to) === 'INPUT_REQUIRED' && to !== 'INPUT_REQUIRED.replied')
      writable = 1;
    if (event === 'input.notDelivered') writable = 1;
    if (to !== 'INPUT_REQUIRED.sending' || from === to) continue;
    if (writable < 1) yield ['B7', 'an input round was taken to the wire twice'];
    writable = 0;
  }
}

function* cancels({ server, ledger }: CallHistory, toleranceMs: number): Generator<Found> {
  const first = Math.min(...server.cancels);
  const requested = ledger.steps.find(({ to }) => stateOf(to) === 'CANCEL_REQUESTED');
  if (server.cancels.length > 0 && (!requested || requested.at > first + toleranceMs))
    yield ['B9', 'tasks/cancel reached the server before CANCEL_REQUESTED was committed'];
  if (requested && !ledger.steps.some(({ event }) => event === 'cancel.request'))
    yield ['B14', 'CANCEL_REQUESTED, although nobody asked for a cancel'];
}

function* receipts({ server, ledger, effectFree, callNode }: CallHistory): Generator<Found> {
  const distinct = new Set([...ledger.receipts, ...ledger.deliveries.map(({ receipt }) => receipt)].map(canonical));
  if (distinct.size > 1) yield ['B12', `${distinct.size} different receipts for one call node`];
  if (ledger.steps.filter(({ to }) => to in FINAL).length > 1) yield ['B12', 'more than one acceptance'];
  const receipt = ledger.receipts[0];
  const outcomes = FINAL[ledger.state];
  if (outcomes && !receipt) yield ['B12', `${ledger.state} without a receipt`];
  if (!receipt) return;
  if (!outcomes) yield ['B12', `a receipt, although the record is in ${ledger.state}`];
  else if (!outcomes.includes(receipt.outcome)) yield ['B12', `${ledger.state} with a receipt "${receipt.outcome}"`];
  if (receipt.callNodeId !== callNode) yield ['B12', `the receipt of another call node (${receipt.callNodeId})`];

  const task = server.tasks.find(({ taskId }) => taskId === receipt.taskId);
  const advances = receipt.outcome === 'completed' || receipt.outcome === 'failed';
  const byHand = ledger.steps.some(({ event }) => event === 'reconcile.accept');
  if (advances) {
    if (receipt.resultDigest === null) yield ['B11', `"${receipt.outcome}" without its result`];
    const held = task?.stored ?? (receipt.taskId === null ? server.immediate : []);
    const known = task?.forgotten !== true && !byHand;
    if (known && receipt.resultDigest !== null && !held.some((value) => digest(value) === receipt.resultDigest))
      yield ['B11', `"${receipt.outcome}" with a result that the server never had`];
    const won = ledger.steps.find(({ to }) => to === 'CANCEL_REQUESTED.confirmed');
    if (won || task?.ended[0] === 'cancelled')
      yield ['B10', `the cancel won, and the receipt says "${receipt.outcome}"`];
  } else if (receipt.resultDigest !== null || receipt.released) {
    yield ['B12', `a success payload in the receipt "${receipt.outcome}"`];
  }
  if ((advances || receipt.outcome === 'cancelled') && !byHand) {
    if (receipt.status !== receipt.outcome) yield ['B6', `status "${receipt.status}" for "${receipt.outcome}"`];
    if (receipt.taskId !== null && !task) yield ['B12', 'a receipt for a task that the server never made'];
    if (task && task.forgotten !== true && !task.ended.includes(receipt.outcome))
      yield ['B12', `"${receipt.outcome}", but on the server the task is "${task.ended.join(', ') || 'working'}"`];
  }
  if (receipt.outcome === 'not_submitted' && (server.tasks.length > 0 || server.executions > 0))
    yield ['B13', '"not submitted" although the server has a task'];
  if (receipt.outcome === 'cancelled' && server.calls.length > 0 && receipt.effectReconciliationRequired === effectFree)
    yield ['B10', `a possible effect must ${effectFree ? 'not ' : ''}be recorded for a cancelled call`];
}

function* outbox({ ledger }: CallHistory, settled: boolean): Generator<Found> {
  const [receipt] = ledger.receipts;
  if (!receipt && ledger.deliveries.length > 0) yield ['G6', 'a ready row was handed out and there is no receipt'];
  if (settled && receipt && ledger.deliveries.length === 0) yield ['G6', 'a receipt that no ready row announced'];
  if (ledger.acknowledged > 1 && ledger.forgot !== true)
    yield ['G6', `the ready row was consumed ${ledger.acknowledged} times`];
  for (const { receipt: handed, output } of ledger.deliveries) {
    const given = output !== null && output !== undefined;
    if (given && (!handed.released || digest(output) !== handed.resultDigest))
      yield ['B12', `what was handed out for "${handed.outcome}" is not the accepted result`];
    if (!given && handed.released) yield ['B11', `"${handed.outcome}" advanced without its result`];
  }
}

const stateOf = (path: string): string => path.split('.')[0] ?? '';

/** RFC 8785: keys sorted by code unit, numbers and strings as JavaScript writes them. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

const digest = (value: unknown): string => createHash('sha256').update(canonical(value), 'utf8').digest('hex');
