import type { Command } from 'commander';
import { shadowReport } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { oneLine } from '../text.ts';
import { atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

export function addShadow(program: Command, finish: Finish): void {
  const shadow = program
    .command('shadow')
    .summary('how shadows compare with ordinary calls')
    .description(
      'Shadows: operations that are made beside ordinary calls, to be compared with them and for nothing else.',
    );
  withCommonOptions(
    shadow
      .command('report')
      .description(
        'How often a shadow and its ordinary call came to the same, and in which fields they differ. Values are not kept, ' +
          'only digests. One shadow: toolop show ID --namespace <name>/shadow.',
      ),
  )
    .addHelpText('after', '\nExamples:\n  toolop shadow report\n  toolop shadow report --json')
    .action(finish<CommonOptions>((options, output) => report(options, output)));
}

function report(options: CommonOptions, output: Output): Promise<ExitCode> {
  return atWork(options, output, { shadows: true }, async ({ ledger }) => {
    const found = await shadowReport(ledger);
    output.emit({ type: 'shadow', exitCode: ExitCode.completed, ...found });
    const { calls, compared, equal, different, fields, missing, waiting, incomparable } = found;
    const lines: readonly (readonly [string, number])[] = [
      ['calls', calls],
      ['compared', compared],
      ['  equal', equal],
      ['  different', different],
      ['no shadow', missing.shadow],
      ['no ordinary outcome', missing.ordinary],
      ['shadow under way', waiting],
      ['not comparable', incomparable],
    ];
    for (const [name, count] of lines) output.print(`${name.padEnd(20)} ${String(count).padStart(8)}`);
    if (fields.length > 0) output.print('differences by field');
    for (const { field, count } of fields) output.print(`  ${String(count).padStart(8)}  ${oneLine(field, 120)}`);
    return ExitCode.completed;
  });
}
