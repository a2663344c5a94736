import type { Command } from 'commander';
import { ExitCode } from '../exit-codes.ts';
import { findOperation } from '../find.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { concludePurged } from '../purged.ts';
import { questionLines } from '../questions.ts';
import { redacted } from '../redact.ts';
import { oneLine, seconds } from '../text.ts';
import { openQuestion, outputText, receiptLines, stateView } from '../views.ts';
import { atWork } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface ShowOptions extends CommonOptions {
  readonly history?: boolean;
  readonly output?: boolean;
  readonly secrets?: boolean;
}

export function addShow(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('show')
      .summary('show one operation')
      .description('Where one operation stands, and its receipt when it is over.')
      .argument('<id>', 'operation id, unique prefix of one, or call node id')
      .option('--history', 'every step that was committed, and the facts that were refused')
      .option('--output', 'what the call returned, if it was released')
      .option('--secrets', 'show task and session ids'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  toolop show p00.3f2a9c --history\n  toolop show report:run7:1 --output --json',
    )
    .action(finish<ShowOptions>((options, output, [id = '']) => show(options, output, id)));
}

function show(options: ShowOptions, output: Output, id: string): Promise<ExitCode> {
  return atWork(options, output, {}, async (place) => {
    const operationId = await findOperation(place, id, true);
    const opened = await place.executor.load(operationId);
    if (!opened) return concludePurged(place, operationId);
    const { context } = opened.snapshot;
    const hide = <T>(value: T): T => (options.secrets ? value : redacted(value, context));
    // What a shadow came to is nobody's outcome (R1).
    const isShadow = place.ledger.kind === 'shadow';
    const outcome = isShadow ? null : await place.executor.outcome(operationId);
    const history = options.history ? hide(await place.ledger.readHistory(operationId, { refused: true })) : null;
    const question = await openQuestion(place.ledger, opened);
    output.emit({
      type: 'operation',
      exitCode: ExitCode.completed,
      ...stateView(opened),
      record: hide(context),
      question,
      receipt: hide(outcome?.receipt ?? null),
      ...(history ? { history } : {}),
      ...(options.output ? { output: outcome?.output ?? null } : {}),
    });

    const facts: readonly (readonly [string, string | null])[] = [
      ['operation', operationId],
      ['node', context.callNodeId],
      ['principal', context.principal],
      ['tool', context.tool.name],
      ['server', context.endpoint.url ?? 'stdio'],
      ['protocol', context.protocol],
      ['state', opened.record.state],
      ['shadow', isShadow ? 'only compared with the ordinary call: toolop shadow report' : null],
      ['server says', [context.serverStatus, hide(context.statusMessage)].filter(Boolean).join(': ') || null],
      ['task', hide(context.taskId)],
      ['began', new Date(context.createdAt).toISOString()],
      ['changed', new Date(context.updatedAt).toISOString()],
      [
        'cancel',
        context.cancel && `asked by ${context.cancel.requestedBy}: ${context.cancel.reason ?? 'no reason given'}`,
      ],
      ['parked', context.parked && `${context.parked.reason}: ${hide(context.parked.note) ?? ''}`],
    ];
    for (const [name, value] of facts) if (value !== null) output.print(`${name.padEnd(12)} ${oneLine(value, 600)}`);
    if (question) output.print(questionLines(place, question).join('\n'));
    if (outcome) output.print(receiptLines(hide(outcome.receipt)).join('\n'));
    for (const { at, event, from, to, executor, note, refused } of history ?? []) {
      const steps = [
        seconds(at - context.createdAt).padStart(8),
        event.padEnd(22),
        (refused ? `${from} refuses: ${refused.join(', ')}` : `${from || '-'} → ${to}`).padEnd(56),
      ];
      output.print(`${steps.join('  ')}  ${oneLine(executor, 40)}  ${oneLine(note ?? '', 120)}`.trimEnd());
    }
    if (options.output) {
      if (outcome?.output) output.print(outputText(outcome.output));
      else output.say(outcome ? 'nothing was released' : 'it is not over: there is no output yet');
    }
    return ExitCode.completed;
  });
}
