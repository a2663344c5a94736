import { LedgerUnavailable } from '../../machines/index.ts';
import { ExitCode } from './exit-codes.ts';
import { CliFailure, ledgerTrouble } from './failure.ts';
import { oneLine, shortId } from './text.ts';
import type { Workplace } from './workplace.ts';

export interface Glimpse {
  /** Why the ledger does not answer. */
  readonly trouble: string;
  /** The last committed state that was seen, in words. */
  readonly seen?: string;
  /** The stdio server runs inside this command, and ends with it. */
  readonly ownsServer?: boolean;
}

/** The operation exists and cannot be seen: making the call again would make another one, following it does not. */
export function lostSight(place: Workplace, operationId: string, glimpse: Glimpse): CliFailure {
  const { trouble, seen, ownsServer = false } = glimpse;
  const last = seen === undefined ? '' : `; it was last seen in ${seen}`;
  return new CliFailure(
    ExitCode.ledger,
    `the ledger does not answer (${trouble}): where ${shortId(operationId)} stands is not known${oneLine(last, 200)}`,
    `once the ledger answers: ${place.hint('attach', operationId)}`,
    { operationId, seen: seen ?? null },
    ownsServer
      ? ['its stdio server ends with this command: the next command on this ledger parks the operation']
      : ['nothing was cancelled: the call goes on at its server'],
  );
}

/** Work on an operation that is known to exist: an absent ledger is told with the way back to it. */
export async function orLoseSight<T>(place: Workplace, operationId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    throw lostSight(place, operationId, { trouble: ledgerTrouble(error) });
  }
}
