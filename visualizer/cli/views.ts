/** What the commands show of a record and of a receipt: as plain data, and as lines. */
import { allowedVerbs } from '../../machines/actor/commands.ts';
import { openRound } from '../../machines/actor/question.ts';
import type { Opened } from '../../machines/actor/store.ts';
import type { OpenRound, OperationLedger, TerminalOutcome, TerminalReceipt } from '../../machines/index.ts';
import { owedEffect, statePath } from '../../machines/tool-operation/snapshot.ts';
import { redacted } from './redact.ts';
import { manyLines, oneLine, seconds } from './text.ts';

/** Where an operation stands, without secrets. */
export function stateView(opened: Opened) {
  const { snapshot, record } = opened;
  const { context } = snapshot;
  return redacted(
    {
      operationId: context.operationId,
      callNodeId: context.callNodeId,
      principal: context.principal,
      tool: context.tool.name,
      state: statePath(snapshot),
      serverStatus: context.serverStatus,
      statusMessage: context.statusMessage,
      elapsedMs: context.updatedAt - context.createdAt,
      revision: record.revision,
      parked: context.parked,
    },
    context,
  );
}

/** The question that is open, or `null`. */
export async function openQuestion(ledger: OperationLedger, opened: Opened): Promise<OpenRound | null> {
  if (owedEffect(opened.snapshot) !== 'holdInput') return null;
  return openRound(ledger, opened);
}

/** One line of progress: aligned, and safe whatever the server says. */
export function progressLine(opened: Opened): string {
  const view = stateView(opened);
  const { parked, state } = view;
  const { failures } = opened.snapshot.context;
  const words =
    parked && state.startsWith('PARKED')
      ? `(${parked.reason}) ${parked.note ?? ''}`
      : failures > 0
        ? `no answer from the server, asking again (${failures})`
        : (view.statusMessage ?? '');
  const columns = [seconds(view.elapsedMs).padStart(7), state.padEnd(26), (view.serverStatus ?? '-').padEnd(14)];
  return `${columns.join('  ')}  ${oneLine(words, 120)}`.trimEnd();
}

const MEANINGS: Readonly<Record<TerminalReceipt['outcome'], string>> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  not_submitted: 'not submitted: nothing was created',
  given_up: 'given up: what became of it is unknown',
};

/** The receipt, in a few lines. */
export function receiptLines(receipt: TerminalReceipt): readonly string[] {
  const took = receipt.observedAt === null ? '' : ` after ${seconds(receipt.observedAt - receipt.createdAt)}`;
  const error = receipt.isError && receipt.outcome === 'completed' ? ', and the tool reports an error' : '';
  const lines = [`${MEANINGS[receipt.outcome]}${error}${took}`, `  receipt  ${receipt.receiptId}`];
  if (receipt.reason !== null) lines.push(`  reason   ${oneLine(receipt.reason, 500)}`);
  if (receipt.resultDigest !== null) {
    lines.push(`  result   ${receipt.resultDigest} (${receipt.released ? 'released' : 'withheld by an output guard'})`);
  }
  if (receipt.marks.length > 0) lines.push(`  marks    ${receipt.marks.map((mark) => oneLine(mark, 80)).join(', ')}`);
  if (receipt.effectReconciliationRequired) {
    lines.push('  effect   the tool may have changed something outside: somebody has to look');
  }
  return lines;
}

/** What the call returned, for a human: the text of a result that is only text, else JSON. */
export function outputText(output: NonNullable<TerminalOutcome['output']>): string {
  const { value } = output;
  if (output.kind === 'result' && typeof value === 'object' && value !== null && 'content' in value) {
    const { content, structuredContent } = value as { content?: unknown; structuredContent?: unknown };
    const texts = Array.isArray(content) ? content.map(textOf) : [null];
    if (structuredContent === undefined && texts.every((text) => text !== null)) return manyLines(texts.join('\n'));
  }
  return manyLines(JSON.stringify(value, null, 2));
}

function textOf(block: unknown): string | null {
  const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
  return type === 'text' && typeof text === 'string' ? text : null;
}

const VERBS: Readonly<Record<string, string>> = {
  'reconcile.attach': 'attach',
  'reconcile.accept': 'accept',
  'reconcile.neverCreated': 'never-created',
  'reconcile.giveUp': 'give-up',
};

/** The verbs of `toolop reconcile` that this operation takes now. */
export function reconcileVerbs(opened: Opened): readonly string[] {
  return allowedVerbs(opened).flatMap((event) => VERBS[event] ?? []);
}

export const isParked = ({ record }: Opened): boolean => record.state.startsWith('PARKED');

/** The only server that knew of it was a process that is gone. */
export const nobodyToAsk = ({ snapshot }: Opened): boolean => snapshot.context.parked?.reason === 'server-gone';

/** All that is known about why an operation is where it is. */
export function evidenceOf(opened: Opened) {
  const { context } = opened.snapshot;
  const { parked, missing, terminal, cancel, audit, inbox, expiry, result, candidate } = context;
  const { submissionKey, capabilities, attempt, sentThroughAttempt, closedThroughAttempt, taskId } = context;
  return {
    ...{ parked, missing, terminal, cancel, audit, inbox, expiry, result, candidate, taskId, submissionKey },
    ...{ attempt, sentThroughAttempt, closedThroughAttempt, lookup: capabilities.lookup },
  };
}
