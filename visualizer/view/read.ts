/** Reads one operation out of a ledger, to be shown. */
import { readTerminal } from '../../machines/actor/outcome.ts';
import type { Opened, OperationStore } from '../../machines/actor/store.ts';
import { type HistoryEntry, type OperationLedger, purgedWords } from '../../machines/index.ts';
import { openQuestion } from '../cli/views.ts';
import { operationView, type ViewOptions } from './operation-view.ts';
import type { OperationView, PurgedView } from './schema.ts';

export interface Reading extends ViewOptions {
  readonly ledger: OperationLedger;
  readonly store: Pick<OperationStore, 'find'>;
  hint(command: string, operationId: string, rest?: readonly string[]): string;
}

/** What is shown, with what it was made from. */
export interface ReadOperation {
  readonly view: OperationView;
  readonly opened: Opened;
  /** With the facts that were refused. */
  readonly history: readonly HistoryEntry[];
}

/** `null`: there is no such operation. */
export async function readOperation(reading: Reading, operationId: string): Promise<OperationView | PurgedView | null> {
  const read = await readWhole(reading, operationId);
  return read !== null && 'view' in read ? read.view : read;
}

/** `null`: there is no such operation. */
export async function readWhole(reading: Reading, operationId: string): Promise<ReadOperation | PurgedView | null> {
  const { ledger, store, hint } = reading;
  const found = await store.find(operationId);
  if (found.kind === 'none') return null;
  if (found.kind === 'purged') {
    return { schema: 'purgedView.v1', operationId, words: purgedWords(found.tombstone) };
  }
  const { opened } = found;
  const over = opened.snapshot.status === 'done';
  const [now, history, question, outcome] = await Promise.all([
    ledger.now(),
    ledger.readHistory(operationId, { refused: true }),
    openQuestion(ledger, opened),
    over ? readTerminal(ledger, operationId) : null,
  ]);
  const shadow = ledger.kind === 'shadow';
  const view = operationView(
    {
      ...{ opened, history, question, now, shadow },
      // What a shadow came to is nobody's outcome (R1).
      outcome: outcome && shadow ? { receipt: outcome.receipt, output: null } : outcome,
      hint: (command, rest) => hint(command, operationId, rest),
    },
    reading,
  );
  return { view, opened, history };
}
