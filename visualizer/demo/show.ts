/** What the demo prints: the states as they pass, and the receipts. */
import type { Opened } from '../../machines/actor/store.ts';
import type { TerminalReceipt } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';

export interface PassingState {
  readonly elapsedMs: number;
  readonly state: string;
  readonly serverStatus: string | null;
  readonly statusMessage: string | null;
}

export function stateOf({ snapshot }: Opened): PassingState {
  const { createdAt, updatedAt, serverStatus, statusMessage } = snapshot.context;
  return { elapsedMs: updatedAt - createdAt, state: statePath(snapshot), serverStatus, statusMessage };
}

export const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Prints each state once, however many polls found it unchanged. */
export function statePrinter(): (state: PassingState) => void {
  let last = '';
  return ({ elapsedMs, state, serverStatus, statusMessage }) => {
    const line = `${state.padEnd(26)}  ${(serverStatus ?? '-').padEnd(14)}  ${statusMessage ?? ''}`.trimEnd();
    if (line !== last) say(`  ${`${(elapsedMs / 1000).toFixed(1)}s`.padStart(6)}  ${line}`);
    last = line;
  };
}

export interface Finished {
  readonly title: string;
  readonly receipt: TerminalReceipt;
  readonly state: string;
  /** `tools/call` requests that the server saw. */
  readonly calls: number;
}

/** One row per receipt, columns as wide as they must be. */
export function receiptTable(finished: readonly Finished[]): readonly string[] {
  const rows = [
    ['call', 'outcome', 'status', 'state', 'tools/call seen', 'effect', 'result', 'receipt'],
    ...finished.map(({ title, receipt, state, calls }) => [
      title,
      receipt.outcome,
      receipt.status ?? '-',
      state,
      String(calls),
      receipt.effectReconciliationRequired ? 'to be reconciled' : 'none open',
      receipt.resultDigest?.slice(0, 8) ?? '-',
      receipt.receiptId.slice(0, 8),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
