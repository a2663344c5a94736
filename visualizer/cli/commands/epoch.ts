import { type Command, InvalidArgumentError } from 'commander';
import { adoptAll, type Counts, type OpenOperations, openOperationsByEpoch } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { type CommonOptions, positiveCount, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { shortId } from '../text.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface RaiseOptions extends CommonOptions {
  readonly to?: number;
  readonly adopt?: boolean;
}

export function addEpoch(program: Command, finish: Finish): void {
  const epoch = program
    .command('epoch')
    .summary('show or raise the execution epoch of the ledger')
    .description(
      'Every executor runs under the execution epoch that the ledger had when it started. Raising it is for the whole fleet: ' +
        'executors of an older epoch claim and send nothing any more, and what they still bring is verified.',
    )
    .addHelpText('after', '\nExamples:\n  toolop epoch show\n  toolop epoch raise --adopt');
  withCommonOptions(
    epoch.command('show', { isDefault: true }).summary('the epoch, and what is open under which'),
  ).action(finish<CommonOptions>((options, output) => atWork(options, output, {}, show)));
  withCommonOptions(
    epoch
      .command('raise')
      .summary('raise it in every partition; one that was interrupted is completed by raising again')
      .option('--to <number>', 'to this epoch, as often as you like (default: one more than the newest)', positiveCount)
      .option('--adopt', 'take over what is open under older epochs, now and not when it is claimed'),
  ).action(finish<RaiseOptions>((options, output) => atWork(options, output, {}, (place) => raise(place, options))));
}

async function show({ ledger, output }: Workplace): Promise<ExitCode> {
  const [epochs, creation, open] = await Promise.all([
    ledger.epochs(),
    ledger.creation(),
    openOperationsByEpoch(ledger),
  ]);
  output.emit({ type: 'epoch', exitCode: ExitCode.completed, epochs, creation, ...openView(open) });
  output.print(`epoch     ${ofAll(epochs.map(String))}`);
  output.print(`creation  ${ofAll(creation.map((on) => (on ? 'on' : 'off')))}`);
  for (const line of openLines(open)) output.print(line);
  return ExitCode.completed;
}

async function raise(place: Workplace, options: RaiseOptions): Promise<ExitCode> {
  const { ledger, output } = place;
  const epoch = await raised(place, options.to);
  const adopted = options.adopt === true ? await adopt(place) : 0;
  output.emit({ type: 'epoch', exitCode: ExitCode.completed, epoch, epochs: await ledger.epochs(), adopted });
  return ExitCode.completed;
}

/** Complete when every partition has it: said so. */
export async function raised({ ledger, output }: Workplace, to?: number): Promise<number> {
  const epoch = await ledger.raiseEpoch(to).catch((error: unknown) => {
    throw error instanceof RangeError ? usage(error.message) : error;
  });
  const { length } = await ledger.epochs();
  output.say(`epoch ${epoch} in ${length === 1 ? 'the one partition' : `all ${length} partitions`}`);
  return epoch;
}

/** How many were taken over. */
export async function adopt({ ledger, output }: Workplace): Promise<number> {
  const sum = (adopted: ReadonlyMap<number, number>) => [...adopted.values()].reduce((a, b) => a + b, 0);
  const { adopted, sending, unreadable } = await adoptAll(ledger, {
    onProgress: (so) => output.emit({ type: 'adoption', seen: so.seen, adopted: Object.fromEntries(so.adopted) }),
  });
  for (const [epoch, count] of adopted) output.say(`adopted ${count} from epoch ${epoch}`);
  if (sending > 0) output.say(`${sending} left to their sender, which is still to say what came of the call`);
  if (unreadable > 0) output.say(`${unreadable} written by another version: left alone`);
  return sum(adopted);
}

export function openView({ byEpoch, ...open }: OpenOperations) {
  return { ...open, byEpoch: Object.fromEntries(byEpoch) };
}

export const countsLine = ({ inFlight, queued, parked }: Counts): string =>
  `${inFlight} in flight, ${queued} queued (nothing was sent), ${parked} parked`;

function openLines(open: OpenOperations): readonly string[] {
  return [
    ...[...open.byEpoch].map(([epoch, counts]) => `open under ${epoch}: ${countsLine(counts)}`),
    ...(open.byEpoch.size === 0 ? ['nothing is open'] : []),
    ...parkedLines(open),
  ];
}

export function parkedLines({ parkedOnes, parked }: OpenOperations): readonly string[] {
  const more = parked - parkedOnes.length;
  return [
    ...parkedOnes.map(({ operationId, reason }) => `  ${shortId(operationId)}  parked (${reason}): waits for a human`),
    ...(more > 0 ? [`  and ${more} more that are parked`] : []),
  ];
}

function ofAll(values: readonly string[]): string {
  return new Set(values).size === 1 ? (values[0] as string) : `${values.join(' ')} (incomplete: set it again)`;
}

export function addCreation(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('creation')
      .summary('let the fleet create operations, or not')
      .description(
        'Off: no executor of this ledger creates an operation or sends one that is queued, from now on. What was sent goes on; ' +
          'what is queued waits.',
      )
      .argument('<on|off>', 'on or off', (value: string) => {
        if (value !== 'on' && value !== 'off') throw new InvalidArgumentError('it is on or off.');
        return value;
      }),
  )
    .addHelpText('after', '\nExamples:\n  toolop creation off\n  toolop creation on')
    .action(
      finish<CommonOptions>((options, output: Output, [value]) =>
        atWork(options, output, {}, async ({ ledger }) => {
          await ledger.setCreation(value === 'on');
          output.emit({ type: 'creation', exitCode: ExitCode.completed, creation: value });
          output.say(`creation is ${value}`);
          return ExitCode.completed;
        }),
      ),
    );
}
