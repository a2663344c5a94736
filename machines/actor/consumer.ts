/** Consumes ready rows: each accepted call node once (B12), leased while it is handled and acknowledged after it. */
import type { OperationLedger, ReadyRow } from '../operation-ledger.ts';
import { type Clock, systemClock } from './clock.ts';
import { openTerminal, type TerminalOutcome } from './outcome.ts';
import { measureDelivery } from './telemetry/measure.ts';
import { inDelivery } from './telemetry/steps.ts';

/** Who consumes what, and how fast. */
export interface ConsumerOptions {
  /** One of operations: shadows have no ready rows (R1). */
  readonly ledger: OperationLedger;
  /** Names this consumer in leases. */
  readonly consumer: string;
  /**
   * Acts on one outcome. A rejection leaves the row for a later try, so acting must be safe to repeat: the lease may
   * end while it runs.
   */
  readonly handle: (outcome: TerminalOutcome) => Promise<void>;
  /** How long a row is kept from other consumers, ms: longer than `handle` takes. Default 30 s. */
  readonly leaseMs?: number;
  /** How many are leased and handled at the same time. Default: 16. */
  readonly limit?: number;
  /** Longest pause between two looks, ms. */
  readonly idleMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Hears of what is tried again; `operationId`: `null` where the ledger could not be asked. Default: nobody. */
  readonly onError?: (error: Error, operationId: string | null) => void;
}

/**
 * Runs until `signal` aborts and what is being handled by then is handled. Errors of the ledger and of `handle` are told to
 * `onError` and tried again.
 */
export async function consumeReady(options: ConsumerOptions, signal: AbortSignal): Promise<void> {
  const { ledger, consumer, leaseMs = 30_000, limit = 16, idleMs = 1_000, clock = systemClock } = options;
  const report = options.onError ?? (() => undefined);
  const handled = new Set<Promise<void>>();
  let freed: () => void = () => undefined;
  /** Partitions in which a row became ready since they were looked at. */
  const fresh = new Set<number>();
  let everywhereAt = Number.NEGATIVE_INFINITY;
  let woken = new AbortController();
  const wake = () => woken.abort(NEWS);
  const unsubscribe = ledger.onChange((operationId, news) => {
    const partition = news === 'ready' ? ledger.partitionOf(operationId) : null;
    if (partition === null) return;
    fresh.add(partition);
    wake();
  });
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      woken = new AbortController();
      const room = limit - handled.size;
      // What nobody announced: of a lost nudge, and of consumers whose lease ended.
      const everywhere = clock.monotonic() - everywhereAt >= idleMs;
      if (room <= 0) {
        // Not a race of all: one that is handled for long would keep every race that it was in.
        await new Promise<void>((resolve) => {
          freed = resolve;
        });
      } else if (everywhere || fresh.size > 0) {
        const partitions = [...fresh];
        fresh.clear();
        if (everywhere) everywhereAt = clock.monotonic();
        const rows = await ledger
          .leaseReady(consumer, room, leaseMs, ...(everywhere ? [] : [partitions]))
          .catch((error: Error) => report(error, null));
        for (const row of rows ?? []) {
          const one: Promise<void> = handle(options, row).catch((error: Error) => report(error, row.operationId));
          handled.add(one);
          void one.then(() => {
            handled.delete(one);
            freed();
          });
        }
        // There may be more than there was room for.
        if (rows?.length === room && everywhere) everywhereAt = Number.NEGATIVE_INFINITY;
        else if (rows?.length === room) for (const partition of partitions) fresh.add(partition);
      } else {
        await clock.sleep(everywhereAt + idleMs - clock.monotonic(), woken.signal);
      }
    }
    await Promise.all(handled);
  } finally {
    signal.removeEventListener('abort', wake);
    unsubscribe();
  }
}

/** A reason that is made once: without one each abort makes an error. */
const NEWS = 'a row became ready';

async function handle({ ledger, consumer, handle }: ConsumerOptions, row: ReadyRow): Promise<void> {
  await inDelivery(ledger, consumer, row.operationId, async () => {
    const outcome = await openTerminal(ledger, row.operationId, row.receipt);
    await handle(outcome);
    if (await ledger.ackReady(row, consumer)) measureDelivery(outcome.receipt.outcome);
  });
}
