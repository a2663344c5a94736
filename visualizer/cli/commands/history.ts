import type { Command } from 'commander';
import type { OperationLedger, PartitionHistory } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { type CommonOptions, collect, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { oneLine } from '../text.ts';
import { atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface HistoryOptions extends CommonOptions {
  readonly partition?: readonly string[];
  readonly all?: boolean;
}

const ACTIONS = ['status', 'acknowledge'];

export function addHistory(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('history')
      .argument('[action]', ACTIONS.join(' or '), 'status')
      .summary('see whether the ledger has forgotten steps, and let it go on')
      .description(
        'Each partition of a ledger counts its steps. One that shows fewer than were seen has forgotten acknowledged steps (an ' +
          'asynchronous failover, an older copy that was restored), and takes nothing more until an operator has acknowledged that. ' +
          'Afterwards, what is only queued there counts as sent: it is looked up at its server, never sent again on a guess.',
      )
      .option('--partition <name>', 'acknowledge this one only, as p03; may come often', collect)
      .option('--all', 'acknowledge every partition, also where nobody saw a loss'),
  )
    .addHelpText('after', '\nExamples:\n  toolop history status\n  toolop history acknowledge')
    .action(finish<HistoryOptions>((options, output, [action = 'status']) => history(options, output, action)));
}

async function history(options: HistoryOptions, output: Output, action: string): Promise<ExitCode> {
  if (!ACTIONS.includes(action)) {
    throw usage(`there is no ${oneLine(action, 40)} of a history`, `it is ${ACTIONS.join(' or ')}`);
  }
  if (action === 'status' && (options.partition !== undefined || options.all)) {
    throw usage('--partition and --all belong to acknowledge');
  }
  if (options.partition !== undefined && options.all) throw usage('give one of --partition and --all');
  return atWork(options, output, {}, async ({ ledger, by }) =>
    action === 'status' ? status(ledger, output) : acknowledge(ledger, output, options, by),
  );
}

async function status(ledger: OperationLedger, output: Output): Promise<ExitCode> {
  const partitions = await ledger.histories();
  const regressed = partitions.filter((each) => each.regressed);
  const exitCode = regressed.length === 0 ? ExitCode.completed : ExitCode.ledger;
  output.emit({ type: 'history', exitCode, regressed: regressed.length, partitions });
  for (const each of partitions) if (each.regressed || each.acknowledged) output.print(line(each));
  output.print(
    regressed.length === 0
      ? `none of ${partitions.length} partitions shows less than was seen of it`
      : `${regressed.length} of ${partitions.length} partitions show less than was seen: nothing is written there until toolop history acknowledge`,
  );
  return exitCode;
}

async function acknowledge(
  ledger: OperationLedger,
  output: Output,
  { partition, all }: HistoryOptions,
  by: string,
): Promise<ExitCode> {
  const known = await ledger.histories();
  const names = partition ?? known.flatMap((each) => (all || each.regressed ? [each.partition] : []));
  const unknown = names.find((name) => !known.some((each) => each.partition === name));
  if (unknown !== undefined) {
    throw usage(
      `there is no partition ${oneLine(unknown, 40)}`,
      `they are ${known[0]?.partition} to ${known.at(-1)?.partition}`,
    );
  }
  const acknowledged = await ledger.acknowledgeRegress(by, names);
  output.emit({ type: 'history', exitCode: ExitCode.completed, acknowledged: names.length, partitions: acknowledged });
  for (const each of acknowledged) output.print(line(each));
  output.print(
    names.length === 0
      ? 'nothing to acknowledge: no partition shows less than was seen'
      : `${names.length} acknowledged: what is queued there is looked up before anything is sent`,
  );
  return ExitCode.completed;
}

function line({ partition, shown, seen, regressed, acknowledged }: PartitionHistory): string {
  const at = `epoch ${shown.epoch}, step ${shown.number}`;
  const lost = regressed ? `  FORGOTTEN: epoch ${seen.epoch}, step ${seen.number} was seen` : '';
  const by = acknowledged
    ? `  acknowledged by ${oneLine(acknowledged.by, 60)} at ${new Date(acknowledged.at).toISOString()}`
    : '';
  return `${partition}  ${at}${lost}${by}`;
}
