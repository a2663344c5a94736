import { sha256 } from '../../machines/digest.ts';
import type { ToolOperationContext } from '../../machines/index.ts';

export const digested = (kind: string, secret: string): string => `${kind}:${sha256(secret).slice(0, 8)}`;

/** A text with each of these secrets as its digest, wherever it stands in it. */
export function hiding(known: readonly (readonly [kind: string, secret: string | null])[]): (text: string) => string {
  const secrets = known.filter((pair): pair is readonly [string, string] => Boolean(pair[1]));
  return (text) => secrets.reduce((result, [kind, secret]) => result.replaceAll(secret, digested(kind, secret)), text);
}

/**
 * Task and session ids are bearer secrets on some servers: shown as a short digest wherever they stand in a value,
 * also inside a server's own words.
 */
export function redacted<T>(value: T, of: Pick<ToolOperationContext, 'taskId' | 'session'>): T {
  const hide = hiding([
    ['task', of.taskId],
    ['session', of.session.sessionId],
  ]);
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return hide(part);
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part === 'object' && part !== null) {
      return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, walk(inner)]));
    }
    return part;
  };
  return walk(value) as T;
}
