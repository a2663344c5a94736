import { systemClock } from '../../machines/index.ts';
import type { Workplace } from './workplace.ts';

/** How long the parking may take, ms: it is a courtesy, any later executor does it too. */
const PATIENCE_MS = 5_000;

/**
 * Ends the executor of this command, and with it its stdio servers; then lets a successor park what they leave behind,
 * so that the ledger says it now and not when somebody notices that this process is gone.
 */
export async function abandonServer(place: Workplace, operationId: string): Promise<void> {
  const { executor, ledger } = place;
  await executor.stop();
  // From now on this process does not count as alive; at least one ms is what a sign of life lasts.
  await ledger.heartbeat(executor.processId, 1);
  await systemClock.sleep(5);
  const successor = await place.successor().start();
  for await (const { snapshot } of successor.follow(operationId, AbortSignal.timeout(PATIENCE_MS))) {
    if (snapshot.status === 'done' || snapshot.context.parked) return;
  }
}
