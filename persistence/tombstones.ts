import { z } from 'zod';
import type { Tombstone } from '../machines/operation-ledger.ts';

const FORM = /^(\d+) (\d+) (\S*) (\S*) ([0-9a-f]{64}) (\d+|-)$/;

/** The text that `purge-records` leaves and `purge-receipts` completes. */
export const tombstone = z
  .string()
  .regex(FORM)
  .transform((text) => {
    const [, settledAt, purgedAt, requestDigest, terminalState, receiptDigest, receiptPurgedAt] = FORM.exec(
      text,
    ) as string[];
    return {
      settledAt: Number(settledAt),
      purgedAt: Number(purgedAt),
      requestDigest,
      terminalState,
      receiptDigest,
      receiptPurgedAt: receiptPurgedAt === '-' ? null : Number(receiptPurgedAt),
    } as Tombstone;
  });
