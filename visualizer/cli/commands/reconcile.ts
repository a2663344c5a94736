import { Argument, type Command, Option } from 'commander';
import type { CommandAnswer, Payload, Reconciliation } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { findOperation } from '../find.ts';
import { type CommonOptions, readJson, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { redacted } from '../redact.ts';
import { refused } from '../refused.ts';
import { jsonLine, oneLine, shortId } from '../text.ts';
import { evidenceOf, reconcileVerbs, stateView } from '../views.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';
import { tellTaken, waitForEffect } from './wait.ts';

interface ReconcileOptions extends CommonOptions {
  readonly note?: string;
  readonly taskId?: string;
  readonly status?: 'completed' | 'failed' | 'cancelled';
  readonly result?: string;
  readonly error?: string;
  readonly secrets?: boolean;
  readonly wait?: boolean;
}

const VERBS: readonly string[] = ['attach', 'accept', 'never-created', 'give-up'];

export function addReconcile(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('reconcile')
      .summary('decide what became of a parked operation')
      .description(
        'A human verdict on an operation whose outcome is unknown. Without a verb: the evidence, and what can be said.',
      )
      .argument('<id>', 'operation id, unique prefix of one, or call node id')
      .addArgument(new Argument('[verb]', 'the verdict').choices(VERBS))
      .option('--task-id <id>', 'attach: the task that this call made')
      .addOption(new Option('--status <status>', 'accept: how it ended').choices(['completed', 'failed', 'cancelled']))
      .option('--result <json>', 'accept: what the call returned, as JSON or @file')
      .option('--error <json>', 'accept: the JSON-RPC error that it ended with, as JSON or @file')
      .option('--note <text>', 'what the verdict rests on (needed for all verbs but attach)')
      .option('--secrets', 'show task and session ids')
      .option('--wait', 'follow until it is over'),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolop reconcile p00.3f2a9c
  toolop reconcile p00.3f2a9c attach --task-id 786512e2
  toolop reconcile p00.3f2a9c accept --status completed --result @result.json --note 'read from the server log'
  toolop reconcile p00.3f2a9c give-up --note 'nobody knows any more'`,
    )
    .action(finish<ReconcileOptions>((options, output, [id = '', verb]) => reconcile(options, output, id, verb)));
}

function reconcile(options: ReconcileOptions, output: Output, id: string, verb?: string): Promise<ExitCode> {
  const verdict = verb === undefined ? null : verdictOf(options, verb);
  return atWork(options, output, {}, async (place) => {
    const operationId = await findOperation(place, id);
    if (verdict === null) return show(place, operationId, options.secrets === true);
    const answer = await place.executor.reconcile(operationId, place.by, verdict);
    if (answer.kind !== 'taken') throw refusal(place, operationId, answer);
    const words = `${verdict.verb} of ${shortId(operationId)} is on record`;
    if (options.wait) {
      output.say(words);
      return waitForEffect(place, operationId, () => false);
    }
    tellTaken(place, answer.opened, words);
    output.say(`  to carry it to its receipt: ${place.hint('attach', operationId)}`);
    return ExitCode.completed;
  });
}

function verdictOf(options: ReconcileOptions, verb: string): Reconciliation {
  const { note, taskId, status } = options;
  if (verb === 'attach') {
    if (!taskId) throw usage('attach needs --task-id');
    return { verb, taskId };
  }
  if (!note) throw usage(`${verb} needs --note: what does the verdict rest on?`);
  if (verb === 'give-up' || verb === 'never-created') return { verb, note };
  if (!status) throw usage('accept needs --status completed, failed or cancelled');
  // Without a payload the chart decides whether a result is on record already.
  return { verb: 'accept', status, payload: payloadOf(options), note };
}

function payloadOf(options: ReconcileOptions): Payload | null {
  if (options.result !== undefined && options.error !== undefined) throw usage('give one of --result and --error');
  if (options.result !== undefined) {
    const value = readJson(options.result, '--result') as Extract<Payload, { kind: 'result' }>['value'];
    return { kind: 'result', value, isError: (value as { isError?: unknown } | null)?.isError === true };
  }
  if (options.error === undefined) return null;
  const value = readJson(options.error, '--error') as Extract<Payload, { kind: 'error' }>['value'];
  if (typeof value?.code !== 'number' || typeof value.message !== 'string') {
    throw usage(`--error is to be a JSON-RPC error, as in '{"code":-32603,"message":"…"}'`);
  }
  return { kind: 'error', value };
}

function refusal(place: Workplace, operationId: string, answer: Exclude<CommandAnswer, { kind: 'taken' }>): CliFailure {
  if (answer.kind === 'missing') return usage('the record is gone');
  const verbs = reconcileVerbs(answer.opened);
  if (answer.kind === 'already') return new CliFailure(ExitCode.notSubmitted, answer.reason);
  return refused(place, operationId, answer, {
    ...(verbs.length > 0
      ? { next: `${place.hint('reconcile', operationId)} shows the evidence; can be said now: ${verbs.join(', ')}` }
      : {}),
    detail: { verbs },
  });
}

async function show(place: Workplace, operationId: string, secrets: boolean): Promise<ExitCode> {
  const { output } = place;
  const opened = await place.executor.load(operationId);
  if (!opened) throw usage('the record is gone');
  const { context } = opened.snapshot;
  const verbs = reconcileVerbs(opened);
  const evidence = secrets ? evidenceOf(opened) : redacted(evidenceOf(opened), context);
  output.emit({ type: 'evidence', exitCode: ExitCode.completed, ...stateView(opened), evidence, verbs });
  output.print(`${operationId}  ${opened.record.state}`);
  for (const [name, value] of Object.entries(evidence)) {
    if (value === null || (Array.isArray(value) && value.length === 0)) continue;
    output.print(`  ${name.padEnd(22)} ${oneLine(typeof value === 'string' ? value : jsonLine(value), 2_000)}`);
  }
  output.print(verbs.length > 0 ? `can be said now: ${verbs.join(', ')}` : 'nothing is to be reconciled');
  return ExitCode.completed;
}
