/** What of two outcomes is compared (R1): digests by field, never the values. Pure. */
import { canonicalJson, jsonProblem, sha256 } from '../digest.ts';
import type { Payload } from '../operation-protocol.ts';

/** Digest of the canonical JSON of each field, by its path. */
export type FieldDigests = Readonly<Record<string, string>>;

/** Paths after so many are one field, `…`, together: what a server sends does not decide how much is kept. */
const MAX_FIELDS = 200;
const MAX_NAME_BYTES = 80;

/**
 * The fields of an outcome. A result: `isError`, each item of `content`, each top-level key of `structuredContent`; a result
 * without these two (AIP-151) by its own top-level keys. An error: `code`, `message`, `data`. `_meta` says how a result came
 * about, and is left out. Throws a `RangeError` for what is larger than `maxBytes`, a `TypeError` for what is no JSON.
 */
export function fieldsOf(payload: Payload, maxBytes: number): FieldDigests {
  const problem = jsonProblem(payload.value);
  if (problem !== null) throw new TypeError(problem);
  const digests: [path: string, digest: string][] = [];
  let bytes = 0;
  for (const [path, value] of parts(payload)) {
    if (value === undefined) continue;
    const text = canonicalJson(value);
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes) throw new RangeError(`it is larger than ${maxBytes} bytes`);
    digests.push([path, sha256(text)]);
  }
  const rest = digests.splice(MAX_FIELDS);
  if (rest.length > 0) digests.push(['…', sha256(canonicalJson(rest.sort(([a], [b]) => (a < b ? -1 : 1))))]);
  return Object.fromEntries(digests);
}

function* parts(payload: Payload): Generator<readonly [path: string, value: unknown]> {
  yield ['kind', payload.kind];
  if (payload.kind === 'error') {
    const { code, message, data } = payload.value;
    yield* Object.entries({ code, message, data }).map(([name, value]) => [`error.${name}`, value] as const);
    return;
  }
  yield ['isError', payload.isError];
  const { value } = payload;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield ['value', value];
    return;
  }
  const { _meta, isError, content, structuredContent, ...others } = value as Readonly<Record<string, unknown>>;
  if (content === undefined && structuredContent === undefined) {
    yield* keysOf('value.', others);
    return;
  }
  if (Array.isArray(content)) yield* content.map((item, index) => [`content[${index}]`, item] as const);
  else yield ['content', content];
  if (typeof structuredContent === 'object' && structuredContent !== null) {
    yield* keysOf('structuredContent.', structuredContent);
  } else yield ['structuredContent', structuredContent];
}

/** In the order of their names: which of many are counted together must not depend on how they were sent. */
function keysOf(prefix: string, value: object): (readonly [string, unknown])[] {
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => [prefix + nameOf(name), field] as const);
}

const nameOf = (name: string): string =>
  Buffer.byteLength(JSON.stringify(name)) > MAX_NAME_BYTES ? `#${sha256(name).slice(0, 16)}` : name;

/** The paths where two outcomes differ, or that only one of them has. */
export function differences(one: FieldDigests, other: FieldDigests): readonly string[] {
  const paths = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...paths].filter((path) => digestAt(one, path) !== digestAt(other, path));
}

const digestAt = (fields: FieldDigests, path: string): string | null =>
  Object.hasOwn(fields, path) ? (fields[path] as string) : null;
