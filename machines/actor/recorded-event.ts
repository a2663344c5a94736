/** What an executor can write down of each event that it applied: enough to apply it again, to another version of the chart. */
import { z } from 'zod';
import type { OperationEvent } from '../tool-operation/events.ts';

/** A record in its stored form is at most this long, and an event brings less. */
const MAX_TEXT = 4_000_000;
const Stored = z.string().max(MAX_TEXT);

/**
 * One event that was applied to a committed record, and its schema. It holds what the record holds (ids, words of the server): keep it where the
 * ledger may be kept.
 */
export const RecordedEvent = z.strictObject({
  schema: z.literal('toolop.recordedEvent'),
  version: z.literal(1),
  operationId: z.string().min(1).max(200),
  /** Of the record before the event. */
  revision: z.string().regex(/^\d{1,20}$/),
  /** The record's snapshot before it, in the stored form (JSON text). */
  before: Stored,
  /** As the executor gave it to the chart; `at` is ms of the ledger's clock. */
  event: z.looseObject({ type: z.string().max(100), at: z.number() }),
  /** The snapshot that was committed for it; `null`: it was refused, and nothing changed. */
  after: Stored.nullable(),
});
/** What the schema reads. It leaves open what an event of this type holds: the chart that meets it says. */
export type RecordedEvent = Omit<z.infer<typeof RecordedEvent>, 'event'> & { readonly event: OperationEvent };
