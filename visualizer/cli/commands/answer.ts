import type { Command } from 'commander';
import { parseReply, schemaProblems } from '../../../machines/approval-gate/reply-schema.ts';
import type { CommandAnswer, InputReply, OpenRound } from '../../../machines/index.ts';
import { ExitCode } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { findOperation } from '../find.ts';
import { type CommonOptions, positiveCount, readJsonObject, withCommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { askForm } from '../prompts/form.ts';
import { isInteractive, isInterrupted, Prompter } from '../prompts/prompter.ts';
import { questionLines } from '../questions.ts';
import { refused } from '../refused.ts';
import { oneLine, shortId } from '../text.ts';
import { openQuestion } from '../views.ts';
import { atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';
import { tellTaken, waitForEffect } from './wait.ts';

interface AnswerOptions extends CommonOptions {
  readonly round?: number;
  readonly schemaDigest?: string;
  readonly accept?: string;
  readonly decline?: boolean;
  readonly cancel?: boolean;
  readonly wait?: boolean;
}

type Refused = Extract<CommandAnswer, { kind: 'refused' }>;
type Bound = Pick<OpenRound, 'round' | 'schemaDigest'>;

export function addAnswer(program: Command, finish: Finish): void {
  withCommonOptions(
    program
      .command('answer')
      .summary('answer the question that a server asks')
      .description(
        'Answers one input round. An answer is bound to the round and the schema it was made for; without them the open question is shown and asked for.',
      )
      .argument('<id>', 'operation id, unique prefix of one, or call node id')
      .option('--round <number>', 'the round that is answered', positiveCount)
      .option('--schema-digest <digest>', 'the digest of the schema that is answered')
      .option('--accept <json>', 'the content of the answer, as a JSON object or @file')
      .option('--decline', 'decline to answer')
      .option('--cancel', 'dismiss the question')
      .option('--wait', 'follow until the answer is on its way'),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolop answer p00.3f2a9c
  toolop answer p00.3f2a9c --round 1 --schema-digest 5d41… --accept '{"interpretation":"technical"}'`,
    )
    .action(finish<AnswerOptions>((options, output, [id = '']) => answer(options, output, id)));
}

function answer(options: AnswerOptions, output: Output, id: string): Promise<ExitCode> {
  const typed = replyOf(options);
  return atWork(options, output, {}, async (place) => {
    const operationId = await findOperation(place, id);
    const bound = boundOf(options);
    const given = bound && typed ? { ...bound, reply: typed } : await ask(place, operationId, typed);
    const answered = await place.executor.answer({ operationId, ...given });
    if (answered.kind === 'missing') throw new Error('the record is gone');
    if (answered.kind === 'refused') {
      throw refused(place, operationId, answered, { problems: await problemsOf(place, answered, given.reply) });
    }
    const words = `round ${given.round} of ${shortId(operationId)} answered (${given.reply.action})`;
    if (options.wait) {
      output.say(words);
      return waitForEffect(place, operationId, ({ snapshot, record }) => {
        const { inputRound, input } = snapshot.context;
        const onItsWay = ['INPUT_REQUIRED', 'SUBMITTING'].some((state) => record.state.startsWith(state));
        return inputRound !== given.round || input?.delivery === 'delivered' || !onItsWay;
      });
    }
    tellTaken(place, answered.opened, words);
    return ExitCode.completed;
  });
}

async function problemsOf(
  place: Workplace,
  { guards, opened }: Refused,
  reply: InputReply,
): Promise<readonly string[]> {
  if (!guards.includes('replyFitsSchema')) return [];
  const question = await openQuestion(place.ledger, opened);
  return question ? schemaProblems(question.request.schema, reply) : [];
}

function replyOf(options: AnswerOptions): InputReply | null {
  const given = [options.accept !== undefined, options.decline === true, options.cancel === true].filter(
    Boolean,
  ).length;
  if (given > 1) throw usage('give one of --accept, --decline and --cancel');
  if (options.decline) return { action: 'decline' };
  if (options.cancel) return { action: 'cancel' };
  if (options.accept === undefined) return null;
  return parseReply({ action: 'accept', content: readJsonObject(options.accept, '--accept') });
}

function boundOf({ round, schemaDigest }: AnswerOptions): Bound | null {
  return round === undefined || schemaDigest === undefined ? null : { round, schemaDigest };
}

/** An answer that is not bound to a question is never guessed to be one to this question: the human has to see it. */
async function ask(
  place: Workplace,
  operationId: string,
  typed: InputReply | null,
): Promise<Bound & { reply: InputReply }> {
  const { output } = place;
  const opened = await place.executor.load(operationId);
  const question = opened && (await openQuestion(place.ledger, opened));
  if (!question) {
    throw new CliFailure(
      ExitCode.notSubmitted,
      `no question of ${shortId(operationId)} is open: it is in ${oneLine(opened?.record.state ?? 'no state')}`,
    );
  }
  if (typed || !isInteractive() || output.json) {
    for (const line of questionLines(place, question)) output.say(line);
    throw usage(
      `an answer is bound to its question: this one is round ${question.round} with schema digest ${question.schemaDigest}`,
      'say --round, --schema-digest, and one of --accept, --decline and --cancel',
      { question },
    );
  }
  try {
    const reply = await new Prompter(output).ask(new AbortController().signal, (context) => askForm(question, context));
    return { round: question.round, schemaDigest: question.schemaDigest, reply };
  } catch (error) {
    if (isInterrupted(error)) throw new CliFailure(ExitCode.running, 'left without an answer; the question stays open');
    throw error;
  }
}
