/**
 * What is shown of one operation, as one plain JSON value: what the page draws, and what an exported file holds. Knows no
 * ledger and no HTTP. Words of servers and users are text in it, with whatever they hold.
 */
import { z } from 'zod';

const time = z.number();
const text = z.string();

export const EvidenceView = z.strictObject({
  kind: text,
  at: time,
  executionEpoch: z.number(),
  note: text.optional(),
  taskId: text.optional(),
  status: text.optional(),
  resultDigest: text.optional(),
});
export type EvidenceView = z.infer<typeof EvidenceView>;

/** One line of the history. */
export const StepView = z.strictObject({
  at: time,
  event: text,
  /** What the event says, in words; empty for one that this version does not know. */
  says: text,
  /** Paths of states, as `WORKING.polling`; `from` is empty for the first step. */
  from: text,
  to: text,
  executor: text,
  note: text.nullable(),
  /** The guards that said no: nothing was changed by this one. */
  refused: z.array(text).nullable(),
});
export type StepView = z.infer<typeof StepView>;

export const QuestionView = z.strictObject({
  round: z.number(),
  message: text,
  schema: z.json(),
  schemaDigest: text,
  deadline: time,
  possiblyRepeat: z.boolean(),
});
export type QuestionView = z.infer<typeof QuestionView>;

export const ReceiptView = z.strictObject({
  receiptId: text,
  outcome: z.enum(['completed', 'failed', 'cancelled', 'not_submitted', 'given_up']),
  status: text.nullable(),
  isError: z.boolean(),
  reason: text.nullable(),
  requestDigest: text,
  toolVersion: text,
  taskId: text.nullable(),
  executionEpoch: z.number(),
  attempt: z.number(),
  cancelGeneration: z.number(),
  resultDigest: text.nullable(),
  auditResultDigest: text.nullable(),
  released: z.boolean(),
  marks: z.array(text),
  effectReconciliationRequired: z.boolean(),
  evidence: EvidenceView.nullable(),
  createdAt: time,
  observedAt: time.nullable(),
});
export type ReceiptView = z.infer<typeof ReceiptView>;

/** What the call returned, where it was released. `cut`: it is longer than what is shown. */
export const OutputView = z.strictObject({
  kind: z.enum(['result', 'error']),
  text,
  cut: z.boolean(),
});
export type OutputView = z.infer<typeof OutputView>;

export const OperationView = z.strictObject({
  schema: z.literal('operationView.v1'),
  /** Task and session ids are digests in it. */
  redacted: z.boolean(),
  /** When this was read, ms of the ledger. */
  now: time,
  operationId: text,
  namespace: text,
  /** Made to be compared only (R1). */
  shadow: z.boolean(),
  callNodeId: text,
  principal: text,
  tool: z.strictObject({ name: text, version: text }),
  protocol: text,
  server: text,
  state: text,
  over: z.boolean(),
  /** What the state owes the world, and when it is due. */
  owes: text.nullable(),
  dueAt: time.nullable(),
  revision: text,
  serverStatus: text.nullable(),
  statusMessage: text.nullable(),
  taskId: text.nullable(),
  executionEpoch: z.number(),
  attempt: z.number(),
  cancelGeneration: z.number(),
  pollCursor: z.number(),
  inputRound: z.number(),
  failures: z.number(),
  createdAt: time,
  updatedAt: time,
  waitDeadline: time,
  expiry: z.strictObject({ earliest: time, latest: time }).nullable(),
  submissionKey: text,
  requestDigest: text,
  lookup: text,
  cancelSupported: z.boolean(),
  cancel: z
    .strictObject({ requestedAt: time, requestedBy: text, reason: text.nullable(), heard: z.boolean() })
    .nullable(),
  parked: z.strictObject({ reason: text, at: time, note: text.nullable() }).nullable(),
  /** What was seen and what it came to, with the claim it makes. */
  evidence: z.array(EvidenceView.extend({ weight: z.enum(['terminal', 'inbox', 'audit']) })),
  timeline: z.array(StepView),
  question: QuestionView.nullable(),
  receipt: ReceiptView.nullable(),
  output: OutputView.nullable(),
  /** Commands that the state takes now, as `cancel`, `attach`, `accept`, `never-created`, `give-up`. */
  verbs: z.array(text),
  /** The same on a command line, for where nothing may be written. */
  commands: z.strictObject({ answer: text, cancel: text, reconcile: text }),
});
export type OperationView = z.infer<typeof OperationView>;

/** What is left of an operation whose record was purged. */
export const PurgedView = z.strictObject({ schema: z.literal('purgedView.v1'), operationId: text, words: text });
export type PurgedView = z.infer<typeof PurgedView>;

/** One operation in the list. */
export const RowView = z.strictObject({
  operationId: text,
  state: text,
  tool: text,
  callNodeId: text,
  serverStatus: text.nullable(),
  createdAt: time,
  updatedAt: time,
  dueAt: time.nullable(),
  /** Why it waits for a human. */
  parked: text.nullable(),
  /** It cannot be opened by this version, and why. */
  problem: text.nullable(),
});
export type RowView = z.infer<typeof RowView>;

/** A part of the list, with what it is a part of. */
export const ListView = z.strictObject({
  now: time,
  rows: z.array(RowView),
  /** How many fit the filter. */
  total: z.number(),
  offset: z.number(),
  /** By the brief's state, of everything that was read. */
  counts: z.record(text, z.number()),
  /** How many were read. */
  operations: z.number(),
  /** How many the ledger held when reading all of it began; `null`: not known yet. */
  held: z.number().nullable(),
  /** `filling`: the ledger is still being read, and the counts are of what was read so far. `capped`: there is more than is kept. */
  progress: z.enum(['filling', 'complete', 'capped']),
  /** Why the ledger does not answer now. */
  trouble: text.nullable(),
});
export type ListView = z.infer<typeof ListView>;

/** What the page is told of itself. */
export const PageSetup = z.strictObject({
  ledger: text,
  namespace: text,
  actions: z.boolean(),
  /** For POST, where actions are allowed. */
  token: text.nullable(),
  states: z.array(text),
  /** An exported file: one operation, and nothing is asked for. */
  fixed: OperationView.nullable(),
});
export type PageSetup = z.infer<typeof PageSetup>;

/** What became of a command. */
export const ActionAnswer = z.strictObject({
  kind: z.enum(['taken', 'already', 'refused']),
  words: text,
  guards: z.array(text),
});
export type ActionAnswer = z.infer<typeof ActionAnswer>;
