/**
 * `toolOperation.v1` (brief B3): everything the ledger knows of one call node, as plain JSON.
 * All times are milliseconds of ledger time. Nothing in here is a credential; `taskId` and
 * `session.sessionId` are to be treated as secrets in logs.
 */
import { z } from 'zod';

export const RECORD_SCHEMA = 'toolOperation.v1';
/** Raised whenever the order of states, events or effects changes in a way that a stored record can feel. */
export const MACHINE_VERSION = 3;

/**
 * The newest form of a record that this release reads: 1 is what release 0.1.0 reads, 2 says in `minReaderVersion` what it needs.
 * Raised with whatever a reader of the form before would refuse or misread. Readers come first, writers after: see `writes` of
 * the ledger's layout.
 */
export const READER_VERSION = 2;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const id = z.string().min(1).max(512);
const text = z.string().max(4_000);
const count = z.number().int().nonnegative();
const time = z.number().nonnegative();
/** Digest of a key that a server gave to a question (the key itself may be long). */
const key = z.string().regex(/^[0-9a-f]{16}$/);

/** MCP's own words, verbatim (B6). AIP-151's `done` is written by its adapter as one of these. */
export const ServerStatus = z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']);
export type ServerStatus = z.infer<typeof ServerStatus>;
export const TerminalStatus = z.enum(['completed', 'failed', 'cancelled']);
export type TerminalStatus = z.infer<typeof TerminalStatus>;

/** Why an operation waits for reconciliation. A closed list: each has a test that shows why nothing better was possible. */
export const ParkReason = z.enum([
  'no-lookup', // the reply to the submission was lost and the server offers no look-up by key
  'lookup-budget', // the look-up never answered inside its budget
  'key-expired', // the submission key's retention window is over: absence proves nothing
  'late-submission-possible', // cancelled, but an earlier send could still create the operation
  'unknown-id', // the server does not know the id (any more) and nothing proves why
  'expired', // the same, after the server's own expiry
  'session-lost', // the same, under another session
  'server-gone', // the only process that could be asked is gone (stdio)
  'wait-budget', // waited as long as the caller allowed
  'cancel-unconfirmed', // a cancel was asked and never confirmed inside its budget
  'input-deadline', // nobody answered the input round in time
  'result-unavailable', // terminal by status, but its result could not be had or verified
  'contradiction', // the server contradicted itself, or an id belongs to something else
]);
/** What the schema of this name gives. */
export type ParkReason = z.infer<typeof ParkReason>;

/** How this call may be served, as negotiated (B1) and pinned at submission. */
export const Capabilities = z.strictObject({
  cancelSupported: z.boolean(),
  /** `terminal`: a successful cancel answer is the outcome. `cooperative`: only a later status is (B9). */
  cancelEvidence: z.enum(['terminal', 'cooperative']),
  /**
   * `none`: a lost submission can only be reconciled. `closing`: a look-up fences the attempts before it. `repeat`: the same
   * call under the same key is the look-up (AIP-155), and creates where nothing was.
   */
  lookup: z.enum(['none', 'closing', 'repeat']),
  /** The server answers a repeated submission key with the operation it already made. */
  deduplicates: z.boolean(),
  /** Input of this revision arrives on a channel of one connection (`channel`), or in the status (`status`), or never. */
  input: z.enum(['none', 'channel', 'status']),
  /** An answer may be sent again after a crash without harm. */
  inputRedelivery: z.boolean(),
  /** The operator has confirmed that the tool has no effects outside (B10). A server's hint is not enough. */
  effectFree: z.boolean(),
});
/** What the schema of this name gives. */
export type Capabilities = z.infer<typeof Capabilities>;

/** Bounds of the waiting (B8), all in ms. */
export const Policy = z.strictObject({
  pollIntervalMs: time,
  minPollIntervalMs: time,
  maxPollIntervalMs: time,
  /** Share of the interval that is added at random, 0..1. */
  jitter: z.number().min(0).max(1),
  maxBackoffMs: time,
  waitBudgetMs: time,
  lookupBudgetMs: time,
  fetchBudgetMs: time,
  cancelBudgetMs: time,
  inputDeadlineMs: time,
  parkedIntervalMs: time,
});
/** What the schema of this name gives. It has no defaults: those are `DEFAULT_POLICY`. */
export type Policy = z.infer<typeof Policy>;

/** Why the receipt can be believed: which answer of which request. */
export const Evidence = z.strictObject({
  kind: z.string().max(64),
  at: time,
  executionEpoch: count,
  note: text.optional(),
  taskId: id.optional(),
  status: ServerStatus.optional(),
  resultDigest: digest.optional(),
});
export type Evidence = z.infer<typeof Evidence>;

