import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ZodError } from 'zod';
import {
  clearRollout,
  clearRolloutRule,
  modeText,
  RolloutRule,
  type RolloutView,
  rolloutOf,
  setRolloutRule,
} from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { type CliFailure, usage } from '../failure.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { oneLine } from '../text.ts';
import { adapterIds, atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface TargetOptions extends CommonOptions {
  readonly tool?: string;
  readonly adapter?: string;
}
interface SetOptions extends TargetOptions {
  readonly effectFree?: boolean;
}
interface ClearOptions extends TargetOptions {
  readonly all?: boolean;
}

const EXAMPLES = `
Examples:
  toolop rollout
  toolop rollout set off
  toolop rollout set --tool report shadow --effect-free
  toolop rollout set --tool report 5%
  toolop rollout clear --tool report`;

export function addRollout(program: Command, finish: Finish): void {
  const rollout = program
    .command('rollout')
    .summary('show or change which calls become operations')
    .description(
      'The rollout rules: which calls become operations. Of several the most specific one applies: of the tool, of the ' +
        'adapter, the default; without any, every call is an operation. Rules are obeyed by every executor of this ledger at ' +
        'its next new call; a call node that took a side before keeps it.',
    )
    .addHelpText('after', EXAMPLES);
  withCommonOptions(rollout.command('show', { isDefault: true }).description('Shows the rules.'))
    .addHelpText('after', EXAMPLES)
    .action(finish<CommonOptions>((options, output) => show(options, output)));

  withTarget(
    rollout
      .command('set')
      .description(
        'Sets a rule. off: calls are made the ordinary way. shadow: the ordinary way, with an operation beside it that is only ' +
          'compared (of one tool, declared free of effects). 5%: so many of a hundred call nodes are operations. on: all are.',
      )
      .argument('<rule>', 'off, shadow, on, or a percentage such as 5%', readMode)
      .option('--effect-free', 'your word that the tool changes nothing outside: it will be called twice'),
  )
    .addHelpText('after', EXAMPLES)
    .action(finish<SetOptions>((options, output, [rule = '']) => set(options, output, readMode(rule))));

  withTarget(
    rollout
      .command('clear')
      .description('Takes a rule back: of the tool, of the adapter, else the default; or all of them.')
      .option('--all', 'every rule, also where they cannot be read'),
  )
    .addHelpText('after', EXAMPLES)
    .action(finish<ClearOptions>((options, output) => clear(options, output)));
}

function withTarget(command: Command): Command {
  return withCommonOptions(command)
    .addOption(new Option('--tool <name>', 'the rule of this tool').conflicts('adapter'))
    .option('--adapter <id>', 'the rule of this adapter');
}

async function show(options: CommonOptions, output: Output): Promise<ExitCode> {
  return atWork(options, output, {}, async ({ ledger }) => told(output, await rolloutOf(ledger)));
}

async function set(options: SetOptions, output: Output, mode: RolloutRule['mode'] | 'shadow'): Promise<ExitCode> {
  const target = targetOf(options);
  const rule = RolloutRule.safeParse({ ...target, mode, ...(options.effectFree ? { effectFree: true } : {}) });
  if (!rule.success) throw unfit(rule.error, target.of);
  return atWork(options, output, {}, async ({ ledger }) => told(output, await setRolloutRule(ledger, rule.data)));
}

async function clear(options: ClearOptions, output: Output): Promise<ExitCode> {
  const target = targetOf(options);
  if (options.all && target.of !== 'default') throw usage('give one of --all, --tool and --adapter');
  return atWork(options, output, {}, async ({ ledger }) =>
    told(output, options.all ? await clearRollout(ledger) : await clearRolloutRule(ledger, target)),
  );
}

function targetOf({ tool, adapter }: TargetOptions) {
  if (adapter !== undefined && !adapterIds.includes(adapter)) {
    throw usage(`there is no adapter ${oneLine(adapter, 40)}`, `the adapters are ${adapterIds.join(', ')}`);
  }
  if (tool !== undefined) return { of: 'tool', name: tool } as const;
  return adapter === undefined ? ({ of: 'default' } as const) : ({ of: 'adapter', name: adapter } as const);
}

function readMode(text: string): 'off' | 'shadow' | 'on' | { readonly percent: number } {
  if (text === 'off' || text === 'shadow' || text === 'on') return text;
  const percent = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text)?.[1];
  if (percent === undefined || Number(percent) > 100) {
    throw new InvalidArgumentError('it is off, shadow, on, or a percentage from 0% to 100%.');
  }
  return { percent: Number(percent) };
}

function unfit(error: ZodError, of: RolloutRule['of']): CliFailure {
  const shadows = 'shadow is a rule of one tool: --tool <name> shadow --effect-free, if it changes nothing outside';
  const why = of === 'tool' ? (error.issues[0]?.message ?? 'it cannot be taken') : 'this target has no such rule';
  return usage(`the rule is refused, nothing was changed: ${oneLine(why)}`, shadows);
}

function told(output: Output, view: RolloutView): ExitCode {
  output.emit({ type: 'rollout', exitCode: ExitCode.completed, ...view });
  for (const rule of view.rules) {
    const target = rule.of === 'default' ? 'default' : `${rule.of} ${oneLine(rule.name, 60)}`;
    const word = rule.of === 'tool' && rule.effectFree ? '  effect-free' : '';
    output.print(`${target.padEnd(40)}  ${modeText(rule.mode)}${word}`);
  }
  if (view.rules.length === 0) output.print('no rules: every call is an operation');
  if (!view.complete) {
    output.say(
      `incomplete: the partitions have the versions ${[...new Set(view.versions)].join(', ')}; make the change again`,
    );
  }
  return ExitCode.completed;
}
