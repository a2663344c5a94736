/** Operations that are over, and their purge: what the tests of retention begin with. */
import { createHash } from 'node:crypto';
import type { RetentionPolicy } from '../../../machines/operation-ledger.ts';
import type { Bench } from './bench.ts';
import { acceptStep, newOperation, step } from './steps.ts';

export const HOUR = 3_600_000;
export const RECORDS: RetentionPolicy = { recordsMs: HOUR, receiptsMs: null, tombstonesMs: null };
export const RECEIPTS: RetentionPolicy = { recordsMs: HOUR, receiptsMs: 2 * HOUR, tombstonesMs: null };
export const ALL: RetentionPolicy = { recordsMs: HOUR, receiptsMs: 2 * HOUR, tombstonesMs: 3 * HOUR };
export const PAYLOAD = { digest: 'b'.repeat(64), text: '"a payload"' };

export const digestOf = (receipt: string): string => createHash('sha256').update(receipt, 'utf8').digest('hex');

export function overIn(bench: Bench) {
  const { expect } = bench;
  /** One with a payload, which is not over. */
  const createOpen = async (): Promise<string> => {
    const operationId = newOperation(bench.ledger);
    await bench.ledger.create(step(operationId, { payloads: [PAYLOAD] }), null);
    return operationId;
  };
  const accept = async (): Promise<string> => {
    const operationId = await createOpen();
    await bench.ledger.acceptTerminal(acceptStep(operationId, '1'));
    return operationId;
  };
  const consumeAll = async (): Promise<void> => {
    const { ledger } = bench;
    for (const row of await ledger.leaseReady('c', 100, 1000)) expect(await ledger.ackReady(row, 'c')).toBe(true);
  };
  const consumed = async (): Promise<string> => {
    const operationId = await accept();
    await consumeAll();
    return operationId;
  };
  const purge = (policy = RECORDS, dryRun = false) => bench.ledger.purge({ policy, dryRun });
  /** How many records, receipts and tombstones go. */
  const counts = async (policy = RECORDS, dryRun = false) => {
    const { records, receipts, tombstones } = await purge(policy, dryRun);
    return [records.count, receipts.count, tombstones.count];
  };
  return { createOpen, accept, consumeAll, consumed, purge, counts };
}
