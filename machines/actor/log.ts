import { sha256 } from '../digest.ts';

/** A structured log line. Never holds arguments, results, credentials or a task id (only its short digest). */
export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly operationId?: string;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
}
export type Log = (entry: LogEntry) => void;

export const silent: Log = () => undefined;

/** A task id as it may stand in a log. */
export const redactedTask = (taskId: string | null): string | null =>
  taskId === null ? null : `task:${sha256(taskId).slice(0, 8)}`;
