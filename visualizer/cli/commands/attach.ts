import type { Command } from 'commander';
import { endpointIdOf } from '../../../machines/actor/call.ts';
import type { ToolOperationContext } from '../../../machines/index.ts';
import { conclude } from '../conclude.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { findOperation } from '../find.ts';
import { follow } from '../follow.ts';
import { Interrupts } from '../interrupts.ts';
import { orLoseSight } from '../lost-sight.ts';
import {
  type CommonOptions,
  collect,
  httpEndpoint,
  readHeaders,
  withCommonOptions,
  withInspectOptions,
} from '../options.ts';
import type { Output } from '../output.ts';
import { shortId } from '../text.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface AttachOptions extends CommonOptions {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly throughParked?: boolean;
}

export function addAttach(program: Command, finish: Finish): void {
  withInspectOptions(
    withCommonOptions(
      program
        .command('attach')
        .summary('go on with an operation and follow it to its receipt')
        .description(
          'Goes on with an operation over HTTP and follows it. One over stdio belongs to the process that runs its server: it is only followed.',
        )
        .argument('<id>', 'operation id, unique prefix of one, or call node id')
        .option('--url <url>', 'the server, where the recorded address is not enough (a query, for example)')
        .option('--header <header>', "'Name: value' of each request; else TOOLOP_HEADERS, one a line", collect)
        .option('--through-parked', 'keep following while it is parked: late evidence may still come'),
    ),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolop attach p00.3f2a9c
  toolop attach report:run7:1 --header 'Authorization: Bearer …' --json`,
    )
    .action(finish<AttachOptions>((options, output, [id = '']) => attach(options, output, id)));
}

async function attach(options: AttachOptions, output: Output, id: string): Promise<ExitCode> {
  const interrupts = new Interrupts({
    early: () => output.say('stopping; once more: leave at once'),
    impatient: () => process.exit(ExitCode.running),
  });
  try {
    return await atWork(options, output, { serves: true }, async (place) => {
      const operationId = await findOperation(place, id, true);
      const opened = await place.executor.load(operationId);
      if (opened && opened.snapshot.status !== 'done') {
        serve(place, options, opened.snapshot.context);
        await place.executor.start();
      }
      return orLoseSight(place, operationId, async () => {
        const ending = await follow(place, { operationId, interrupts, throughParked: options.throughParked === true });
        return conclude(place, operationId, {
          ending,
          leaving: [`stopped waiting for ${shortId(operationId)}; nothing was cancelled`],
        });
      });
    });
  } finally {
    interrupts.close();
  }
}

function serve(place: Workplace, options: AttachOptions, context: ToolOperationContext): void {
  const { executor, output } = place;
  const { endpoint } = context;
  if (endpoint.kind === 'stdio') {
    if (options.url !== undefined) throw usage('--url is given, but this operation runs on a stdio server');
    output.say(output.paint.dim('its stdio server runs inside another process: this command only follows'));
    return;
  }
  const url = options.url ?? endpoint.url ?? '';
  const served = httpEndpoint(url, readHeaders(options.header));
  if (endpointIdOf(served, executor.processId) !== endpoint.id) {
    throw usage(`the operation runs on ${endpoint.url}, not on the server of --url`, 'leave --url out');
  }
  executor.serve(served);
}
