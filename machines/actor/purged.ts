/** What is left of a purged operation, in words. */
import type { Tombstone } from '../operation-ledger.ts';
import { OperationError } from './operation-error.ts';

/** The operation is over and its receipt was purged: nothing more is known of it than this, and its call is never made again. */
export class OperationPurged extends OperationError {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'OperationPurged';
  constructor(
    operationId: string,
    /** How it ended, and when. */
    readonly tombstone: Tombstone,
  ) {
    super(
      operationId,
      `operation ${operationId}: ${purgedWords(tombstone)}`,
      'another call needs a node id of its own',
    );
  }
}

/** A tombstone in one sentence, for a message. */
export function purgedWords({ terminalState, settledAt, purgedAt, receiptPurgedAt }: Tombstone): string {
  const what =
    receiptPurgedAt === null
      ? `its record was purged on ${day(purgedAt)}, its receipt is still there`
      : `its receipt was purged on ${day(receiptPurgedAt)}`;
  return `this call was made and ended as ${terminalState} (consumed on ${day(settledAt)}); ${what}`;
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
