import type { Command } from 'commander';
import type { Opened } from '../../../machines/actor/store.ts';
import { ExitCode } from '../exit-codes.ts';
import { findOperation } from '../find.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { refused } from '../refused.ts';
import { shortId } from '../text.ts';
import { isParked, nobodyToAsk } from '../views.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';
import { tellTaken, waitForEffect } from './wait.ts';

interface CancelOptions extends CommonOptions {
  readonly reason?: string;
  readonly wait?: boolean;
}

export function addCancel(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('cancel')
      .summary('ask for an operation to be cancelled')
      .description(
        'Writes the request into the ledger; the process that serves the operation sends it. It may come too late: --wait tells.',
      )
      .argument('<id>', 'operation id, unique prefix of one, or call node id')
      .option('--reason <text>', 'why, for the record')
      .option('--wait', 'follow until it is over, and end with what it came to (4: cancelled)'),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolop cancel p00.3f2a9c --reason 'wrong month'
  toolop cancel report:run7:1 --wait`,
    )
    .action(finish<CancelOptions>((options, output, [id = '']) => cancel(options, output, id)));
}

function cancel(options: CancelOptions, output: Output, id: string): Promise<ExitCode> {
  return atWork(options, output, {}, async (place) => {
    const operationId = await findOperation(place, id);
    const answer = await place.executor.cancel(operationId, place.by, options.reason?.slice(0, 4_000) ?? null);
    if (answer.kind === 'missing') throw new Error('the record is gone');
    if (answer.kind === 'refused') {
      throw refused(place, operationId, answer);
    }
    const words = answer.kind === 'already' ? answer.reason : `cancel of ${shortId(operationId)} requested`;
    if (options.wait) {
      output.say(words);
      return waitForEffect(place, operationId, () => false);
    }
    tellTaken(place, answer.opened, words);
    output.say(`  ${whoSendsIt(place, answer.opened)}`);
    return ExitCode.completed;
  });
}

function whoSendsIt(place: Workplace, opened: Opened): string {
  const { operationId, endpoint } = opened.snapshot.context;
  if (isParked(opened) && nobodyToAsk(opened)) {
    return `it can be sent to nobody: its server is gone. To decide by hand: ${place.hint('reconcile', operationId)}`;
  }
  return endpoint.kind === 'http'
    ? `the process that serves it sends it; where none does: ${place.hint('attach', operationId)}`
    : `the process that runs its server sends it; to see whether it does: ${place.hint('attach', operationId)}`;
}
