import type { Command } from 'commander';
import { DEFAULT_RETENTION, type PurgeReport, purge, Retention } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { age, type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface PurgeOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly olderThan: number;
  readonly receiptsOlderThan?: number;
  readonly tombstonesOlderThan?: number;
}

export function addPurge(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('purge')
      .summary('purge what is over and old')
      .description(
        'Purges operations that are over and whose receipts were consumed long enough ago: the record with its input, result and ' +
          'history. The receipt stays, and so does a tombstone: the same call node never makes its call again. ' +
          'What is not over, parked, or still in the outbox stays, whatever its age. It may be stopped and started again.',
      )
      .option('--dry-run', 'purge nothing, say what would go')
      .option('--older-than <age>', 'as 30d, 12h, 90m or 45s', age, DEFAULT_RETENTION.recordsMs ?? undefined)
      .option('--receipts-older-than <age>', 'purge receipts, too, that are as old (default: they stay)', age)
      .option(
        '--tombstones-older-than <age>',
        'and tombstones: their call nodes can be used again (default: they stay)',
        age,
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  toolop purge --dry-run\n  toolop purge --older-than 90d --receipts-older-than 3650d',
    )
    .action(finish<PurgeOptions>((options, output) => run(options, output)));
}

async function run(options: PurgeOptions, output: Output): Promise<ExitCode> {
  const policy = Retention.safeParse({
    recordsMs: options.olderThan,
    receiptsMs: options.receiptsOlderThan ?? null,
    tombstonesMs: options.tombstonesOlderThan ?? null,
  });
  if (!policy.success) throw usage(policy.error.issues.map(({ message }) => message).join('; '));
  return atWork(options, output, {}, async ({ ledger }) => {
    const report = await purge(ledger, policy.data, options.dryRun ? { dryRun: true } : {});
    const { layout, newest } = await ledger.layout();
    output.emit({ type: 'purge', exitCode: ExitCode.completed, ...report });
    for (const line of linesOf(report)) output.print(line);
    const { open, unconsumed, unreceipted } = report.staying;
    if (open + unconsumed + unreceipted > 0) {
      output.say(
        `${open + unconsumed + unreceipted} old operations stay, because their ledger contradicts itself: see its audit`,
      );
    }
    if (layout < newest) output.say('what ended before this release is not found yet: toolop migrate');
    return ExitCode.completed;
  });
}

function linesOf({ dryRun, records, receipts, tombstones, outbox }: PurgeReport): readonly string[] {
  const line = (what: string, { count, bytes }: { readonly count: number; readonly bytes: number }): string =>
    `${what.padEnd(12)} ${String(count).padStart(8)}  ${size(bytes)}`;
  return [
    dryRun ? 'would be purged' : 'purged',
    line('records', records),
    line('receipts', receipts),
    line('tombstones', tombstones),
    `${'in outbox'.padEnd(12)} ${String(outbox).padStart(8)}  wait for a consumer and stay`,
  ];
}

/** Of what stands in the ledger; the store itself needs more for it. */
function size(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
