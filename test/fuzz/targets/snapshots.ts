/** Stored records: what cannot be opened is refused by name, and what can is a record of this chart. */
import fc from 'fast-check';
import type { Json } from '../../../machines/digest.ts';
import { LedgerIncompatible } from '../../../machines/operation-ledger.ts';
import { owedEffect, readSnapshot, writeSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import { assertOpensAgain } from '../checks.ts';
import { byteEdits, bytesOf, edited, edits, json, strings } from '../dirt.ts';
import { SITUATIONS } from '../situations.ts';
import { target } from '../target.ts';

const TEXTS = SITUATIONS.map((snapshot) => JSON.parse(writeSnapshot(snapshot)) as { value: Json; context: Json });

const value = fc.oneof(
  strings,
  fc.constantFrom('WORKING', 'ACCEPTED', 'constructor', '__proto__', 'WORKING.polling', '#toolOperation.WORKING'),
  fc.dictionary(fc.constantFrom('WORKING', 'PARKED', 'ACCEPTED', 'constructor', '__proto__'), strings, { maxKeys: 2 }),
  fc
    .constantFrom('polling', 'toString', 'constructor', '__proto__', '', 'watching')
    .map((inside) => ({ WORKING: inside })),
);

export const snapshots = target<string>({
  name: 'snapshots',
  about: 'stored records, damaged in any way',
  share: 230,
  open: () => ({
    inputs: fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(fc.constantFrom(...TEXTS), edits, byteEdits)
          .map(([record, list, bytes]) => bytesOf(edited(record as Json, list), bytes).toString('utf8')),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom(...TEXTS), value)
          .map(([record, state]) => JSON.stringify({ ...record, value: state })),
      },
      { weight: 1, arbitrary: json.map((any) => JSON.stringify(any) ?? '') },
      { weight: 1, arbitrary: strings },
    ),
    feed(text) {
      try {
        const snapshot = readSnapshot('p00.x', text);
        assertOpensAgain(snapshot);
        owedEffect(snapshot);
        return 'accepted';
      } catch (error) {
        if (error instanceof LedgerIncompatible) return 'refused';
        throw error;
      }
    },
  }),
});
