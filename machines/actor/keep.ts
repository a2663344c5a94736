import { LedgerUnavailable } from '../operation-ledger.ts';
import type { Environment } from './environment.ts';
import type { Told } from './facts.ts';
import { wordsOf } from './log.ts';
import type { Applied, ApplyOptions, Opened } from './store.ts';

const RETRY_MS = 500;

/**
 * Takes a step of the ledger, however long the ledger is away: what a server said once may not be had a second time.
 * `stopping` gives up, with the ledger's error.
 */
export async function untilDefinite<T>(
  env: Pick<Environment, 'clock' | 'log'>,
  operationId: string,
  what: string,
  stopping: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof LedgerUnavailable) || stopping.aborted) throw error;
      env.log({ level: 'warn', event: 'fact.kept', operationId, detail: { what, why: wordsOf(error) } });
      await env.clock.sleep(RETRY_MS, stopping);
    }
  }
}

/** Has a fact committed. Applying it again is harmless: what was taken in already is refused as stale. */
export function applyKept(
  env: Pick<Environment, 'store' | 'clock' | 'log'>,
  operationId: string,
  { event, payloads }: Told,
  stopping: AbortSignal,
  options: ApplyOptions = {},
  known?: Opened,
): Promise<Applied> {
  return untilDefinite(env, operationId, event.type, stopping, () =>
    env.store.apply(operationId, event, { payloads, ...options }, known),
  );
}
