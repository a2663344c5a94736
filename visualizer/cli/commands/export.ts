import { writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { chart } from '../../chart/chart.generated.ts';
import { collectOperation } from '../../export/collect.ts';
import { exportHtml } from '../../export/html.ts';
import type { OperationExport } from '../../export/schema.ts';
import { pageFiles } from '../../web/page-files.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { findOperation } from '../find.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { concludePurged } from '../purged.ts';
import { oneLine } from '../text.ts';
import { atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface ExportOptions extends CommonOptions {
  readonly format: 'html' | 'json';
  readonly out?: string;
  readonly secrets?: boolean;
}

export function addExport(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('export')
      .summary('write one operation into one file, for a bug report')
      .description(
        'Writes one operation, its history and its place in the statechart into one file. Ids are digests, and arguments, results, answers, addresses and the words of servers and users are left out, unless --secrets.',
      )
      .argument('<id>', 'operation id, unique prefix of one, or call node id')
      .addOption(new Option('--format <format>', 'what to write').choices(['html', 'json']).default('html'))
      .option('--out <file>', 'the file to write; one that is there is not overwritten (default: stdout)')
      .option('--secrets', 'leave nothing out: not for others'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  toolop export p00.3f2a9c --out operation.html\n  toolop export report:run7:1 --format json > operation.json',
    )
    .action(finish<ExportOptions>((options, output, [id = '']) => exported(options, output, id)));
}

function exported(options: ExportOptions, output: Output, id: string): Promise<ExitCode> {
  return atWork(options, output, {}, async (place) => {
    const operationId = await findOperation(place, id, true);
    const { ledger, executor } = place;
    const secrets = options.secrets === true;
    const found = await collectOperation({ ledger, store: executor.env.store, secrets }, operationId);
    if (found === null || found.schema === 'purgedView.v1') return concludePurged(place, operationId);
    const text = await written(found, options.format);
    if (options.out === undefined) {
      process.stdout.write(text);
      return ExitCode.completed;
    }
    save(options.out, text);
    output.emit({ type: 'export', exitCode: ExitCode.completed, file: options.out, redacted: !secrets });
    output.say(
      secrets
        ? `${oneLine(options.out)} is written, with all its secrets: not for others`
        : `${oneLine(options.out)} is written, without ids, arguments, results, answers and addresses`,
    );
    return ExitCode.completed;
  });
}

async function written(found: OperationExport, format: ExportOptions['format']): Promise<string> {
  if (format === 'json') return `${JSON.stringify(found, null, 2)}\n`;
  const tops = chart.states.filter(({ parent }) => parent === null).map(({ path }) => path);
  return exportHtml(await pageFiles(), found, tops);
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw usage(`${oneLine(file)} is there already`, 'give another file by --out');
    throw usage(`${oneLine(file)} cannot be written: ${message}`, 'give another file by --out');
  }
}
