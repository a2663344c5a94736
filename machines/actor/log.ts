/** A structured log line. Never holds arguments, results, credentials or a task id. */
export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly operationId?: string;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
}
export type Log = (entry: LogEntry) => void;

export const silent: Log = () => undefined;
