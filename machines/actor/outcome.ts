import { z } from 'zod';
import type { OperationLedger } from '../operation-ledger.ts';
import type { Payload } from '../operation-protocol.ts';
import type { TerminalReceipt } from '../tool-operation/receipt.ts';
import { openPayload } from './effects/result.ts';
import { OperationPurged } from './purged.ts';

/** A terminal receipt and, where it was released, what the call returned. */
export interface TerminalOutcome {
  /** As the ledger has it; there is none without an acceptance (B12). */
  readonly receipt: TerminalReceipt;
  /** `null` unless the receipt says `released` (B12). */
  readonly output: Payload | null;
  /** It was released, and purged since then: only its digest is left, in the receipt. */
  readonly outputPurged?: true;
}

const StoredReceipt = z.looseObject({ schema: z.literal('terminalReceipt.v1'), operationId: z.string() });

/**
 * Reads the receipt of an operation, and its output where that was released (B12). Throws on a ledger of shadows: what they
 * come to is compared, and is nobody's outcome (R1).
 */
export async function readOutcome(ledger: OperationLedger, operationId: string): Promise<TerminalOutcome | null> {
  if (ledger.kind === 'shadow') {
    throw new Error(`${operationId} is a shadow: what it came to is only compared, and is not the outcome of a call`);
  }
  return readTerminal(ledger, operationId);
}

/** The same, of any ledger: for what does not go on to a caller. */
export async function readTerminal(ledger: OperationLedger, operationId: string): Promise<TerminalOutcome | null> {
  const text = await ledger.readReceipt(operationId);
  return text === null ? null : openTerminal(ledger, operationId, text);
}

/** The same of a receipt that was read, in a ready row. */
export async function openTerminal(
  ledger: OperationLedger,
  operationId: string,
  text: string,
): Promise<TerminalOutcome> {
  const receipt = StoredReceipt.parse(JSON.parse(text)) as unknown as TerminalReceipt;
  if (!receipt.released || receipt.resultDigest === null) return { receipt, output: null };
  const payload = await ledger.readPayload(operationId, receipt.resultDigest);
  if (payload === null) return { receipt, output: null, ...(await isPurged(ledger, operationId)) };
  const value = openPayload(payload, receipt.resultKind ?? 'result');
  return {
    receipt,
    output: (receipt.resultKind === 'error'
      ? { kind: 'error', value }
      : { kind: 'result', value, isError: receipt.isError }) as Payload,
  };
}

/** The outcome of an operation that is over. Throws `OperationPurged` where only a tombstone is left. */
export async function finalOutcome(ledger: OperationLedger, operationId: string): Promise<TerminalOutcome> {
  const outcome = await readOutcome(ledger, operationId);
  if (outcome) return outcome;
  const found = await ledger.find(operationId);
  if (found.kind === 'purged') throw new OperationPurged(operationId, found.tombstone);
  throw new Error(`operation ${operationId} ended without a receipt`);
}

const isPurged = async (ledger: OperationLedger, operationId: string): Promise<{ outputPurged?: true }> =>
  (await ledger.find(operationId)).kind === 'purged' ? { outputPurged: true } : {};
