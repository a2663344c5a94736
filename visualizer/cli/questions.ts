/** The input rounds of the operation that is followed: shown while they are open, answered at most once. */
import type { Opened } from '../../machines/actor/store.ts';
import { schemaProblems } from '../../machines/approval-gate/reply-schema.ts';
import type { OpenRound } from '../../machines/index.ts';
import { askForm } from './prompts/form.ts';
import { isInterrupted, isWithdrawn, type Prompter } from './prompts/prompter.ts';
import { refusalWords } from './refused.ts';
import { oneLine } from './text.ts';
import { openQuestion } from './views.ts';
import type { Workplace } from './workplace.ts';

interface Asking {
  readonly withdraw: AbortController;
  readonly ended: Promise<void>;
}

export class Questions {
  #round: OpenRound | null = null;
  #asking: Asking | null = null;
  #suspended = false;

  constructor(
    private readonly place: Workplace,
    /** `null`: nobody is there to be asked. */
    private readonly prompter: Prompter | null,
    private readonly interrupted: () => void,
  ) {}

  /** Takes in a committed state. Returns the question when it is a new one. */
  async update(opened: Opened): Promise<OpenRound | null> {
    const round = await openQuestion(this.place.ledger, opened);
    if (round?.round === this.#round?.round) return null;
    await this.#withdraw();
    this.#round = round;
    if (round === null) return null;
    if (this.prompter) this.#begin();
    else this.#explain(round);
    return round;
  }

  /** Takes the form off the screen while something else is asked. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    await this.#withdraw();
  }

  resume(): void {
    this.#suspended = false;
    this.#begin();
  }

  async close(): Promise<void> {
    this.#round = null;
    await this.#withdraw();
  }

  #begin(): void {
    if (this.#suspended || this.#asking || !this.#round || !this.prompter) return;
    const withdraw = new AbortController();
    const ended = this.#ask(this.#round, this.prompter, withdraw.signal).finally(() => {
      if (this.#asking?.withdraw === withdraw) this.#asking = null;
    });
    this.#asking = { withdraw, ended };
  }

  async #withdraw(): Promise<void> {
    const asking = this.#asking;
    this.#asking = null;
    asking?.withdraw.abort();
    await asking?.ended;
  }

  async #ask(round: OpenRound, prompter: Prompter, signal: AbortSignal): Promise<void> {
    const { executor, output } = this.place;
    try {
      while (!signal.aborted) {
        const reply = await prompter.ask(signal, (context) => askForm(round, context));
        const answered = await executor.answer({ ...round, reply });
        if (answered.kind !== 'refused') return;
        const { schema } = round.request;
        const problems = answered.guards.includes('replyFitsSchema') ? schemaProblems(schema, reply) : [];
        output.say(output.paint.yellow(`  ${oneLine(refusalWords(answered, problems), 500)}`));
        if (!answered.guards.includes('replyFitsSchema')) return;
      }
    } catch (error) {
      if (isInterrupted(error)) this.interrupted();
      else if (!isWithdrawn(error)) output.say(`  the question could not be put: ${oneLine(String(error), 300)}`);
    }
  }

  #explain(round: OpenRound): void {
    const { output } = this.place;
    for (const line of questionLines(this.place, round)) output.say(line);
  }
}

/** The question, and the command that answers it. */
export function questionLines(place: Workplace, round: OpenRound): readonly string[] {
  const binding = ['--round', String(round.round), '--schema-digest', round.schemaDigest];
  return [
    `  the server asks: ${oneLine(round.request.message, 1_000)}`,
    `  schema: ${oneLine(JSON.stringify(round.request.schema), 4_000)}`,
    ...(round.possiblyRepeat ? ['  (the connection broke: this may be a repeat of what was answered)'] : []),
    `  open until ${new Date(round.deadline).toISOString()}; to answer it:`,
    `    ${place.hint('answer', round.operationId, [...binding, '--accept', '{"…":"…"}'])}`,
    '  or with --decline or --cancel in place of --accept',
  ];
}
