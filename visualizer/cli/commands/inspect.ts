import type { Command } from 'commander';
import { openReceiver, type Receiver } from '../../receiver/receiver.ts';
import { ExitCode } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { Interrupts } from '../interrupts.ts';
import type { CommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { portNumber, portTrouble } from '../ports.ts';
import type { Finish } from './finish.ts';

/** Where `@statelyai/inspect` sends to if it is told nothing else. */
const PORT = 8080;

interface InspectCommandOptions extends CommonOptions {
  readonly port: number;
}

export function addInspect(program: Command, finish: Finish): void {
  program
    .command('inspect')
    .summary('show the actors of any XState program in a browser')
    .description(
      'A page on this machine only, that receives what @statelyai/inspect sends: the actors of any XState program, each with its machine, the states that are active, and what happened, live. Needs no ledger, and changes nothing in the programs.',
    )
    .option('--port <number>', 'the port of the page and of the programs; 0: any that is free', portNumber, PORT)
    .option('--json', 'machine-readable output on stdout')
    .addHelpText(
      'after',
      `
Examples:
  toolop inspect
  toolop inspect --port 7008

In a program:
  import { createWebSocketInspector } from '@statelyai/inspect';
  createActor(machine, { inspect: createWebSocketInspector({ url: 'ws://127.0.0.1:${PORT}' }).inspect }).start();

Whoever has the address of the page may look: it holds a random token, and is good until the command ends. Programs need
none: they may only send. Contexts are shown as they are sent: sanitizeContext leaves out what nobody is to see.`,
    )
    .action(finish<InspectCommandOptions>((options, output) => inspect(options, output)));
}

async function inspect({ port }: InspectCommandOptions, output: Output): Promise<ExitCode> {
  const interrupts = new Interrupts({ early: () => undefined, impatient: () => undefined });
  const left = new Promise<void>((resolve) => interrupts.listen(() => resolve()));
  const { url, socket, code, close } = await openOn(port, (words) => output.say(words));
  output.emit({ type: 'inspect', url, socket });
  output.print(url);
  output.say(`programs send to ${socket}, with one line:`);
  output.say(`  ${code}`);
  output.say('Ctrl-C ends it');
  await left;
  await close();
  interrupts.close();
  return ExitCode.completed;
}

async function openOn(port: number, said: (words: string) => void): Promise<Receiver> {
  try {
    return await openReceiver({ port, said });
  } catch (error) {
    const trouble = portTrouble(error, port);
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw isTaken ? usage(`port ${port} is in use`, 'give another one, or 0 for any that is free: --port 0') : trouble;
  }
}
