import type { Command } from 'commander';
import { type OpenOperations, openOperationsByEpoch, systemClock } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { Interrupts } from '../interrupts.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { atWork, type Workplace } from '../workplace.ts';
import { adopt, countsLine, openView, parkedLines, raised } from './epoch.ts';
import type { Finish } from './finish.ts';

/** Between two looks, ms. */
const LOOK_MS = 1_000;

export function addRollback(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('rollback')
      .summary('stop creating, raise the epoch, hand over what is in flight')
      .description(
        'Switches creation off, raises the execution epoch, adopts what is open, and shows what is left until nothing is in ' +
          'flight. Executors that were started since then take it over; those of before send nothing any more. Nothing is ' +
          'called again. Ctrl-C only stops looking.',
      ),
  )
    .addHelpText('after', '\nExamples:\n  toolop rollback\n  toolop rollback --json')
    .action(finish<CommonOptions>((options, output) => atWork(options, output, {}, rollback)));
}

async function rollback(place: Workplace): Promise<ExitCode> {
  const { ledger, output } = place;
  const stop = new AbortController();
  const interrupts = new Interrupts({ early: () => undefined, impatient: () => undefined });
  interrupts.listen(() => stop.abort());
  try {
    await ledger.setCreation(false);
    output.say('creation is off');
    const epoch = await raised(place);
    let shown = '';
    for (;;) {
      await adopt(place);
      const open = await openOperationsByEpoch(ledger);
      const older = [...open.byEpoch.keys()].filter((each) => each < epoch).length > 0;
      const line = `${countsLine(open)}${older ? '; some still under an older epoch' : ''}`;
      if (line !== shown) {
        output.emit({ type: 'rollback', epoch, ...openView(open) });
        output.say(line);
      }
      shown = line;
      if (open.inFlight === 0 && !older) return over(place, epoch, open);
      await systemClock.sleep(LOOK_MS, stop.signal);
      if (stop.signal.aborted) {
        output.say('stopped looking; the rollback stands. To look again: toolop epoch, or toolop rollback');
        output.emit({ type: 'rollback', exitCode: ExitCode.running, epoch, ...openView(open) });
        return ExitCode.running;
      }
    }
  } finally {
    interrupts.close();
  }
}

function over({ output }: Workplace, epoch: number, open: OpenOperations): ExitCode {
  for (const line of parkedLines(open)) output.say(line);
  if (open.queued > 0)
    output.say(`  ${open.queued} queued: toolop creation on sends them, toolop cancel ends them without a call`);
  if (open.unreadable.length > 0) output.say(`  ${open.unreadable.length} written by another version: not counted`);
  output.print('0 in flight');
  output.emit({ type: 'rollback', exitCode: ExitCode.completed, epoch, ...openView(open) });
  return ExitCode.completed;
}
