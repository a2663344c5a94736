import type { Opened } from '../../../machines/actor/store.ts';
import { conclude } from '../conclude.ts';
import type { ExitCode } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { Interrupts } from '../interrupts.ts';
import { orLoseSight } from '../lost-sight.ts';
import { isParked, stateView } from '../views.ts';
import type { Workplace } from '../workplace.ts';

/** `--wait`: after a request was written down, follows until its effect is seen. */
export async function waitForEffect(
  place: Workplace,
  operationId: string,
  until: (opened: Opened) => boolean,
): Promise<ExitCode> {
  const { output, executor } = place;
  const interrupts = new Interrupts({ early: () => undefined, impatient: () => undefined });
  try {
    return await orLoseSight(place, operationId, async () => {
      // Serves no server of its own, but what a dead process left behind is carried on.
      await executor.start();
      const opened = await executor.load(operationId);
      if (opened && !isParked(opened)) output.say(output.paint.dim(ifNothingMoves(place, opened)));
      const ending = await follow(place, { operationId, interrupts, until, silentQuestions: true });
      return conclude(place, operationId, {
        ending,
        leaving: ending === 'seen' ? ['done'] : ['stopped waiting; the request stands'],
        quietOutput: true,
      });
    });
  } finally {
    interrupts.close();
  }
}

function ifNothingMoves(place: Workplace, { snapshot }: Opened): string {
  const { endpoint, operationId } = snapshot.context;
  return endpoint.kind === 'http'
    ? `if nothing moves, nobody serves it: ${place.hint('attach', operationId)}`
    : 'only the process that runs its stdio server can obey; if that is dead, it shows within half a minute';
}

/** The answer of a command that does not wait. */
export function tellTaken(place: Workplace, opened: Opened, words: string): void {
  place.output.say(words);
  place.output.emit({ type: 'taken', exitCode: 0, ...stateView(opened) });
}
