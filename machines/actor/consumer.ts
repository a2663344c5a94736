/** Consumes ready rows: each accepted call node once (B12), leased while it is handled and acknowledged after it. */
import type { OperationLedger } from '../operation-ledger.ts';
import { type Clock, systemClock } from './clock.ts';
import { readOutcome, type TerminalOutcome } from './outcome.ts';
import { measureDelivery } from './telemetry/measure.ts';
import { inDelivery } from './telemetry/steps.ts';

export interface ConsumerOptions {
  readonly ledger: OperationLedger;
  /** Names this consumer in leases. */
  readonly consumer: string;
  /**
   * Acts on one outcome. A rejection leaves the row for a later try, so acting must be safe to repeat: the lease may
   * end while it runs.
   */
  readonly handle: (outcome: TerminalOutcome) => Promise<void>;
  readonly leaseMs?: number;
  readonly limit?: number;
  /** Longest pause between two looks, ms. */
  readonly idleMs?: number;
  readonly clock?: Clock;
  readonly onError?: (error: Error, operationId: string | null) => void;
}

/** Runs until `signal` aborts. Errors of the ledger and of `handle` are told to `onError` and tried again. */
export async function consumeReady(options: ConsumerOptions, signal: AbortSignal): Promise<void> {
  const { ledger, consumer, handle, leaseMs = 30_000, limit = 16, idleMs = 1_000, clock = systemClock } = options;
  const report = options.onError ?? (() => undefined);
  let news = new AbortController();
  const unsubscribe = ledger.onChange(() => news.abort());
  try {
    while (!signal.aborted) {
      news = new AbortController();
      const rows = await ledger.leaseReady(consumer, limit, leaseMs).catch((error: Error) => {
        report(error, null);
        return [];
      });
      for (const row of rows) {
        if (signal.aborted) return;
        try {
          await inDelivery(ledger, consumer, row.operationId, async () => {
            const outcome = await readOutcome(ledger, row.operationId);
            if (!outcome) throw new Error('a ready row without a receipt');
            await handle(outcome);
            if (await ledger.ackReady(row, consumer)) measureDelivery(outcome.receipt.outcome);
          });
        } catch (error) {
          report(error as Error, row.operationId);
        }
      }
      if (rows.length === 0) await clock.sleep(idleMs, AbortSignal.any([signal, news.signal]));
    }
  } finally {
    unsubscribe();
  }
}
