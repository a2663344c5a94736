/** What a scripted server declares. All can be changed while it runs (`{ op: 'set' }`), for the sessions to come. */
export interface ScriptedOptions {
  /** `capabilities.tasks`. Default `true`. */
  tasks: boolean;
  /** `capabilities.tasks.cancel` and the method. Default `true`. */
  cancel: boolean;
  /** Look-up by submission key, which closes attempts. Default `false`. */
  lookup: boolean;
  /** A repeated submission key is answered with the task it made. Default `false`. */
  dedup: boolean;
  retentionMs: number | null;
  /** Questions go to whoever opened `tasks/result` last; unanswered ones again, when told. Default `false`. */
  asksAgain: boolean;
  /** HTTP: answers as JSON bodies in place of event streams. Default `false`. */
  json: boolean;
  /** HTTP: event ids, so that a broken stream can be resumed. Default `false`. */
  resumable: boolean;
  /** HTTP: no session ids. Default `false`. */
  stateless: boolean;
  /** Answered by `initialize` whatever was asked; `null`: as asked. */
  protocolVersion: string | null;
  /** `_meta['dev.toolop/synchronous-limit-ms']` by tool. Default: none. */
  limits: Record<string, unknown>;
  /** The look-up tells how a call without a task ended, with its result. Default `false`. */
  receipts: boolean;
  /** Appended to the descriptions of the tools: another descriptor version. */
  describe: string;
}

export const DEFAULT_OPTIONS: ScriptedOptions = {
  tasks: true,
  cancel: true,
  lookup: false,
  dedup: false,
  retentionMs: null,
  asksAgain: false,
  json: false,
  resumable: false,
  stateless: false,
  protocolVersion: null,
  limits: {},
  receipts: false,
  describe: '',
};

/** `arguments.script` of the tools: how the call is to go. */
export interface Script {
  /** Work time, ms. Default 0. */
  ms?: number;
  /** Default `complete`. `hold`: works until told by control. */
  outcome?: 'complete' | 'isError' | 'rpcError' | 'hold';
  /** Code of `rpcError`. Default -32050. */
  code?: number;
  /** Number of input rounds before the end. */
  ask?: number;
  /** What is returned. `huge`: a text of `bytes` (50 MB). */
  variant?: 'plain' | 'badSchema' | 'empty' | 'huge';
  bytes?: number;
  /** Do the work and answer with its plain result, as a server that does not know `task`. */
  ignoreTask?: boolean;
  /** Without a task: asks its client a question first, and ends with the error that this is answered with. */
  elicits?: boolean;
  ttl?: number | null;
  pollInterval?: number;
}

/** A fault that is met by the next `times` (default 1) requests of `method` (and of `taskId`, if given). */
export type Fault = { method: string; times?: number; taskId?: string } & (
  | { kind: 'rpc'; code: number; message?: string }
  /** Answers with this result, without doing anything. */
  | { kind: 'answer'; result: Record<string, unknown> }
  /** Waits before doing anything. */
  | { kind: 'delay'; ms: number }
  /** Waits before doing anything until `release`: for what has to be seen meanwhile, however slow the machine. */
  | { kind: 'hold' }
  /** Does it, and never answers. */
  | { kind: 'silence' }
  /** HTTP only, before anything is done. */
  | { kind: 'http'; status: number; retryAfter?: string }
  | { kind: 'resetBefore' }
  /** HTTP only: does it, then breaks the connection instead of / in the middle of the answer. */
  | { kind: 'reset' }
  | { kind: 'truncate' }
  /** HTTP only: 200 with something that is not JSON-RPC. */
  | { kind: 'malformed'; eventStream?: boolean }
  /** HTTP only: an event stream that ends without an answer. */
  | { kind: 'emptyStream' }
);

export type Control =
  | ({ op: 'fault' } & Fault)
  | { op: 'clearFaults' }
  /** What is held goes on. */
  | { op: 'release' }
  /** No faults, no lies, an empty log; the tasks stay. */
  | { op: 'reset' }
  | { op: 'set'; options: Partial<ScriptedOptions> }
  /** `taskId` may be `last` in all of these. */
  | { op: 'complete'; taskId: string }
  | { op: 'fail'; taskId: string; code?: number }
  /** Sets a status, whatever it was: a server that contradicts itself. */
  | { op: 'status'; taskId: string; status: string }
  /** The next answers of `tasks/get` say these statuses in turn. */
  | { op: 'statuses'; taskId: string; statuses: string[] }
  /** `tasks/cancel` answers with success whatever the status. */
  | { op: 'lyingCancel'; on: boolean }
  /** Forgets the task; with `receipt` the look-up still tells how it ended. */
  | { op: 'forget'; taskId: string; receipt?: boolean }
  /** Its time to live ends in `inMs`: until then the task says so, afterwards it is gone. */
  | { op: 'expire'; taskId: string; inMs: number }
  /** The id now belongs to a new task. */
  | { op: 'reuse'; taskId: string; createdAt?: string }
  | { op: 'ask'; taskId: string; message: string }
  /** Its questions that were delivered and not answered are asked once more. */
  | { op: 'askAgain'; taskId: string }
  /** The retention of keys ends for all calls that were answered at once. */
  | { op: 'forgetDone' }
  | { op: 'dropSessions' }
  | { op: 'exit' };

export interface ScriptedLog {
  /** Requests and notifications seen, by method. */
  counts: Record<string, number>;
  /** Runs of a tool, and runs that reached their end (the effect outside). */
  executions: number;
  effects: number;
  /** Task ids in order of creation. */
  created: string[];
  requests: { method: string; taskId: string | null; at: number; meta: Record<string, unknown> }[];
  /** Answers to elicitations, as they came. */
  answers: { taskId: string; result: Record<string, unknown> }[];
}
