import type { Command } from 'commander';
import { type LedgerLayout, READER_VERSION } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { type CommonOptions, positiveCount, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface MigrateOptions extends CommonOptions {
  readonly status?: boolean;
  readonly again?: boolean;
  readonly writes?: number;
}

export function addMigrate(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('migrate')
      .summary('bring the ledger to the layout of this release')
      .description(
        'Numbered steps, partition by partition, each in small batches; a run that was killed is ' +
          'gone on with by the next one. --status says which steps earlier executors may not see. What executors write is another matter: it changes only by --writes, once every executor ' +
          'of this ledger is of a release that reads it.',
      )
      .option('--status', 'only say where it is')
      .option('--again', 'also through what is done: finds what executors of an earlier release left since then')
      .option('--writes <version>', 'have records written for readers of this version; never goes back', positiveCount),
  )
    .addHelpText('after', '\nExamples:\n  toolop migrate --status\n  toolop migrate\n  toolop migrate --writes 2')
    .action(finish<MigrateOptions>((options, output) => run(options, output)));
}

async function run(options: MigrateOptions, output: Output): Promise<ExitCode> {
  const { status = false, again = false, writes } = options;
  if ([status, again, writes !== undefined].filter(Boolean).length > 1) {
    throw usage('give one of --status, --again and --writes');
  }
  if (writes !== undefined && writes > READER_VERSION) {
    throw usage(
      `this release reads records up to version ${READER_VERSION}`,
      'upgrade the executors first, then this command',
    );
  }
  return atWork(options, output, {}, async ({ ledger }) => {
    if (writes !== undefined && (await ledger.raiseWrites(writes)) !== writes) {
      throw usage(
        `records are written for readers of version ${await ledger.writes()} already, and some may need it`,
        'it never goes back',
      );
    }
    const layout = status || writes !== undefined ? await ledger.layout() : await ledger.migrate({ again });
    output.emit({ type: 'layout', exitCode: ExitCode.completed, reads: READER_VERSION, ...layout });
    for (const line of linesOf(layout)) output.print(line);
    return ExitCode.completed;
  });
}

function linesOf({ layout, newest, writes, migrations }: LedgerLayout): readonly string[] {
  return [
    `layout ${layout} of ${newest}`,
    ...migrations.map(({ to, what, safeWithOlder, partitions }) => {
      const done = partitions.filter((state) => state === 'done').length;
      const older = safeWithOlder ? 'earlier executors may run meanwhile' : 'stop earlier executors first';
      return `  → ${to}: ${done} of ${partitions.length} partitions; ${what} (${older})`;
    }),
    `records are written for readers of version ${writes}; this release reads up to ${READER_VERSION}`,
  ];
}
