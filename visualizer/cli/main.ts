#!/usr/bin/env node
/** `toolop`: one long-running tool call on a terminal. Decides nothing: what may follow what is the chart's. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addAdapters } from './commands/adapters.ts';
import { addAnswer } from './commands/answer.ts';
import { addAttach } from './commands/attach.ts';
import { addCancel } from './commands/cancel.ts';
import { addChart } from './commands/chart.ts';
import { addCreation, addEpoch } from './commands/epoch.ts';
import { addExport } from './commands/export.ts';
import { finisher } from './commands/finish.ts';
import { addHistory } from './commands/history.ts';
import { addInspect } from './commands/inspect.ts';
import { addList } from './commands/list.ts';
import { addMigrate } from './commands/migrate.ts';
import { addPurge } from './commands/purge.ts';
import { addReconcile } from './commands/reconcile.ts';
import { addRollback } from './commands/rollback.ts';
import { addRollout } from './commands/rollout.ts';
import { addRun } from './commands/run.ts';
import { addShadow } from './commands/shadow.ts';
import { addShow } from './commands/show.ts';
import { addWeb } from './commands/web.ts';
import { EXIT_CODES_HELP, ExitCode } from './exit-codes.ts';
import { asFailure, usage } from './failure.ts';
import { Output } from './output.ts';

// A reader that went away (`toolop list | head`) is no reason to fall over.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const finish = finisher((output, command, result) => {
  if ('code' in result) {
    process.exitCode = result.code;
    return;
  }
  const failure = asFailure(result.error);
  output.fail(failure, `toolop ${command} --help`);
  process.exitCode = failure.exitCode;
});

const program = new Command('toolop')
  .description('One long-running tool call: one operation, exactly one accepted terminal state.')
  .version(version())
  .exitOverride()
  .configureOutput({ outputError: () => undefined })
  .addHelpText('after', `\nEach command has examples: toolop run --help\n\n${EXIT_CODES_HELP}`);
for (const add of [
  addRun,
  addList,
  addShow,
  addAttach,
  addCancel,
  addAnswer,
  addReconcile,
  addAdapters,
  addHistory,
  addEpoch,
  addCreation,
  addRollback,
  addRollout,
  addShadow,
  addPurge,
  addMigrate,
  addExport,
  addChart,
  addWeb,
  addInspect,
])
  add(program, finish);
for (const command of program.commands.flatMap((each) => [each, ...each.commands])) {
  command.addHelpText('after', `\n${EXIT_CODES_HELP}`);
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Help and version are told by throwing, too.
  if (error.exitCode !== 0 && error.code !== 'commander.help') {
    const output = new Output(process.argv.includes('--json'), false);
    output.fail(usage(error.message.replace(/^error: /, '')), ['toolop', ...meant(), '--help'].join(' '));
    process.exitCode = ExitCode.usage;
  } else if (error.code === 'commander.help') {
    process.exitCode = ExitCode.usage;
  }
}

/** The command that a wrong command line is about, if it names one. */
function meant(): readonly string[] {
  const named = process.argv[2];
  return program.commands.some((command) => command.name() === named) ? [named as string] : [];
}

/** From the package, wherever this file lies in it: beside the sources, or in `dist`. */
function version(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const { name, version: found } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8'));
      if (name === 'toolop') return found;
    } catch {
      // Not there: the next place.
    }
  }
  return 'unknown';
}
