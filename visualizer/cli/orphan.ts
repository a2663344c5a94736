import { systemClock } from '../../machines/index.ts';
import type { Workplace } from './workplace.ts';

/** How long the parking may take, ms: it is a courtesy, any later executor does it too. */
const PATIENCE_MS = 15_000;

/**
 * Ends the executor of this command, and with it its stdio servers; then lets a successor park what they leave behind,
 * so that the ledger says it now and not when somebody notices that this process is gone.
 */
export async function abandonServer(place: Workplace, operationId: string): Promise<void> {
  await place.executor.stop();
  // The last sign of life of the stopped executor lasts one ms.
  await systemClock.sleep(5);
  const successor = await place.successor().start();
  for await (const { snapshot } of successor.follow(operationId, AbortSignal.timeout(PATIENCE_MS))) {
    if (snapshot.status === 'done' || snapshot.context.parked) return;
  }
}
