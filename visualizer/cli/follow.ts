/** Follows one operation on the terminal until it is over, parked, or the user stops waiting. */
import { select } from '@inquirer/prompts';
import type { Opened } from '../../machines/actor/store.ts';
import { LedgerUnavailable } from '../../machines/index.ts';
import { ledgerTrouble } from './failure.ts';
import type { Interrupts, Wish } from './interrupts.ts';
import { LedgerWatch } from './ledger-watch.ts';
import { lostSight } from './lost-sight.ts';
import { isInteractive, Prompter } from './prompts/prompter.ts';
import { Questions } from './questions.ts';
import { refusalWords } from './refused.ts';
import { oneLine } from './text.ts';
import { untilLeft } from './until-left.ts';
import { isParked, progressLine, stateView } from './views.ts';
import type { Workplace } from './workplace.ts';

/**
 * `seen`: what `until` waited for is so. `left`: the waiting was stopped; the operation goes on. `epochOver`: this command's
 * executor may not go on with it (R3).
 */
export type Ending = 'over' | 'parked' | 'seen' | 'left' | 'epochOver';

export interface FollowOptions {
  readonly operationId: string;
  readonly interrupts: Interrupts;
  /** The server runs inside this command: leaving kills it, so that Ctrl-C asks first. */
  readonly ownsServer?: boolean;
  /** A parked operation is followed on: late evidence may still bring it back. */
  readonly throughParked?: boolean;
  /** Ends the following early. */
  readonly until?: (opened: Opened) => boolean;
  /** Do not prompt for input, only show. */
  readonly silentQuestions?: boolean;
}

export async function follow(place: Workplace, options: FollowOptions): Promise<Ending> {
  const { output, executor } = place;
  const { operationId, interrupts, ownsServer = false } = options;
  const stop = new AbortController();
  const prompter = isInteractive() && !output.json ? new Prompter(output) : null;
  const asker = options.silentQuestions ? null : prompter;
  const questions = new Questions(place, asker, () => interrupts.raise('interrupt'));
  const leave = () => stop.abort();

  let choosing = false;
  const heard = (wish: Wish) => {
    // A second Ctrl-C, or a signal that cannot be discussed.
    if (wish === 'terminate' || !ownsServer || !prompter || choosing) return leave();
    choosing = true;
    void questions
      .suspend()
      .then(() => waitOrCancel(place, prompter, operationId, stop.signal))
      .then((choice) => {
        choosing = false;
        if (choice === 'leave') leave();
        // After a cancel was taken, nobody is asked any more.
        else if (choice === 'wait') questions.resume();
      });
  };
  if (ownsServer) prompter?.watchKeyboard(() => interrupts.raise('interrupt'));
  interrupts.listen(heard);
  executor.epochOver.addEventListener('abort', leave, { once: true });
  if (executor.epochOver.aborted) leave();
  const watch = new LedgerWatch(place.ledger, output);
  void watch.keep(stop.signal);
  let seen: string | undefined;
  try {
    let shown = '';
    for await (const opened of untilLeft(executor.follow(operationId, stop.signal), stop.signal)) {
      const line = progressLine(opened);
      // Most revisions are polls that changed nothing a human can see.
      if (line.slice(9) !== shown) output.say(line);
      shown = line.slice(9);
      seen = opened.record.state;
      place.inspection?.tell(opened);
      const question = await watch.patiently(() => questions.update(opened), stop.signal);
      output.emit({ type: 'state', ...stateView(opened), ...(question ? { question } : {}) });
      if (opened.snapshot.status === 'done') return 'over';
      if (options.until?.(opened)) return 'seen';
      if (opened.snapshot.context.parked && isParked(opened) && !options.throughParked) return 'parked';
    }
    // Looked at anew: whoever leaves as the ledger goes is not to wait for it either.
    const trouble = await watch.look();
    if (trouble === null) return executor.epochOver.aborted ? 'epochOver' : 'left';
    throw lostSight(place, operationId, { trouble, ...(seen ? { seen } : {}), ownsServer });
  } finally {
    executor.epochOver.removeEventListener('abort', leave);
    stop.abort();
    await questions.close();
    prompter?.close();
  }
}

async function waitOrCancel(
  place: Workplace,
  prompter: Prompter,
  operationId: string,
  signal: AbortSignal,
): Promise<'wait' | 'cancelled' | 'leave'> {
  const { output, executor, by } = place;
  try {
    const choice = await prompter.ask(signal, (context) =>
      select(
        {
          message:
            'The server runs inside this command. Leaving (Ctrl-C again) kills it, and what became of the call is unknown then.',
          choices: [
            { name: 'Wait for it', value: 'wait' as const },
            { name: 'Cancel the operation', value: 'cancel' as const },
          ],
          theme: { helpMode: 'never' },
        },
        context,
      ),
    );
    if (choice === 'wait') return 'wait';
    const answer = await executor.cancel(operationId, by, 'Ctrl-C');
    if (answer.kind === 'taken') return 'cancelled';
    if (answer.kind === 'already') output.say(`  ${answer.reason}`);
    if (answer.kind === 'refused') output.say(`  ${oneLine(refusalWords(answer), 300)}`);
    return 'wait';
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) return 'leave';
    output.say(`  the cancel could not be written down: ${oneLine(ledgerTrouble(error), 300)}`);
    return 'wait';
  }
}
