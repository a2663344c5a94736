/** How the shadows of a ledger compare with their ordinary calls (R1). */
import { operationsOf } from '../actor/operations.ts';
import type { OperationLedger } from '../operation-ledger.ts';
import { settle } from './comparison.ts';

/** How a ledger of shadows stands. All numbers count calls. */
export interface ShadowReport {
  /** Calls of which anything is known. */
  readonly calls: number;
  /** Both sides were there, and could be compared. */
  readonly compared: number;
  /** In every field. */
  readonly equal: number;
  /** In one field or more: see `fields`. */
  readonly different: number;
  /** Where they differ, and in how many calls; the most frequent first. */
  readonly fields: readonly { readonly field: string; readonly count: number }[];
  /** Of one side nothing can be compared: the shadow was refused, or came to no result; the ordinary outcome was not reported. */
  readonly missing: { readonly shadow: number; readonly ordinary: number };
  /** The shadow is still on its way. */
  readonly waiting: number;
  /** Too large, or no JSON. */
  readonly incomparable: number;
}

type Stand = 'running' | 'over';

/** Walks the ledger once; compares what nobody has compared yet. Of a ledger that is no shadow's nothing is read. */
export async function shadowReport(ledger: OperationLedger): Promise<ShadowReport> {
  if (ledger.kind !== 'shadow') throw new RangeError('this is no ledger of shadows: open it with kind "shadow"');
  const stands = new Map<string, Stand>();
  for await (const { operationId, state, dueAt } of operationsOf(ledger)) {
    // What is parked waits for a human, and nobody acts on a shadow.
    stands.set(operationId, dueAt === null || state.startsWith('PARKED') ? 'over' : 'running');
  }
  const count = { equal: 0, different: 0, incomparable: 0, waiting: 0, noShadow: 0, noOrdinary: 0 };
  const fields = new Map<string, number>();
  const reported = new Set<string>();
  for await (const { operationId, text } of ledger.comparisons()) {
    reported.add(operationId);
    const known = await settle(ledger, operationId, text);
    if (known.kind === 'ordinary') {
      count[stands.get(operationId) === 'running' ? 'waiting' : 'noShadow'] += 1;
      continue;
    }
    count[known.kind] += 1;
    if (known.kind !== 'different') continue;
    for (const field of known.fields) fields.set(field, (fields.get(field) ?? 0) + 1);
  }
  for (const [operationId, stand] of stands) {
    if (reported.has(operationId)) continue;
    count[stand === 'running' ? 'waiting' : 'noOrdinary'] += 1;
  }
  const { equal, different, incomparable, waiting } = count;
  return {
    calls: new Set([...stands.keys(), ...reported]).size,
    compared: equal + different,
    equal,
    different,
    fields: [...fields]
      .map(([field, times]) => ({ field, count: times }))
      .sort((a, b) => b.count - a.count || (a.field < b.field ? -1 : 1)),
    missing: { shadow: count.noShadow, ordinary: count.noOrdinary },
    waiting,
    incomparable,
  };
}
