import type { Command } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import type { CommonOptions } from '../options.ts';
import { Output } from '../output.ts';

type Work<O extends CommonOptions> = (options: O, output: Output, operands: readonly string[]) => Promise<ExitCode>;

/** Makes a commander action of a command's work. The last two arguments of an action are its options and its command. */
export type Finish = <O extends CommonOptions>(work: Work<O>) => (...given: unknown[]) => Promise<void>;

/** `ended` gets the exit code or the error, whichever it was, with the output to say it on. */
export function finisher(
  ended: (output: Output, command: string, result: { code: ExitCode } | { error: unknown }) => void,
): Finish {
  return <O extends CommonOptions>(work: Work<O>) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const options = command.opts<O & CommonOptions>();
      const output = new Output(options.json === true, options.verbose === true);
      try {
        ended(output, nameOf(command), { code: await work(options, output, command.args) });
      } catch (error) {
        ended(output, nameOf(command), { error });
      }
    };
}

/** As it is typed after `toolop`: `rollout set`. */
function nameOf(command: Command): string {
  const parent = command.parent;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}
