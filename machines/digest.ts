import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A plain JSON value: all that a record, an event or a payload may hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** SHA-256 of a text, as lower-case hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** RFC 8785 canonical JSON. Throws a `TypeError` for what JSON cannot hold (a function, `undefined` at the top). */
export function canonicalJson(value: unknown): string {
  // The package's types describe CommonJS, where the function is also the module.
  const text = (canonicalize as unknown as (input: unknown) => string | undefined)(value);
  if (text === undefined) throw new TypeError('this value has no JSON form');
  return text;
}

/** SHA-256 of the canonical JSON of a value (brief B3: request digest, result digest, schema digest). */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}
