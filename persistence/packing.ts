import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LedgerIncompatible } from '../machines/operation-ledger.ts';
import { DICTIONARIES } from './dictionaries.ts';

/** What a packed text begins with: no UTF-8 text does. The number of its dictionary follows, or `AS_IS`. */
const PACKED = 0xff;
const AS_IS = 0;
/** Nothing larger is packed, so nothing that is larger when it is opened can be true (a compression bomb). */
const MAX_PACKED_BYTES = 1024 ** 2;

/** A text as it stands in the store: packed, or as it is. */
export type Stored = string | Buffer;

/** The fastest: with the dictionary the best one finds a few bytes more, and takes half as long again. */
const LEVEL = 1;

export const isPacked = (bytes: Uint8Array): boolean => bytes[0] === PACKED;

/** The newest dictionary, and the id of the operation: what belongs to it names it again and again. */
export function pack(text: string, operationId: string): Buffer {
  if (text.length > MAX_PACKED_BYTES || Buffer.byteLength(text) > MAX_PACKED_BYTES) return marked(AS_IS, text);
  const number = DICTIONARIES.length;
  return marked(number, deflateRawSync(text, { dictionary: dictionary(number, operationId), level: LEVEL }));
}

/** @throws LedgerIncompatible it was packed by a newer version, or is damaged */
export function unpack(stored: Stored, operationId: string): string {
  if (typeof stored === 'string') return stored;
  const [, number = -1] = stored;
  const bytes = stored.subarray(2);
  if (number === AS_IS) return Buffer.from(bytes).toString('utf8');
  if (number < 0 || number > DICTIONARIES.length) {
    throw new LedgerIncompatible(
      `the record ${operationId} was packed with dictionary ${number}, this version knows up to ${DICTIONARIES.length}; it was left untouched. Upgrade this executor.`,
    );
  }
  try {
    const options = { dictionary: dictionary(number, operationId), maxOutputLength: MAX_PACKED_BYTES };
    return inflateRawSync(bytes, options).toString('utf8');
  } catch (error) {
    throw new LedgerIncompatible(
      `the record ${operationId} cannot be unpacked (${(error as Error).message}); it was left untouched. Restore it from a backup or give the operation up.`,
    );
  }
}

const marked = (number: number, content: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([PACKED, number]), typeof content === 'string' ? Buffer.from(content) : content]);

const dictionary = (number: number, operationId: string): Buffer =>
  Buffer.from((DICTIONARIES[number - 1] ?? '') + operationId);
