/** From what the ledger holds of one operation to what is shown of it. Pure; secrets are digests unless asked for. */
import { allowedVerbs } from '../../machines/actor/commands.ts';
import type { Opened } from '../../machines/actor/store.ts';
import type { HistoryEntry, OpenRound, TerminalOutcome, TerminalReceipt } from '../../machines/index.ts';
import type { Evidence } from '../../machines/tool-operation/context.ts';
import { eventDescriptions } from '../../machines/tool-operation/descriptions.ts';
import { owedEffect, statePath } from '../../machines/tool-operation/snapshot.ts';
import { redacted } from '../cli/redact.ts';
import { outputText, reconcileVerbs } from '../cli/views.ts';
import type { EvidenceView, OperationView, OutputView, ReceiptView, StepView } from './schema.ts';

/** More of a history is told by its two ends. */
const MAX_STEPS = 2_000;
/** More of an output is cut. */
const MAX_OUTPUT_CHARS = 256 * 1024;

export interface OperationParts {
  readonly opened: Opened;
  readonly history: readonly HistoryEntry[];
  readonly question: OpenRound | null;
  /** `null`: it is not over. A shadow has a receipt and no output (R1). */
  readonly outcome: TerminalOutcome | null;
  readonly shadow: boolean;
  readonly now: number;
  /** A command line on the same ledger. */
  readonly hint: (command: string, rest?: readonly string[]) => string;
}

export interface ViewOptions {
  /** Task and session ids as they are. */
  readonly secrets?: boolean;
  /** What the call returned. Default: yes. */
  readonly output?: boolean;
}

export function operationView(parts: OperationParts, options: ViewOptions = {}): OperationView {
  const view = unredacted(parts, options);
  return options.secrets ? view : redacted(view, parts.opened.snapshot.context);
}

function unredacted(parts: OperationParts, { secrets = false, output = true }: ViewOptions): OperationView {
  const { opened, history, question, outcome, hint } = parts;
  const { context } = opened.snapshot;
  return {
    schema: 'operationView.v1',
    redacted: !secrets,
    now: parts.now,
    operationId: context.operationId,
    namespace: context.namespace,
    shadow: parts.shadow,
    callNodeId: context.callNodeId,
    principal: context.principal,
    tool: context.tool,
    protocol: context.protocol,
    server: context.endpoint.url ?? 'stdio',
    state: statePath(opened.snapshot),
    over: opened.snapshot.status === 'done',
    owes: owedEffect(opened.snapshot),
    dueAt: opened.record.dueAt,
    revision: opened.record.revision,
    ...countersOf(opened),
    cancelSupported: context.capabilities.cancelSupported,
    cancel: context.cancel,
    parked: context.parked,
    evidence: evidenceOf(opened),
    timeline: shortened(history).map(stepOf),
    question: question && questionOf(question),
    receipt: outcome && receiptOf(outcome.receipt),
    output: output && outcome?.output ? outputOf(outcome.output) : null,
    verbs: verbsOf(opened),
    commands: {
      answer: question ? hint('answer', bindingOf(question)) : hint('answer'),
      cancel: hint('cancel'),
      reconcile: hint('reconcile'),
    },
  };
}

function countersOf({ snapshot: { context } }: Opened) {
  const { serverStatus, statusMessage, taskId, executionEpoch, attempt, cancelGeneration, pollCursor } = context;
  const { inputRound, failures, createdAt, updatedAt, waitDeadline, expiry, submissionKey, requestDigest } = context;
  return {
    ...{ serverStatus, statusMessage, taskId, executionEpoch, attempt, cancelGeneration, pollCursor, inputRound },
    ...{ failures, createdAt, updatedAt, waitDeadline, expiry, submissionKey, requestDigest },
    lookup: context.capabilities.lookup,
  };
}

function evidenceOf({ snapshot: { context } }: Opened): OperationView['evidence'] {
  const { terminal, inbox, audit } = context;
  return [
    ...(terminal ? [{ ...evidenceView(terminal.evidence), weight: 'terminal' as const }] : []),
    ...inbox.map((each) => ({ ...evidenceView(each), weight: 'inbox' as const })),
    ...audit.map((each) => ({ ...evidenceView(each), weight: 'audit' as const })),
  ].sort((a, b) => a.at - b.at);
}

/** Fields that are there with no value are left out: JSON would. */
function evidenceView({ kind, at, executionEpoch, note, taskId, status, resultDigest }: Evidence): EvidenceView {
  return {
    ...{ kind, at, executionEpoch },
    ...(note === undefined ? {} : { note }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(status === undefined ? {} : { status }),
    ...(resultDigest === undefined ? {} : { resultDigest }),
  };
}

const shortened = (history: readonly HistoryEntry[]): readonly HistoryEntry[] =>
  history.length <= MAX_STEPS ? history : [...history.slice(0, MAX_STEPS / 2), ...history.slice(-MAX_STEPS / 2)];

const DESCRIPTIONS: Readonly<Record<string, string>> = eventDescriptions;
const CREATED = 'The record was made: nothing was sent yet.';

function stepOf({ at, event, from, to, executor, note, refused }: HistoryEntry): StepView {
  const says = Object.hasOwn(DESCRIPTIONS, event) ? (DESCRIPTIONS[event] as string) : from === '' ? CREATED : '';
  return { at, event, says, from, to, executor, note: note ?? null, refused: refused ? [...refused] : null };
}

function questionOf(round: OpenRound): NonNullable<OperationView['question']> {
  const { request, deadline, possiblyRepeat, schemaDigest } = round;
  return {
    ...{ round: round.round, message: request.message, deadline, possiblyRepeat, schemaDigest },
    schema: request.schema as NonNullable<OperationView['question']>['schema'],
  };
}

const bindingOf = ({ round, schemaDigest }: OpenRound): readonly string[] => [
  ...['--round', String(round), '--schema-digest', schemaDigest],
  ...['--accept', '{"…":"…"}'],
];

function receiptOf(receipt: TerminalReceipt): ReceiptView {
  const { receiptId, outcome, status, isError, reason, requestDigest, tool, taskId, executionEpoch } = receipt;
  const { attempt, cancelGeneration, resultDigest, auditResultDigest, released, marks, evidence } = receipt;
  const { effectReconciliationRequired, createdAt, observedAt } = receipt;
  return {
    ...{ receiptId, outcome, status, isError, reason, requestDigest, toolVersion: tool.version, taskId },
    ...{ executionEpoch, attempt, cancelGeneration, resultDigest, auditResultDigest, released },
    ...{ marks: [...marks], effectReconciliationRequired, createdAt, observedAt },
    evidence: evidence && evidenceView(evidence),
  };
}

function outputOf(output: NonNullable<TerminalOutcome['output']>): OutputView {
  const text = outputText(output);
  return { kind: output.kind, text: text.slice(0, MAX_OUTPUT_CHARS), cut: text.length > MAX_OUTPUT_CHARS };
}

function verbsOf(opened: Opened): string[] {
  const { context } = opened.snapshot;
  const cancellable = allowedVerbs(opened).includes('cancel.request') && context.cancel === null;
  return [...(cancellable ? ['cancel'] : []), ...reconcileVerbs(opened)];
}
