import type { Command } from 'commander';
import { publicAddress } from '../../../persistence/index.ts';
import { type OpenSite, openSite } from '../../web/site.ts';
import { ExitCode } from '../exit-codes.ts';
import { Interrupts } from '../interrupts.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { portNumber, portTrouble } from '../ports.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface WebOptions extends CommonOptions {
  readonly port: number;
  readonly allowActions?: boolean;
}

export function addWeb(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('web')
      .summary('show the ledger in a browser')
      .description(
        'A page on this machine only: every operation, live, and where one stands in the statechart. It serves no operation, and changes nothing unless started with --allow-actions.',
      )
      .option('--port <number>', 'the port to listen on; 0: any that is free', portNumber, 0)
      .option('--allow-actions', 'let the page answer, cancel and reconcile'),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolop web
  toolop web --ledger redis://127.0.0.1:6379 --port 7007 --allow-actions

Whoever has the address may look: it holds a random token, and is good until the command ends.`,
    )
    .action(finish<WebOptions>((options, output) => web(options, output)));
}

function web(options: WebOptions, output: Output): Promise<ExitCode> {
  return atWork(options, output, {}, async (place) => {
    const interrupts = new Interrupts({ early: () => undefined, impatient: () => undefined });
    const left = new Promise<void>((resolve) => interrupts.listen(() => resolve()));
    const site = await openOn(place, options);
    const { url } = site;
    const actions = options.allowActions === true;
    output.emit({ type: 'web', url, actions });
    output.print(url);
    output.say(
      actions
        ? 'this page may answer, cancel and reconcile; Ctrl-C ends it'
        : 'this page only shows (--allow-actions: it may answer, cancel and reconcile); Ctrl-C ends it',
    );
    await left;
    await site.close();
    interrupts.close();
    return ExitCode.completed;
  });
}

async function openOn(place: Workplace, { port, allowActions }: WebOptions): Promise<OpenSite> {
  const { ledger, executor, options, hint } = place;
  try {
    return await openSite({
      ...{ ledger, executor, port, hint },
      namespace: options.namespace,
      name: publicAddress(options.ledger),
      allowActions: allowActions === true,
      by: place.by.replace(/^cli:/, 'web:'),
    });
  } catch (error) {
    throw portTrouble(error, port);
  }
}
