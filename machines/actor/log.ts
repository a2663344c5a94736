import { LedgerIncompatible, LedgerUnavailable } from '../operation-ledger.ts';
import { EndpointUnavailable } from '../operation-protocol.ts';

/** A structured log line. Never holds arguments, results, credentials or a task id: what an error says stands in it by `wordsOf` only. */
export interface LogEntry {
  /** From `warn` on somebody should look. */
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** What happened, for a machine: `ledger.durability`, `event.refused`, `shadow.failed`, ... */
  readonly event: string;
  /** Absent where it is about no single operation. */
  readonly operationId?: string;
  /** By event; `why` is in words. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
}
/** Takes one line, at once. It must not throw. */
export type Log = (entry: LogEntry) => void;

export const silent: Log = () => undefined;

/** An error of the executor's own, whose words hold nothing of what a caller, a server or a human wrote. */
export abstract class PlainError extends Error {}

const PLAIN = [PlainError, LedgerUnavailable, LedgerIncompatible, EndpointUnavailable];
const FRAMES = 3;

/**
 * What a log may hold of an error. Ours is told in its own words. Any other one may quote anything (a guard the output that it
 * was given, a parser the text that it could not read): of it the kind is told, and which functions it came from.
 */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return `something that is no error was thrown (${typeof error})`;
  if (PLAIN.some((plain) => error instanceof plain)) return error.message;
  const code = 'code' in error && /^[A-Z][A-Z0-9_]{1,40}$/.test(String(error.code)) ? ` (${error.code})` : '';
  const places = placesOf(error);
  return `${error.constructor.name}${code}${places.length > 0 ? ` in ${places.join(' < ')}` : ''}`;
}

/** Names of functions. The message, which the stack begins with, is left out first: it may look like a line of it. */
function placesOf({ stack = '', message }: Error): readonly string[] {
  const said = stack.indexOf(message);
  const frames = said === -1 ? '' : stack.slice(said + message.length);
  return [...frames.matchAll(/^ {4}at (?:async )?(?:new )?([\w.$#<>]+) \(/gm)]
    .slice(0, FRAMES)
    .map(([, name]) => name ?? '');
}
