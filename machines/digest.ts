import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A plain JSON value: all that a record, an event or a payload may hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Levels of nesting that every reader survives: recursion (a validator, a canonical form, the language's own writer) has an end. */
export const MAX_DEPTH = 1_000;

/**
 * Why a parsed JSON text is not taken, or `null`: it can say what nothing downstream can hold, so this is looked for
 * once, where it comes in. Without recursion of its own.
 */
export function jsonProblem(value: unknown): string | null {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
    const next: unknown[] = [];
    for (const part of level) {
      if (typeof part === 'number' && !Number.isFinite(part)) return 'it holds a number that is out of range';
      if (typeof part !== 'object' || part === null) continue;
      for (const inner of Object.values(part)) {
        if (typeof inner === 'object' || typeof inner === 'number') next.push(inner);
      }
    }
    level = next;
  }
  return null;
}

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