/** Where a result stands in the ledger: beside the record, under its digest. */
export const ResultRef = z.strictObject({
  digest,
  bytes: count,
  /** `result`: what the call returned. `error`: the JSON-RPC error it ended with. */
  kind: z.enum(['result', 'error']),
  isError: z.boolean(),
});
export type ResultRef = z.infer<typeof ResultRef>;

export const InputRound = z.strictObject({
  /** Digest of the requested schema (B7). */
  schemaDigest: digest,
  /** Digest of the stored request payload. */
  requestDigest: digest,
  openedAt: time,
  deadline: time,
  /** The same question may have been answered before: the channel broke after an answer was on its way. */
  possiblyRepeat: z.boolean(),
  replyDigest: digest.nullable(),
  repliedAt: time.nullable(),
  /** The server's keys of the questions in this round, as digests; empty where questions have no identity. */
  keys: z.array(key).max(64).default([]),
  /** How far the answer got: nowhere, into the ledger, perhaps onto the wire, certainly onto the wire. */
  delivery: z.enum(['none', 'recorded', 'attempted', 'delivered']),
});
export type InputRound = z.infer<typeof InputRound>;

/** The record of one call node (B3), strict: what a stored record says is checked by it before it is a snapshot. */
export const ToolOperationContext = z.strictObject({
  schema: z.literal(RECORD_SCHEMA),
  operationId: id,
  namespace: id,
  principal: id,
  callNodeId: id,
  requestDigest: digest,
  tool: z.strictObject({ name: id, version: digest }),
  protocol: id,
  endpoint: z.strictObject({ id, kind: z.enum(['stdio', 'http']), url: z.string().max(2_000).nullable() }),
  submissionKey: digest,
  keyValidUntil: time.nullable(),
  capabilities: Capabilities,
  policy: Policy,
  /** What a new connection needs to reach the task again. No credentials. */
  session: z.strictObject({ sessionId: z.string().max(512).nullable(), protocolVersion: z.string().max(32) }),

  executionEpoch: count,
  attempt: count.min(1),
  /** Every attempt up to this one can no longer create anything: the look-up closed the key for it. */
  closedThroughAttempt: count,
  /** The highest attempt that may have reached the wire. */
  sentThroughAttempt: count,
  /** Who took the last call, or the last answer, to the wire: nobody else may write it. */
  sender: id.nullable(),
  cancelGeneration: count,
  pollCursor: count,
  inputRound: count,

  taskId: id.nullable(),
  taskCreatedAt: z.string().max(64).nullable(),
  serverStatus: ServerStatus.nullable(),
  statusMessage: text.nullable(),
  pollIntervalMs: time.nullable(),
  /** The server's own expiry, as an interval of ledger time (never declares anything by itself: B13). */
  expiry: z.strictObject({ earliest: time, latest: time }).nullable(),

  createdAt: time,
  updatedAt: time,
  /** When the owed effect is due. `null`: nothing is owed. */
  dueAt: time.nullable(),
  failures: count,
  waitDeadline: time,
  stepDeadline: time.nullable(),
  pausedAt: time.nullable(),

  cancel: z
    .strictObject({ requestedAt: time, requestedBy: id, reason: text.nullable(), heard: z.boolean() })
    .nullable(),
  input: InputRound.nullable(),
  /** Questions of this task that were answered: the same key is the same question, and is not asked again. */
  answeredKeys: z.array(key).max(256).default([]),
  terminal: z.strictObject({ status: TerminalStatus, observedAt: time, evidence: Evidence }).nullable(),
  result: ResultRef.nullable(),
  /**
   * A verified result that came before (or without) a terminal status: no evidence of the end (B11), but what the end may
   * be accepted with. The first one stays. Records of machine 1 have none.
   */
  candidate: ResultRef.nullable().default(null),
  /** A result of a cancelled call: kept for the audit, never a success payload (B12). */
  auditResult: ResultRef.nullable(),
  outputVerdict: z.strictObject({ released: z.boolean(), marks: z.array(text).max(32) }).nullable(),
  notSubmitted: z.strictObject({ reason: text, outcome: z.enum(['cancelled', 'refused']) }).nullable(),
  /** The server did not know the id: seen when, and under another session than the one that made the task? */
  missing: z.strictObject({ at: time, sessionChanged: z.boolean() }).nullable(),
  parked: z.strictObject({ reason: ParkReason, at: time, note: text.nullable() }).nullable(),
  givenUp: z.strictObject({ by: id, note: text, at: time }).nullable(),
  effectReconciliationRequired: z.boolean(),
  /** Evidence brought by an executor of an older epoch: to be verified by a request of the current one. */
  inbox: z.array(Evidence).max(16),
  /** What was seen and not acted on (late completions, contradictions): for the human and the audit. */
  audit: z.array(Evidence).max(32),
});
/** What the schema of this name gives: all that the chart decides by, beside the event. */
export type ToolOperationContext = z.infer<typeof ToolOperationContext>;
