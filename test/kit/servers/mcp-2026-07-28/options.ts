/** What a scripted server of 2026-07-28 declares and does. All can be changed while it runs (`{ op: 'set' }`). */
export interface ScriptedOptions {
  /** The extension is declared by `server/discover`. Default `true`. */
  tasks: boolean;
  /** Look-up by submission key, which closes attempts. Default `false`. */
  lookup: boolean;
  /** A repeated submission key is answered with the task it made. Default `false`. */
  dedup: boolean;
  /** How long it says that it keeps submission keys, ms; it keeps them all. Default `null`: it does not say. */
  retentionMs: number | null;
  /** What `tasks/cancel` does after its acknowledgement. Default `obey`: the task ends as cancelled, its work stops. */
  cancel: 'obey' | 'ignore';
  /** How long after the acknowledgement, ms. Default 0. */
  cancelMs: number;
  /** HTTP: answers on an event stream in place of a JSON body. Default `false`. */
  stream: boolean;
  /** Appended to the descriptions of the tools: another descriptor version. */
  describe: string;
  /** The tool `work` wants its `label` in the header `Mcp-Param-Label`. Default `false`. */
  mirror: boolean;
}

export const DEFAULT_OPTIONS: ScriptedOptions = {
  tasks: true,
  lookup: false,
  dedup: false,
  retentionMs: null,
  cancel: 'obey',
  cancelMs: 0,
  stream: false,
  describe: '',
  mirror: false,
};

/** `arguments.script` of the tools: how the call is to go. */
export interface Script {
  /** Work time, ms. Default 0. */
  ms?: number;
  /** Default `complete`. `hold`: works until told by control. */
  outcome?: 'complete' | 'isError' | 'rpcError' | 'hold';
  /** Code of `rpcError`. Default -32050. */
  code?: number;
  /** Rounds of questions of the task, each the keys of what is asked at once. A round ends when all are answered. */
  ask?: string[][];
  /** How long an answered key stays in `inputRequests` (eventual consistency), ms. Default 0. */
  lagMs?: number;
  /** Rounds of questions before there is a task (`input_required` of the call itself), each the keys of one round. */
  before?: string[][];
  /** Those rounds carry no `requestState`. */
  withoutState?: boolean;
  /** No task: the work is done, and its result is the answer. */
  immediate?: boolean;
  /** The task is over when the call is answered, and says so. */
  terminalSeed?: boolean;
  /** What is returned. `badSchema`: what the output schema of `typed` forbids. Default `plain`. */
  variant?: 'plain' | 'badSchema' | 'empty' | 'huge';
  /** Length of a `huge` text. Default 50,000,000. */
  bytes?: number;
  /** The result says `resultType: 'complete'` itself, also inside of `tasks/get`. Some clients insist, the specification's example has none. */
  marked?: boolean;
  /** Of the task, ms. Default `null`: for ever. */
  ttlMs?: number | null;
  /** Of the task, ms. Default 50. */
  pollIntervalMs?: number;
}

/** A fault that is met by the next `times` (default 1) requests of `method` (and of `taskId`, if given). */
export type Fault = { method: string; times?: number; taskId?: string } & (
  | { kind: 'rpc'; code: number; message?: string; data?: unknown; status?: number }
  /** Answers with this result, without doing anything, and past everything that the SDK would check. */
  | { kind: 'answer'; result: unknown }
  /** Does it, and adds these fields to the result: past the SDK, too. */
  | { kind: 'amend'; fields: Record<string, unknown> }
  /** Waits before doing anything. */
  | { kind: 'delay'; ms: number }
  /** Waits before doing anything until `release`. */
  | { kind: 'hold' }
  /** Does it, and waits with the answer until `release`. */
  | { kind: 'holdAnswer' }
  /** Does it, and never answers. */
  | { kind: 'silence' }
  /** HTTP only, before anything is done. */
  | { kind: 'http'; status: number; retryAfter?: string; body?: string; type?: string }
  | { kind: 'resetBefore' }
  /** HTTP only: does it, then breaks the connection instead of / in the middle of the answer. */
  | { kind: 'reset' }
  | { kind: 'truncate' }
  /** HTTP only: 200 with this text in place of an answer. */
  | { kind: 'text'; text: string; type?: string }
);

export type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** What a test tells the running server, by `control`. */
export type Control =
  /** Planned, and met by the requests that come. */
  | ({ op: 'fault' } & Fault)
  /** Planned faults that nobody has met are dropped. */
  | { op: 'clearFaults' }
  /** What is held goes on. */
  | { op: 'release' }
  /** No faults, an empty log; the tasks stay. */
  | { op: 'reset' }
  /** These options, the others as they were. */
  | { op: 'set'; options: Partial<ScriptedOptions> }
  /** Ends it with the result that its script says. `taskId` may be `last` (the task that was made last) in all of these. */
  | { op: 'complete'; taskId: string }
  /** Ends it with a JSON-RPC error; default code -32050. */
  | { op: 'fail'; taskId: string; code?: number }
  /** Sets a status, whatever it was: a server that contradicts itself. */
  | { op: 'status'; taskId: string; status: Status }
  /** The next answers of `tasks/get` say these statuses in turn. */
  | { op: 'statuses'; taskId: string; statuses: Status[] }
  /** Asks these keys at once, also when the script did not. */
  | { op: 'ask'; taskId: string; keys: string[] }
  /** Forgets the task; with `receipt` the look-up still tells how it ended. */
  | { op: 'forget'; taskId: string; receipt?: boolean }
  /** Its time to live ends in `inMs`: until then the task says so, afterwards it is gone. */
  | { op: 'expire'; taskId: string; inMs: number }
  /** Another poll interval from now on. */
  | { op: 'pace'; taskId: string; pollIntervalMs: number }
  /** The id now belongs to a new task, of `createdAt` (ISO 8601, default: now). */
  | { op: 'reuse'; taskId: string; createdAt?: string }
  /** Ends every open `subscriptions/listen`: with its result, or just so. */
  | { op: 'endListens'; graceful: boolean }
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
  /** As they came, without notifications: ms of the server's clock, `_meta`, and the other parameters. */
  requests: {
    method: string;
    taskId: string | null;
    at: number;
    meta: Record<string, unknown>;
    params: Record<string, unknown>;
    /** HTTP only; names in lower case. */
    headers: Record<string, string | string[] | undefined>;
  }[];
  /** Answers to questions that were taken, as they came; `taskId: null`: before there was a task. */
  answers: { taskId: string | null; key: string; response: unknown }[];
  /** Answers to keys that were answered already, or that nobody asked. */
  ignored: { taskId: string; key: string }[];
  /** HTTP: requests whose client went before they were answered, by method: on this revision each is a cancel. */
  disconnects: Record<string, number>;
}
