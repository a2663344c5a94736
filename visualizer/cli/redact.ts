import { sha256 } from '../../machines/digest.ts';
import type { ToolOperationContext } from '../../machines/index.ts';

/**
 * Task and session ids are bearer secrets on some servers: shown as a short digest wherever they stand in a value,
 * also inside a server's own words.
 */
export function redacted<T>(value: T, of: Pick<ToolOperationContext, 'taskId' | 'session'>): T {
  const secrets = [
    ['task', of.taskId],
    ['session', of.session.sessionId],
  ].filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '');
  const hide = (text: string) =>
    secrets.reduce(
      (result, [kind, secret]) => result.replaceAll(secret, `${kind}:${sha256(secret).slice(0, 8)}`),
      text,
    );
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
