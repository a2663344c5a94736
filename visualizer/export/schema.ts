/** An exported operation: what a bug report needs, and what a later machine can be tried on. */
import { z } from 'zod';
import { OperationView } from '../view/schema.ts';

export const EXPORT_SCHEMA = 'toolop.operationExport';
export const EXPORT_VERSION = 1;

const Entry = z.strictObject({
  at: z.number(),
  event: z.string(),
  from: z.string(),
  to: z.string(),
  executor: z.string(),
  note: z.string().optional(),
  refused: z.array(z.string()).optional(),
});

export const OperationExport = z.strictObject({
  schema: z.literal(EXPORT_SCHEMA),
  version: z.literal(EXPORT_VERSION),
  exportedAt: z.number(),
  /** Ids are digests, and the words of servers and users are left out. */
  redacted: z.boolean(),
  machine: z.strictObject({ id: z.string(), version: z.number() }),
  /** As it is shown. */
  view: OperationView,
  /** The record as the ledger has it: its state and its context. */
  record: z.strictObject({ state: z.string(), revision: z.string(), value: z.json(), context: z.json() }),
  history: z.array(Entry),
  /** The arguments of the call, only where they were asked for. */
  arguments: z.json().nullable(),
});
export type OperationExport = z.infer<typeof OperationExport>;
