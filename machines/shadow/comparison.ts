/** What is kept of a shadow beside its ordinary call, in the ledger of shadows: first the ordinary side, then how they compare. */
import { z } from 'zod';
import { readTerminal } from '../actor/outcome.ts';
import { LedgerIncompatible, type OperationLedger } from '../operation-ledger.ts';
import type { Payload } from '../operation-protocol.ts';
import { differences, fieldsOf } from './fields.ts';

/** What the ordinary call came to, as the caller has it. */
export type OrdinaryOutcome = Payload;

const MAX_PATHS = 50;
const digests = z.record(z.string().max(300), z.string().regex(/^[0-9a-f]{64}$/));
export const Comparison = z.discriminatedUnion('kind', [
  /** The ordinary call is over; the shadow is not compared with it yet. */
  z.strictObject({ kind: z.literal('ordinary'), fields: digests }),
  z.strictObject({ kind: z.literal('equal') }),
  z.strictObject({ kind: z.literal('different'), fields: z.array(z.string().max(300)).min(1).max(MAX_PATHS) }),
  /** One of the two cannot be compared. */
  z.strictObject({ kind: z.literal('incomparable'), why: z.string().max(300) }),
]);
export type Comparison = z.infer<typeof Comparison>;

export function readComparison(operationId: string, text: string): Comparison {
  const parsed = Comparison.safeParse(json(text));
  if (parsed.success) return parsed.data;
  throw new LedgerIncompatible(
    `the comparison of the shadow ${operationId} cannot be read: ${parsed.error.issues[0]?.message}; it was left untouched`,
  );
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Records the ordinary side of a shadow, by digests. The first report stays: it is the one that stood beside the shadow. */
export async function recordOrdinary(ledger: OperationLedger, operationId: string, entry: Comparison): Promise<void> {
  await ledger.setComparison(operationId, null, JSON.stringify(entry));
}

/** The ordinary side, or why it cannot be compared. Never throws, whatever a caller hands over. */
export function ordinarySide(outcome: OrdinaryOutcome, maxBytes: number): Comparison {
  try {
    return { kind: 'ordinary', fields: fieldsOf(asJson(outcome), maxBytes) };
  } catch (error) {
    return incomparable('the ordinary outcome', error);
  }
}

/** As it would be on the wire: a caller may hand over anything, circles included. */
function asJson(outcome: OrdinaryOutcome): OrdinaryOutcome {
  const text = JSON.stringify(outcome.value);
  if (text === undefined) throw new TypeError('it has no JSON form');
  return { ...outcome, value: JSON.parse(text) } as OrdinaryOutcome;
}

/**
 * Compares, once both sides are there, and keeps the verdict. Safe to repeat, at any time and by anybody.
 */
export async function compare(ledger: OperationLedger, operationId: string): Promise<void> {
  const text = await ledger.comparison(operationId);
  if (text !== null) await settle(ledger, operationId, text);
}

/** The same, of an entry as it was read. Answers what is known now. */
export async function settle(ledger: OperationLedger, operationId: string, text: string): Promise<Comparison> {
  const known = readComparison(operationId, text);
  if (known.kind !== 'ordinary') return known;
  const outcome = await readTerminal(ledger, operationId);
  if (outcome?.output == null) return known;
  const verdict = verdictOf(known.fields, outcome.output, ledger.maxPayloadBytes);
  return readComparison(operationId, await ledger.setComparison(operationId, text, JSON.stringify(verdict)));
}

function verdictOf(ordinary: z.infer<typeof digests>, shadow: Payload, maxBytes: number): Comparison {
  try {
    const found = differences(ordinary, fieldsOf(shadow, maxBytes));
    return found.length === 0 ? { kind: 'equal' } : { kind: 'different', fields: found.slice(0, MAX_PATHS) };
  } catch (error) {
    return incomparable('the shadow', error);
  }
}

const incomparable = (which: string, error: unknown): Comparison => ({
  kind: 'incomparable',
  why: `${which}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 300),
});
