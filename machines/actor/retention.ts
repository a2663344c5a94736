/** How long what is over is kept (issue 5.5; B12): the policy, checked, and its defaults. */
import { z } from 'zod';
import type { OperationLedger, PurgeReport } from '../operation-ledger.ts';

const DAY_MS = 86_400_000;
/** A hundred years: what is meant to be longer is for ever. */
const MAX_AGE_MS = 36_500 * DAY_MS;

const age = z.number().int().min(0).max(MAX_AGE_MS).nullable();
const longer = (one: number | null, other: number | null): boolean =>
  (other ?? Number.POSITIVE_INFINITY) >= (one ?? Number.POSITIVE_INFINITY);

/**
 * Ages in ms of the ledger's clock, from when the receipt was consumed; `null`: for ever. What is not over, what is parked and
 * what waits for its consumer has no age.
 */
export const Retention = z
  .strictObject({
    /** Records with their inputs, results and history. */
    recordsMs: age.default(30 * DAY_MS),
    /** Receipts. */
    receiptsMs: age.default(null),
    /** What is left after that: keeps a call node from making its call again. */
    tombstonesMs: age.default(null),
  })
  .refine(({ recordsMs, receiptsMs }) => longer(recordsMs, receiptsMs), {
    message: 'receipts stay at least as long as their records (receiptsMs >= recordsMs)',
  })
  .refine(({ receiptsMs, tombstonesMs }) => longer(receiptsMs, tombstonesMs), {
    message: 'tombstones stay at least as long as the receipts (tombstonesMs >= receiptsMs)',
  });
/** What the schema of this name gives: every age filled in. */
export type Retention = z.infer<typeof Retention>;
/** Records for 30 days; receipts and tombstones for ever. */
export const DEFAULT_RETENTION: Retention = Retention.parse({});

/** Purges what the policy lets go. Throws a `ZodError` for a policy that is none. */
export async function purge(
  ledger: OperationLedger,
  policy: z.input<typeof Retention> = {},
  options: { readonly dryRun?: boolean; readonly signal?: AbortSignal } = {},
): Promise<PurgeReport> {
  return ledger.purge({ policy: Retention.parse(policy), ...options });
}
