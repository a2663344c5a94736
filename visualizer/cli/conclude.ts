/** The last words of a command that followed an operation, and its exit code. */
import type { Opened } from '../../machines/actor/store.ts';
import { ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Ending } from './follow.ts';
import { concludePurged } from './purged.ts';
import { redacted } from './redact.ts';
import { oneLine, shortId } from './text.ts';
import { isParked, nobodyToAsk, outputText, receiptLines, reconcileVerbs, stateView } from './views.ts';
import type { Workplace } from './workplace.ts';

export interface ConcludeOptions {
  readonly ending: Ending;
  /** Said when the waiting was stopped. */
  readonly leaving: readonly string[];
  /** Do not print what the call returned. */
  readonly quietOutput?: boolean;
}

export async function conclude(place: Workplace, operationId: string, options: ConcludeOptions): Promise<ExitCode> {
  const { output, executor } = place;
  const opened = await executor.load(operationId);
  if (!opened) return concludePurged(place, operationId);
  const { context } = opened.snapshot;
  // What is so now, and not what was when the waiting stopped.
  const outcome = await executor.outcome(operationId);
  if (outcome) {
    const exitCode = exitCodeOf(outcome.receipt);
    const [head = '', ...lines] = receiptLines(outcome.receipt);
    output.say(exitCode === ExitCode.completed ? output.paint.green(head) : output.paint.yellow(head));
    for (const line of lines) output.say(line);
    if (outcome.output && !options.quietOutput) output.print(outputText(outcome.output));
    output.emit({
      type: 'receipt',
      exitCode,
      receipt: redacted(outcome.receipt, context),
      ...(options.quietOutput ? {} : { output: outcome.output }),
    });
    return exitCode;
  }
  if (isParked(opened)) {
    const why = context.parked;
    output.say(
      output.paint.yellow(`parked (${why?.reason}): what became of the call is unknown; nothing was tried again`),
    );
    if (why?.note) output.say(`  ${oneLine(redacted(why.note, context), 500)}`);
    const { lines, told } = place.lastWords;
    const verbs = reconcileVerbs(opened);
    if (nobodyToAsk(opened)) {
      output.say(
        `  nothing can be asked any more${context.cancel ? ', so the cancel cannot be confirmed' : ''}: look at what the tool should have changed, then`,
      );
      for (const line of told) output.say(`  ${line}`);
    }
    output.say(`  see the evidence and decide (${verbs.join(', ')}): ${place.hint('reconcile', operationId)}`);
    output.emit({
      ...{ type: 'parked', exitCode: ExitCode.unknown, ...stateView(opened), verbs },
      ...(lines.length > 0 ? { serverStderr: lines } : {}),
    });
    return ExitCode.unknown;
  }
  if (options.ending === 'epochOver') {
    const goOn = place.hint('attach', operationId);
    const { message } = executor.epochOver.reason as Error;
    output.say(output.paint.yellow(`${message}; nothing was cancelled. To go on: ${goOn}`));
    output.emit({ type: 'epochOver', exitCode: ExitCode.running, next: goOn, ...stateView(opened) });
    return ExitCode.running;
  }
  for (const line of options.leaving) output.say(line);
  const exitCode = options.ending === 'seen' ? ExitCode.completed : ExitCode.running;
  output.emit({ type: options.ending === 'seen' ? 'seen' : 'detached', exitCode, ...stateView(opened) });
  if (options.ending !== 'seen' && mayLoseItsQuestion(opened)) {
    output.say(
      output.paint.yellow(
        '  its open question came over a connection of one process, and the server may not ask it again',
      ),
    );
  }
  if (options.ending !== 'seen') output.say(`  ${shortId(operationId)} is still running`);
  return exitCode;
}

/** MCP 2025-11-25 asks on one connection: where this command held it, leaving has closed it. */
function mayLoseItsQuestion({ record, snapshot }: Opened): boolean {
  const { capabilities } = snapshot.context;
  return record.state.startsWith('INPUT_REQUIRED') && capabilities.input === 'channel' && !capabilities.inputRedelivery;
}
