import type { Command } from 'commander';
import { type AdapterState, type OperationLedger, openByAdapter, switchAdapter } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { oneLine, shortId } from '../text.ts';
import { adapterIds, atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface AdaptersOptions extends CommonOptions {
  readonly drain?: string;
  readonly disable?: string;
  readonly activate?: string;
}

export function addAdapters(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('adapters')
      .summary('show or switch the protocol adapters of the ledger')
      .description(
        'The adapters and how many operations need each. A switch is for every executor of this ledger, and is obeyed at once. ' +
          'Draining: nothing new is submitted; get, cancel, result and look-up go on. ' +
          'Disabled: the same, once no operation needs it; refused, with the list, while one does.',
      )
      .option('--drain <adapter>', 'submit nothing new under it')
      .option('--disable <adapter>', 'drain it, and mark it as needed by nobody')
      .option('--activate <adapter>', 'take a switch back'),
  )
    .addHelpText('after', '\nExamples:\n  toolop adapters\n  toolop adapters --drain mcp-2025-11-25')
    .action(finish<AdaptersOptions>((options, output) => adapters(options, output)));
}

async function adapters(options: AdaptersOptions, output: Output): Promise<ExitCode> {
  const wanted = wish(options);
  return atWork(options, output, {}, async ({ ledger }) => {
    if (wanted !== null) return change(ledger, output, ...wanted);
    const rows = await overview(ledger);
    output.emit({ type: 'adapters', exitCode: ExitCode.completed, adapters: rows });
    for (const { adapter, state, open } of rows) {
      output.print(`${oneLine(adapter, 40).padEnd(18)}  ${state.padEnd(20)}  ${open} open`);
    }
    return ExitCode.completed;
  });
}

function wish({ drain, disable, activate }: AdaptersOptions): readonly [adapter: string, state: AdapterState] | null {
  const wishes = [
    ...(drain === undefined ? [] : [[drain, 'draining'] as const]),
    ...(disable === undefined ? [] : [[disable, 'disabled'] as const]),
    ...(activate === undefined ? [] : [[activate, 'active'] as const]),
  ];
  if (wishes.length > 1) throw usage('give one of --drain, --disable and --activate');
  const wanted = wishes[0] ?? null;
  if (wanted !== null && !adapterIds.includes(wanted[0])) {
    throw usage(`there is no adapter ${oneLine(wanted[0], 40)}`, `the adapters are ${adapterIds.join(', ')}`);
  }
  return wanted;
}

async function change(
  ledger: OperationLedger,
  output: Output,
  adapter: string,
  state: AdapterState,
): Promise<ExitCode> {
  const switched = await switchAdapter(ledger, adapter, state);
  if (switched.kind === 'switched') {
    output.emit({ type: 'adapter', exitCode: ExitCode.completed, adapter, state });
    output.say(`${adapter} is ${state}`);
    return ExitCode.completed;
  }
  const { count, needed } = switched;
  for (const { operationId, state: at } of needed) output.say(`  ${shortId(operationId)}  ${at}`);
  throw new CliFailure(
    ExitCode.notSubmitted,
    `${adapter} cannot be disabled: ${count} operation${count === 1 ? ' needs' : 's need'} it; it is draining`,
    'let them end, or reconcile what is parked; then disable it again',
    { adapter, count, needed },
  );
}

interface Overview {
  readonly adapter: string;
  readonly state: string;
  readonly open: number;
}

async function overview(ledger: OperationLedger): Promise<readonly Overview[]> {
  const switches = await ledger.adapters();
  const needed = await openByAdapter(ledger);
  const all = [...new Set([...adapterIds, ...Object.keys(switches), ...needed.keys()])];
  const rows: Overview[] = [];
  for (const adapter of all) {
    const states = [...new Set<AdapterState>(switches[adapter] ?? ['active'])];
    const open = needed.get(adapter)?.length ?? 0;
    // A change that has not reached every partition says so.
    rows.push({
      adapter,
      state: states.length === 1 ? (states[0] as string) : `${states.join('/')} (incomplete)`,
      open,
    });
  }
  return rows;
}
