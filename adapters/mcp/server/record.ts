import { z } from 'zod';
import { type Json, jsonProblem } from '../../../machines/digest.ts';
import { ServerStatus, type TerminalStatus } from '../../../machines/tool-operation/context.ts';
import { field, isObject } from '../fields.ts';

export type Status = z.output<typeof ServerStatus>;
export type Terminal = z.output<typeof TerminalStatus>;

/** What a call ended with: its result, or a JSON-RPC error. */
export type Ending =
  | { readonly kind: 'result'; readonly value: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'error';
      readonly value: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/** Which run works on a task: a process, and how often the task was begun. */
export interface Run {
  readonly taskId: string;
  readonly worker: string;
  readonly run: number;
}

export interface TaskRecord extends Run {
  /** Who may see it: the principal of the request that made it. */
  readonly owner: string;
  readonly tool: string;
  readonly request: Json;
  readonly status: Status;
  readonly message: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly ttlMs: number;
  readonly pollMs: number;
  readonly resumable: boolean;
  readonly submissionKey: string | null;
  readonly cancelWanted: boolean;
  readonly ending: Ending | null;
}

const Whole = z.string().regex(/^\d+$/).transform(Number);
const JsonText = z.string().transform((text): unknown => JSON.parse(text));

const Stored = z.object({
  id: z.string(),
  owner: z.string(),
  tool: z.string(),
  request: JsonText,
  status: ServerStatus,
  message: z.string(),
  created: Whole,
  updated: Whole,
  ttl: Whole,
  poll: Whole,
  worker: z.string(),
  run: Whole,
  resumable: z.enum(['0', '1']),
  key: z.string(),
  cancel: z.string(),
  kind: z.enum(['result', 'error', '']),
  payload: z.string(),
});

/** The record in a hash of Redis, or `null` where there is none. */
export function taskRecordOf(hash: Record<string, string>): TaskRecord | null {
  if (hash.id === undefined) return null;
  const stored = Stored.parse(hash);
  return {
    taskId: stored.id,
    worker: stored.worker,
    run: stored.run,
    owner: stored.owner,
    tool: stored.tool,
    request: stored.request as Json,
    status: stored.status,
    message: stored.message === '' ? null : stored.message,
    createdAt: isoOf(stored.created),
    updatedAt: isoOf(stored.updated),
    ttlMs: stored.ttl,
    pollMs: stored.poll,
    resumable: stored.resumable === '1',
    submissionKey: stored.key === '' ? null : stored.key,
    cancelWanted: stored.cancel !== '',
    ending: stored.kind === '' ? null : ({ kind: stored.kind, value: JSON.parse(stored.payload) } as Ending),
  };
}

/** Largest ending that is kept, characters of JSON: a Redis string has a limit, and clients take far less. */
const MAX_ENDING_CHARS = 64 * 1024 * 1024;
export const INTERNAL_ERROR = -32603;

/**
 * The end as it can be kept. A tool can return anything: what is no JSON object, or too large, can neither be stored nor
 * read back, so that the task ends with a fault of the server in its place instead of never.
 */
export function keepable(
  status: Terminal,
  ending: Ending | null,
): { readonly status: Terminal; readonly ending: Ending | null } {
  const problem = ending === null ? null : problemOf(ending.value);
  if (problem === null) return { status, ending };
  const message = `what the call ended with cannot be kept: ${problem}`;
  return { status: 'failed', ending: { kind: 'error', value: { code: INTERNAL_ERROR, message } } };
}

/** What was thrown, in words: anything can be. */
export function messageOf(thrown: unknown): string {
  const message = field(thrown, 'message');
  if (typeof message === 'string') return message;
  return isObject(thrown) ? 'what was thrown has no message' : String(thrown);
}

function problemOf(value: unknown): string | null {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text?.startsWith('{') !== true) return 'it is no JSON object';
    if (text.length > MAX_ENDING_CHARS) return `it has more than ${MAX_ENDING_CHARS} characters`;
    return jsonProblem(JSON.parse(text));
  } catch {
    // Circular, a BigInt, nested too deep: its message may hold parts of the value.
    return 'it has no JSON form';
  }
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function isTerminal(status: Status): status is Terminal {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
