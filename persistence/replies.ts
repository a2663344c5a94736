import { z } from 'zod';
import type { StoredRecord } from '../machines/operation-ledger.ts';
import { FIELD_NAMES, withBody } from './record-form.ts';
import { tombstone } from './tombstones.ts';

/** The forms of the scripts' replies: what comes from a store is checked before anybody believes it. */
export const text = z.string();
export const texts = z.array(text);
export const optionalText = text.nullable();
/** Bytes: packed. */
export const storedText = z.union([text, z.instanceof(Buffer)]);
export const optionalStoredText = storedText.nullable();
export const digits = z.string().regex(/^\d+$/);
/** What a number can hold: more digits than that would be read as another number, or as none. */
export const wholeNumber = digits.transform(Number).refine(Number.isSafeInteger);
export const milliseconds = wholeNumber;
export const flag = z.union([z.literal(0), z.literal(1)]).transform((value) => value === 1);
export const flags = z.array(z.enum(['0', '1']).transform((value) => value === '1'));

const optionalMilliseconds = z.union([z.literal('').transform(() => null), milliseconds]);

const amount = digits.transform(Number);

/** rev, body (of a hash: snapshot), state of a hash, scope, due, own, lep, unt. */
const recordFields = z.tuple([
  digits,
  storedText,
  text,
  text,
  optionalMilliseconds,
  text,
  digits,
  optionalMilliseconds,
]);

export function toRecord(operationId: string, fields: z.output<typeof recordFields>): StoredRecord {
  const [revision, body, state, scope, dueAt, owner, epoch, until] = fields;
  const lease = owner === '' || until === null ? null : { owner, epoch, until };
  return withBody({ operationId, revision, scope, dueAt, lease }, body, state);
}

/** rev, due; body and state of a hash, where the record is not as it is known. */
export const summaryRows = z.array(
  z.union([
    z.tuple([]),
    z.tuple([digits, optionalMilliseconds]),
    z.tuple([digits, optionalMilliseconds, storedText, text]),
  ]),
);

export const loaded = z.union([z.tuple([]), z.tuple([tombstone]), recordFields]);
export const adapterState = z.enum(['active', 'draining', 'disabled']);
export const side = z.enum(['operation', 'ordinary', 'shadow']);
export const executionEpoch = digits.transform(Number).refine((epoch) => Number.isSafeInteger(epoch) && epoch >= 1);
export const creationSwitch = z.enum(['on', 'off']);
const epochOver = z.tuple([z.literal('epoch-over'), executionEpoch]);
/** Why nothing may be created. */
const refused = [
  epochOver,
  z.tuple([z.literal('creation-off')]),
  z.tuple([z.literal('switched-off'), adapterState]),
] as const;
export const created = z.union([
  z.tuple([z.enum(['created', 'exists']), recordFields]),
  z.tuple([z.literal('purged'), tombstone]),
  z.tuple([z.literal('other-side'), side]),
  ...refused,
]);
const missing = z.tuple([z.literal('missing')]);
const conflict = z.tuple([z.literal('conflict'), digits]);
const otherScope = z.tuple([z.literal('scope'), text]);
export const committed = z.union([
  z.tuple([z.literal('committed'), digits]),
  missing,
  conflict,
  otherScope,
  ...refused,
  z.tuple([z.literal('older-history')]),
]);
export const accepted = z.union([
  z.tuple([z.literal('accepted'), digits]),
  z.tuple([z.literal('duplicate'), text]),
  z.tuple([z.literal('mismatch'), z.enum(FIELD_NAMES)]),
  // The body of the record that does not match.
  z.tuple([z.literal('mismatch'), z.instanceof(Buffer)]),
  missing,
  conflict,
  otherScope,
]);
/** `side at version why`, as the script writes it. */
const sideEntry = text.transform((entry, refused) => {
  const [, taken, at, version = '', why = ''] = /^(\S+) (\d+) (\S+) (.*)$/s.exec(entry) ?? [];
  const parsed = z.tuple([side, milliseconds]).safeParse([taken, at]);
  if (parsed.success) return { side: parsed.data[0], recordedAt: parsed.data[1], version, why };
  refused.addIssue(`"${entry.slice(0, 80)}" is no side`);
  return z.NEVER;
});
export const sideTaken = z.union([
  z.tuple([z.literal('record'), recordFields]),
  z.tuple([z.literal('purged'), tombstone]),
  z.tuple([z.literal('side'), sideEntry]),
  z.tuple([z.literal('rules'), text]),
  z.tuple([z.literal('none')]),
]);
/** Operation ids and records in turn. */
const claimedRows = z.array(z.union([text, recordFields])).transform((flat, context): StoredRecord[] => {
  const records: StoredRecord[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const [operationId, fields] = [flat[i], flat[i + 1]];
    if (typeof operationId === 'string' && Array.isArray(fields)) records.push(toRecord(operationId, fields));
    else context.addIssue('a claimed row is not an id and its record');
  }
  return records;
});
export const claimed = z.union([z.tuple([milliseconds, optionalMilliseconds, claimedRows]), epochOver]);
export const permitted = z.tuple([amount, milliseconds]).transform(([given, waitMs]) => ({ given, waitMs }));
export const renewed = z.union([z.tuple([z.literal('renewed'), milliseconds, digits]), z.tuple([z.literal('lost')])]);
export const released = z.tuple([z.enum(['released', 'lost'])]);
export const vitals = z.tuple([
  milliseconds,
  wholeNumber,
  text,
  optionalMilliseconds,
  wholeNumber,
  text,
  optionalMilliseconds,
  optionalMilliseconds,
]);
export const peeked = z.tuple([milliseconds, texts]);
export const audited = z.array(
  z.tuple([optionalText, optionalText, optionalText, z.enum(['', '1']), optionalText, tombstone.nullable()]),
);
/** How many rows, how many bytes. */
export const counted = z.tuple([amount, amount]);
/** Of each operation the bytes that went, or why it stays. */
export const whyItStays = z.array(z.union([z.enum(['young', 'open', 'unconsumed', 'unreceipted']), amount]));

export const mark = z.tuple([wholeNumber, wholeNumber]).transform(([epoch, number]) => ({ epoch, number }));

/** `{a, b, a, b, ...}` as pairs. */
export function pairs<T>(flat: readonly T[]): [T, T][] {
  const result: [T, T][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) result.push([flat[i] as T, flat[i + 1] as T]);
  return result;
}

export const historyEntry = z
  .object({
    at: z.number(),
    event: text,
    from: text,
    to: text,
    executor: text,
    note: text.optional(),
    refused: texts.optional(),
  })
  .transform(({ note, refused, ...entry }) => ({
    ...entry,
    ...(note === undefined ? {} : { note }),
    ...(refused === undefined ? {} : { refused }),
  }));
