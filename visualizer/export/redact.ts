/**
 * What leaves the machine in a bug report. Ids that open something are digests; words of servers and users, which may quote
 * arguments and results, are left out, with their length: what happened is told by states, events, guards and times.
 */
import { digested, hiding } from '../cli/redact.ts';

const LEFT_OUT = new Set(['statusMessage', 'note', 'message', 'url', 'server']);
/** A reason is a word of the protocol where it parked, and somebody's own words elsewhere. */
const WORDS_IN = new Set(['cancel', 'receipt', 'notSubmitted']);
const DIGESTS: Readonly<Record<string, string>> = {
  taskId: 'task',
  sessionId: 'session',
  submissionKey: 'key',
  principal: 'principal',
  requestedBy: 'person',
  by: 'person',
};

const leftOut = (value: unknown): string | null => {
  if (value === null) return null;
  return `(left out: ${(typeof value === 'string' ? value : JSON.stringify(value)).length} characters)`;
};

/** The same shape, without secrets. `known`: strings that are digests wherever else they stand. */
export function withoutSecrets<T>(value: T, known: readonly (readonly [kind: string, secret: string | null])[]): T {
  const inText = hiding(known);
  const walk = (part: unknown, within: string): unknown => {
    if (typeof part === 'string') return inText(part);
    if (Array.isArray(part)) return part.map((each) => walk(each, within));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, field(key, inner, within)]));
  };
  const field = (key: string, inner: unknown, within: string): unknown => {
    const kind = Object.hasOwn(DIGESTS, key) ? DIGESTS[key] : undefined;
    if (kind !== undefined && typeof inner === 'string') return digested(kind, inner);
    if (LEFT_OUT.has(key) || (key === 'reason' && WORDS_IN.has(within))) return leftOut(inner);
    return walk(inner, key);
  };
  return walk(value, '') as T;
}
