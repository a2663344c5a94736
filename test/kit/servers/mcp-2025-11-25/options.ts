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
  /** How long it says that it keeps submission keys, ms; it keeps them all. Default `null`: it does not say. */
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
  /** Number of questions before the end, one after the other: `question 1`... Default 0. */
  ask?: number;
  /** What is returned. `badSchema`: what the output schema of `typed` forbids. Default `plain`. */
  variant?: 'plain' | 'badSchema' | 'empty' | 'huge';
  /** Length of a `huge` text. Default 50,000,000. */
  bytes?: number;
  /** Do the work and answer with its plain result, as a server that does not know `task`. */
  ignoreTask?: boolean;
  /** Without a task: asks its client a question first, and ends with the error that this is answered with. */
  elicits?: boolean;
  /** Of the task, ms, whatever the call asked for. Default: what the call asked for, or `null`: for ever. */
  ttl?: number | null;
  /** Of the task, ms. Default 50. */
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

/** What a test tells the running server, by `control`. */
export type Control =
  /** Planned, and met by the requests that come. */
  | ({ op: 'fault' } & Fault)
  /** Planned faults that nobody has met are dropped. */
  | { op: 'clearFaults' }
  /** What is held goes on. */
  | { op: 'release' }
  /** No faults, no lies, an empty log; the tasks stay. */
  | { op: 'reset' }
  /** These options, the others as they were. */
  | { op: 'set'; options: Partial<ScriptedOptions> }
  /** Ends it with the result that its script says. `taskId` may be `last` (the task that was made last) in all of these. */
  | { op: 'complete'; taskId: string }
  /** Ends it with a JSON-RPC error; default code -32050. */
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
  /** The id now belongs to a new task, of `createdAt` (ISO 8601, default: now). */
  | { op: 'reuse'; taskId: string; createdAt?: string }
  /** Asks this question, also when the script did not. */
  | { op: 'ask'; taskId: string; message: string }
  /** Its questions that were delivered and not answered are asked once more. */
  | { op: 'askAgain'; taskId: string }
  /** The retention of keys ends for all calls that were answered at once. */
  | { op: 'forgetDone' }
  /** HTTP: no session id is known any more. */
  | { op: 'dropSessions' }
  /** The process ends, with code 0. */
  | { op: 'exit' };

/** What the server saw and did since its start, or since the last `reset`. */
export interface ScriptedLog {
  /** Requests and notifications seen, by method. */
  counts: Record<string, number>;
  /** Runs of a tool that began. */
  executions: number;
  /** Runs that reached their end: what a real tool would have done to the world outside. */
  effects: number;
  /** Task ids in order of creation. */
  created: string[];
  /** As they came, without notifications: `taskId` of the parameters, ms of the server's clock, `_meta`. */
  requests: { method: string; taskId: string | null; at: number; meta: Record<string, unknown> }[];
  /** Answers to elicitations, as they came. */
  answers: { taskId: string; result: Record<string, unknown> }[];
}
