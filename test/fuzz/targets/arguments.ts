/** Command lines: parsed by the production program, worked on as far as the ledger, which is never there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import fc from 'fast-check';
import { addAnswer } from '../../../visualizer/cli/commands/answer.ts';
import { addAttach } from '../../../visualizer/cli/commands/attach.ts';
import { addCancel } from '../../../visualizer/cli/commands/cancel.ts';
import type { Finish } from '../../../visualizer/cli/commands/finish.ts';
import { addList } from '../../../visualizer/cli/commands/list.ts';
import { addReconcile } from '../../../visualizer/cli/commands/reconcile.ts';
import { addRun } from '../../../visualizer/cli/commands/run.ts';
import { addShow } from '../../../visualizer/cli/commands/show.ts';
import { ExitCode } from '../../../visualizer/cli/exit-codes.ts';
import { asFailure, CliFailure } from '../../../visualizer/cli/failure.ts';
import type { CommonOptions } from '../../../visualizer/cli/options.ts';
import { Output } from '../../../visualizer/cli/output.ts';
import { holds } from '../checks.ts';
import { ATOMS, strings } from '../dirt.ts';
import { target } from '../target.ts';

interface Input {
  readonly words: readonly string[];
  readonly file: string;
  readonly headers: string;
}

class Mute extends Output {
  override say(): void {}
  override print(): void {}
  override emit(): void {}
}

const FILE = '@FILE';
const value = fc.oneof(
  { weight: 3, arbitrary: strings },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...ATOMS,
      FILE,
      '{"a":1}',
      'http://h/mcp',
      'redis://x',
      '1',
      '0',
      '1e300',
      'accept',
      'give-up',
      'attach',
      'completed',
    ),
  },
);
const option = fc.constantFrom(
  ...[
    '--tool',
    '--args',
    '--url',
    '--node',
    '--header',
    '--ttl',
    '--wait-budget',
    '--effect-free',
    '--ledger',
    '--json',
  ],
  ...['--namespace', '--principal', '--verbose', '--round', '--schema-digest', '--accept', '--decline', '--cancel'],
  ...[
    '--wait',
    '--task-id',
    '--status',
    '--result',
    '--error',
    '--note',
    '--secrets',
    '--state',
    '--limit',
    '--history',
  ],
  ...['--output', '--reason', '--help', '--version', '--nonsense', '--', '-'],
);
const word = fc.oneof(
  { weight: 2, arbitrary: option.map((one) => [one]) },
  { weight: 3, arbitrary: fc.tuple(option, value).map((both) => [...both]) },
  { weight: 1, arbitrary: value.map((one) => [one]) },
);
/** Command lines that are right but for one value. */
const nearlyRight = value.chain((one) =>
  fc.constantFrom(
    ['run', '--tool', 't', '--args', one, '--url', 'http://127.0.0.1:1/mcp'],
    ['run', '--tool', 't', '--url', one],
    ['run', '--tool', one, '--header', one, '--url', 'http://127.0.0.1:1/mcp'],
    ['run', '--tool', 't', '--node', one, '--ttl', '10', '--', one, one],
    ['answer', 'p00.abcdef', '--round', '1', '--schema-digest', one, '--accept', one],
    ['answer', one, '--round', one, '--decline'],
    ['reconcile', 'x', 'accept', '--status', 'failed', '--note', 'n', '--error', one],
    ['reconcile', 'x', 'accept', '--status', 'completed', '--note', 'n', '--result', one],
    ['reconcile', 'x', 'attach', '--task-id', one],
    ['list', '--state', one, '--limit', '5'],
    ['cancel', one, '--reason', one],
    ['show', one, '--namespace', one],
  ),
);
const commandLine = fc.oneof(
  nearlyRight,
  fc
    .tuple(
      fc.constantFrom('run', 'list', 'show', 'attach', 'cancel', 'answer', 'reconcile', 'x'),
      fc.array(word, { maxLength: 6 }),
    )
    .map(([command, rest]) => [command, ...rest.flat()]),
);

export const commandLines = target<Input>({
  name: 'arguments',
  about: 'command lines, files of JSON and the environment',
  share: 15,
  batch: 500,
  open: () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolop-fuzz-'));
    const path = join(directory, 'given.json');
    const before = process.env.TOOLOP_HEADERS;
    return {
      inputs: fc.record({ words: commandLine, file: fc.oneof(strings, fc.constantFrom(...ATOMS)), headers: strings }),
      async feed({ words, file, headers }) {
        if (words.includes(FILE)) writeFileSync(path, file);
        process.env.TOOLOP_HEADERS = headers.replaceAll('\0', '');
        const ended: unknown[] = [];
        const finish: Finish =
          (work) =>
          async (...given) => {
            const command = given.at(-1) as Command;
            // The ledger is one that cannot be: whatever is typed, nothing is opened, made or started.
            const options = { ...command.opts<CommonOptions>(), ledger: 'nowhere://fuzz' } as Parameters<
              typeof work
            >[0];
            await work(options, new Mute(options.json === true, false), command.args).catch((error) =>
              ended.push(error),
            );
          };
        const program = new Command('toolop')
          .exitOverride()
          .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
        for (const add of [addRun, addList, addShow, addAttach, addCancel, addAnswer, addReconcile])
          add(program, finish);
        for (const command of program.commands)
          command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
        const given = words.map((one) => (one === FILE ? `@${path}` : one));
        await program.parseAsync(given, { from: 'user' }).catch((error) => ended.push(error));
        holds(ended.length === 1, `it ended ${ended.length} times`);
        const [error] = ended;
        if (error instanceof CommanderError) return 'refused';
        holds(error instanceof CliFailure, String((error as Error).stack));
        const { exitCode, message } = asFailure(error);
        holds(exitCode === ExitCode.usage || exitCode === ExitCode.ledger, `exit code ${exitCode}: ${message}`);
        // As far as the ledger: all that was typed was taken.
        return /ledger address|there is no ledger|namespace has/.test(message) ? 'accepted' : 'refused';
      },
      async close() {
        if (before === undefined) Reflect.deleteProperty(process.env, 'TOOLOP_HEADERS');
        else process.env.TOOLOP_HEADERS = before;
        rmSync(directory, { recursive: true, force: true });
      },
    };
  },
});
