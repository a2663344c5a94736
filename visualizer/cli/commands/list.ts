import type { Command } from 'commander';
import { LedgerIncompatible, type OperationSummary, operationsOf, toolOperation } from '../../../machines/index.ts';
import { publicAddress } from '../../../persistence/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { type CommonOptions, positiveCount, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { oneLine, shortId } from '../text.ts';
import { stateView } from '../views.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface ListOptions extends CommonOptions {
  readonly state?: string;
  readonly limit: number;
}

export function addList(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('list')
      .summary('show the operations of the ledger')
      .description('The operations of the ledger, those that changed last first.')
      .option('--state <name>', 'only those in this state, as WORKING or WORKING.polling')
      .option('--limit <number>', 'how many at most', positiveCount, 50),
  )
    .addHelpText('after', '\nExamples:\n  toolop list\n  toolop list --state PARKED --json')
    .action(finish<ListOptions>((options, output) => list(options, output)));
}

async function list(options: ListOptions, output: Output): Promise<ExitCode> {
  const [top = ''] = (options.state ?? '').split('.');
  if (options.state !== undefined && !(top.toUpperCase() in toolOperation.states)) {
    throw usage(`there is no state ${oneLine(top)}`, `the states are ${Object.keys(toolOperation.states).join(', ')}`);
  }
  return atWork(options, output, {}, async (place) => {
    const rows: Row[] = [];
    for await (const summary of operationsOf(place.ledger)) {
      if (fits(summary.state, options.state)) rows.push(rowOf(place, summary));
    }
    rows.sort((a, b) => b.updatedAt - a.updatedAt);
    const shown = rows.slice(0, options.limit);
    output.emit({ type: 'list', exitCode: ExitCode.completed, operations: shown, total: rows.length });
    for (const row of shown) output.print(lineOf(row));
    if (rows.length > shown.length) output.say(`${rows.length - shown.length} more: --limit ${rows.length}`);
    if (rows.length === 0) output.say(nothingFor(options));
    return ExitCode.completed;
  });
}

function nothingFor({ state, namespace, ledger }: ListOptions): string {
  const what = state === undefined ? 'no operations' : `no operation is in ${oneLine(state)}`;
  return `${what} (namespace ${JSON.stringify(namespace)} of ${publicAddress(ledger)}; others: --namespace, --ledger)`;
}

interface Row {
  readonly operationId: string;
  readonly state: string;
  readonly updatedAt: number;
  readonly tool: string;
  readonly callNodeId: string;
  readonly serverStatus: string | null;
  readonly problem: string | null;
}

function rowOf({ executor }: Workplace, summary: OperationSummary): Row {
  const { operationId, state } = summary;
  try {
    const opened = executor.env.store.open({ ...summary, scope: '', lease: null });
    const { tool, callNodeId, serverStatus } = stateView(opened);
    const { updatedAt } = opened.snapshot.context;
    return { operationId, state, updatedAt, tool, callNodeId, serverStatus, problem: null };
  } catch (error) {
    if (!(error instanceof LedgerIncompatible)) throw error;
    // One record of another version must not hide the others.
    const unknown = { updatedAt: 0, tool: '?', callNodeId: '?', serverStatus: null };
    return { operationId, state, ...unknown, problem: error.message };
  }
}

function lineOf(row: Row): string {
  const when = row.updatedAt === 0 ? '' : new Date(row.updatedAt).toISOString().slice(0, 19);
  return [
    shortId(row.operationId),
    row.state.padEnd(26),
    (row.serverStatus ?? '-').padEnd(14),
    when.padEnd(19),
    oneLine(row.tool, 40),
    oneLine(row.problem ?? row.callNodeId, 80),
  ].join('  ');
}

function fits(state: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const [have, want] = [state.toLowerCase(), wanted.toLowerCase()];
  return have === want || have.startsWith(`${want}.`);
}
