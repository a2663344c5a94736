import { createHash } from 'node:crypto';
import type { AcceptFields, StoredRecord } from '../machines/operation-ledger.ts';
import { pack, type Stored, unpack } from './packing.ts';

/**
 * A record is one text in the store (prelude.lua): lines that scripts read, and packed parts that they never look into. Its
 * body holds the state, the fields that accepting compares, and the snapshot; of the fields the scripts have a digest.
 */
export const FIELD_NAMES = [
  'callNode',
  'requestDigest',
  'taskId',
  'toolVersion',
  'executionEpoch',
  'cancelGeneration',
  'terminalState',
  'resultDigest',
] as const satisfies readonly (keyof AcceptFields)[];

/** How many packed bytes of a payload stay in the record, which is rewritten with each step. */
const MAX_INLINE_BYTES = 384;

export interface Body {
  readonly state: string;
  readonly fields: AcceptFields;
  readonly snapshot: string;
}

export const fieldTexts = (fields: AcceptFields): string[] => FIELD_NAMES.map((name) => fields[name]);

export function packBody({ state, fields, snapshot }: Body, operationId: string): Buffer {
  return pack(`${JSON.stringify([state, ...fieldTexts(fields)])}\n${snapshot}`, operationId);
}

/** @throws LedgerIncompatible as `unpack` */
export function openBody(stored: Stored, operationId: string): Body {
  const text = unpack(stored, operationId);
  const end = text.indexOf('\n');
  const [state = '', ...values] = JSON.parse(text.slice(0, end)) as string[];
  const fields = Object.fromEntries(FIELD_NAMES.map((name, i) => [name, values[i] ?? ''])) as unknown as AcceptFields;
  return { state, fields, snapshot: text.slice(end + 1) };
}

/** 192 bits: whoever chooses a field cannot find another one that is as good. */
export const fieldsDigest = (fields: AcceptFields): string => digest(JSON.stringify(fieldTexts(fields)), 24);

/** Commands are compared with the last two of a record only. */
export const shortCommand = (commandId: string): string => digest(commandId, 12);

/** The name of a payload inside of its record. */
export const payloadTag = (payload: string): string => digest(payload, 16);

/** The payload as a script takes it: packed where that is small enough to stay in the record. */
export function payloadArgs(payload: string, text: string, operationId: string): [string, string, Stored] {
  const packed = text.length <= MAX_INLINE_BYTES * 8 ? pack(text, operationId) : null;
  return [payloadTag(payload), payload, packed !== null && packed.length <= MAX_INLINE_BYTES ? packed : text];
}

/** A record with what its body says; one that cannot be opened throws when somebody looks at its snapshot. */
export function withBody(
  record: Omit<StoredRecord, 'state' | 'snapshot'>,
  stored: Stored,
  state: string,
): StoredRecord {
  if (typeof stored === 'string') return { ...record, state, snapshot: stored };
  try {
    const body = openBody(stored, record.operationId);
    return { ...record, state: body.state, snapshot: body.snapshot };
  } catch (error) {
    // One of many: those that were read with it go on.
    return {
      ...record,
      state: '',
      get snapshot(): string {
        throw error;
      },
    };
  }
}

const digest = (text: string, bytes: number): string =>
  createHash('sha256').update(text).digest().subarray(0, bytes).toString('base64url');

/** Which of the expected fields is not as the body of the record says. */
export function mismatchIn(
  stored: Stored,
  { operationId, expected }: { readonly operationId: string; readonly expected: AcceptFields },
): keyof AcceptFields {
  const { fields } = openBody(stored, operationId);
  return FIELD_NAMES.find((name) => fields[name] !== expected[name]) ?? 'callNode';
}
