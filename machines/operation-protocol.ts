/**
 * The one interface between the statechart and the protocols. An adapter translates one protocol revision
 * and says of every outcome whether it is *definitely done*, *definitely not done* or *cannot be known*.
 * It never retries a submission by itself, and never throws for what a server did: that is a fact.
 */
import type { Json } from './digest.ts';
import type { Capabilities, ServerStatus } from './tool-operation/context.ts';

/** Where a server is. Credentials (`headers`, `env`) live in the process only: never in the ledger or a log. */
export type Endpoint =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly kind: 'http'; readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** What a fact about a task's state carries. `receivedAt - sentAt` bounds the server's clock (B13). Times: ms. */
export interface TaskView {
  /** The server's own id. In logs it is treated as a secret: it may be all that reading the task takes. */
  readonly taskId: string;
  /**
   * When the server says that it made the task, verbatim; `null`: it does not say. An id that comes back with another one
   * is another task (F9).
   */
  readonly taskCreatedAt: string | null;
  /** MCP's own words (B6); the adapter of AIP-151 says `done` in them. */
  readonly status: ServerStatus;
  /** What the server said with the status; `null`: nothing. */
  readonly statusMessage: string | null;
  /** The pause that the server suggests between two reads, ms; `null`: not said. Policy bounds it (B8). */
  readonly pollIntervalMs: number | null;
  /** Time to live from creation, ms; `null`: unlimited or not said. */
  readonly ttlMs: number | null;
  /** Lasts at least until (server-relative age already taken off), ms from the answer; `null`: not said. */
  readonly remainingTtlMs: number | null;
}

/** A result as it came: `result` is what the call returned, `error` the JSON-RPC error it ended with. */
export type Payload =
  | { readonly kind: 'result'; readonly value: Json; readonly isError: boolean }
  | {
      readonly kind: 'error';
      readonly value: { readonly code: number; readonly message: string; readonly data?: Json };
    };

/** Nothing is known; nothing changes but the time of the next try. */
export interface Unknown {
  /** In the place of an answer that would decide something. */
  readonly kind: 'unknown';
  /** What went wrong, in words; 2,000 characters of it are kept. */
  readonly reason: string;
  /** Earliest next try, ms from now, when the server said so (`Retry-After`). */
  readonly retryAfterMs?: number;
  /** The session was refused (401, 404 of the session): says nothing of the task. */
  readonly sessionLost?: boolean;
}

/**
 * What became of one send of the call (B4). Whatever is not provably one of the others is `connectionLost`: it is looked up
 * by key, never sent again on a guess.
 */
export type SubmitOutcome =
  | { readonly kind: 'acknowledged'; readonly task: TaskView; readonly sessionId: string | null }
  | { readonly kind: 'outcome'; readonly payload: Payload }
  /** Provably never reached the tool, and could be tried again later. */
  | {
      readonly kind: 'notSent';
      readonly reason: string;
      readonly retryAfterMs?: number;
      readonly sessionLost?: boolean;
    }
  /** Provably never reached the tool, and never will. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /**
   * Answered with questions instead (2026-07-28, before there is a task): nothing was created, and the call is sent once
   * more with the answers and with `requestState`, verbatim.
   */
  | { readonly kind: 'inputRequired'; readonly requests: InputRequests; readonly requestState: string | null }
  | { readonly kind: 'connectionLost'; readonly reason: string };

/** What a read of the status came to. `notFound` says nothing of why (B13), and nothing of how the call ended. */
export type StatusOutcome =
  | {
      readonly kind: 'status';
      readonly task: TaskView;
      readonly payload?: Payload;
      /** Everything that is outstanding, where the revision tells it with the status. */
      readonly inputRequests?: InputRequests;
    }
  | { readonly kind: 'notFound'; readonly reason: string }
  | Unknown;

/**
 * What fetching the content of a terminal task came to (B11; F6, F7). Only `result` can be accepted; `invalid` and
 * `unknown` are tried again inside the budget.
 */
export type ResultOutcome =
  | { readonly kind: 'result'; readonly payload: Payload }
  /** Came, but cannot be taken as the result: truncated, oversized, schema-invalid, wrong task. */
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'notFound'; readonly reason: string }
  | Unknown;

/**
 * How the server took a cancel (B9). Only `confirmed` ends the operation; after anything else a read of the status decides.
 */
export type CancelOutcome =
  /** Terminal evidence (2025-11-25). */
  | { readonly kind: 'confirmed'; readonly task: TaskView }
  /** Only heard (2026-07-28, AIP-151). */
  | { readonly kind: 'acknowledged' }
  /** Refused: already terminal, unknown or expired: a status read decides. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unsupported'; readonly reason: string }
  | Unknown;

/** What the server knows of a submission key (B4, B13). `unavailable`: it offers no look-up. */
export type LookupOutcome =
  | { readonly kind: 'found'; readonly task: TaskView }
  /** `closedThroughAttempt`: no attempt up to this one can create anything any more. */
  | { readonly kind: 'neverCreated'; readonly closedThroughAttempt: number }
  | {
      readonly kind: 'expiredWithReceipt';
      readonly taskId: string;
      readonly taskCreatedAt: string | null;
      readonly status: 'completed' | 'failed' | 'cancelled';
      readonly payload?: Payload;
    }
  | { readonly kind: 'unavailable'; readonly reason: string }
  | Unknown;

/** One question of the server, as the human sees it. */
export interface InputRequest {
  /** What the server wants to know, in its own words. */
  readonly message: string;
  /** JSON Schema of the answer's `content`. Its digest binds an answer to this question (B7). */
  readonly schema: Json;
}
/** Questions by the key that the server gave them: unique for the life of a task, so the same key is the same question. */
export type InputRequests = Readonly<Record<string, InputRequest>>;
/** Answers by the keys of their questions. */
export type InputReplies = Readonly<Record<string, InputReply>>;
/** The field's own three answers (MCP `ElicitResult`). `content` only with `accept`. */
export type InputReply =
  | { readonly action: 'accept'; readonly content: { readonly [key: string]: Json } }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** An open channel on which a task's questions arrive (2025-11-25: a blocked `tasks/result`). */
export interface InputChannel {
  /** Writes the answer to the question that is open on this channel. `false`: provably not written. */
  deliver(reply: InputReply): Promise<boolean>;
  /** Stops listening; never cancels the task (B14). */
  close(): void;
}
/** What a channel tells whoever opened it. */
export interface InputChannelEvents {
  /** A question arrived. At most one is open at a time; a further one waits. */
  request(request: InputRequest): void;
  /**
   * The channel ended: the task is terminal, or the connection is gone. A status read decides. `payload`: the task's
   * result, verified as by `result`, where that is what ended it; only with one is this also called after `close`.
   */
  closed(reason: string, payload?: Payload): void;
}

/** What became of answers that were sent by key. */
export type AnswerOutcome =
  | { readonly kind: 'delivered' }
  /** Provably not taken. */
  | { readonly kind: 'notDelivered'; readonly reason: string }
  | Unknown;

/** Names one task at one endpoint. */
export interface TaskRef {
  /** As the server named it. */
  readonly taskId: string;
  /** As the server said it first; `null`: it did not. */
  readonly taskCreatedAt: string | null;
  /** Name of the tool that was called: it says by which schema a result is checked, or which method of an API to ask. */
  readonly tool: string;
}

/** One send of the call (B4). Another attempt of the same call differs in `attempt`, and in the answers that it brings. */
export interface Submission {
  /** The tool's name at the server. */
  readonly tool: string;
  /** As the caller gave them; negotiation has checked them against the input schema of the tool, where there is one. */
  readonly arguments: Json;
  /**
   * SHA-256 over namespace, principal, call node and request digest, hex: the same for every attempt, also when the ledger
   * is lost.
   */
  readonly submissionKey: string;
  /** From 1. A look-up closes the key for all attempts up to one (design section 6). */
  readonly attempt: number;
  /**
   * SHA-256 of the canonical JSON of tool and arguments, hex. The servers' half refuses a key that it knows with another
   * one.
   */
  readonly requestDigest: string;
  /** For whom the call is made, as this side says it: no credential. */
  readonly principal: string;
  /** Retention that is asked of the server, ms; `null`: none is asked for. */
  readonly ttlMs: number | null;
  /** R1: made beside an ordinary call, to be compared with it. The server is told so, where the protocol has a place for it. */
  readonly shadow?: true;
  /** The answers to the questions that this call was answered with before, and the state that came with them. */
  readonly input?: { readonly replies: InputReplies; readonly requestState: string | null };
}

/** Names a submission by its key. `call`: what was sent, where the look-up is a repetition of the call. */
export type LookupRequest = Omit<Submission, 'arguments' | 'ttlMs' | 'input'> & {
  readonly call?: Pick<Submission, 'arguments' | 'ttlMs'>;
};

/**
 * Whether a call can be made as an operation, and how (B1). What `supported` says is pinned in the record; the executor
 * adds `effectFree`.
 */
export type Negotiation =
  | {
      readonly kind: 'supported';
      readonly tool: { readonly name: string; readonly version: string };
      readonly capabilities: Omit<Capabilities, 'effectFree'>;
      readonly session: { readonly sessionId: string | null; readonly protocolVersion: string };
      /** How long from the first submission the server remembers a submission key, ms; `null`: it says nothing. */
      readonly keyRetentionMs: number | null;
    }
  /** Nothing was submitted. `next` says what the caller or the tool's owner can do. */
  | { readonly kind: 'refused'; readonly reason: string; readonly next: string };

/** What a new connection needs to reach the tasks of an earlier one, without the credentials. */
export interface ResumeState {
  /** Of the connection under which the call was made; `null`: it had none (stdio, and revisions without sessions). */
  readonly sessionId: string | null;
  /** The revision that was negotiated then: a session that is taken up is not asked again. */
  readonly protocolVersion: string;
  /** The tool's output schema and version must be the pinned ones. */
  readonly tool: { readonly name: string; readonly version: string };
}

/** One live connection to one server under one protocol revision. All waits take an `AbortSignal`: it stops *waiting* only. */
export interface ProtocolSession {
  /** B1: asks the server and the tool whether the call can be a task; checks the arguments against the tool's input schema. */
  negotiate(tool: string, args: Json): Promise<Negotiation>;
  /**
   * Sends the call. `mayWrite` is asked right before the bytes go out: `false` makes it `notSent`.
   * `late` gets an answer that arrives after this promise was settled with `connectionLost`.
   */
  submit(
    submission: Submission,
    options: {
      readonly mayWrite: () => boolean;
      readonly late: (outcome: SubmitOutcome) => void;
      readonly timeoutMs: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<SubmitOutcome>;
  /** Reads the state of a task, with the result where the revision inlines it (B11). */
  status(task: TaskRef, signal?: AbortSignal): Promise<StatusOutcome>;
  /**
   * Fetches the content of a terminal task and checks it: whole, of this task, and as the tool's output schema wants it
   * (F7). `status`: as it was observed; `cancelled` asks for the audit only.
   */
  result(task: TaskRef, status: 'completed' | 'failed' | 'cancelled', signal?: AbortSignal): Promise<ResultOutcome>;
  /** Sends the protocol's cancel, once. What the answer is worth, its kind says (B9). */
  cancel(task: TaskRef, signal?: AbortSignal): Promise<CancelOutcome>;
  /**
   * What became of a call, by its submission key. Where that is a repetition of the call itself (`lookup: 'repeat'`,
   * AIP-155), `mayWrite` is asked right before the bytes go out.
   */
  lookup(
    submission: LookupRequest,
    options?: { readonly mayWrite?: () => boolean; readonly signal?: AbortSignal },
  ): Promise<LookupOutcome>;
  /** Where questions come on a channel (`input: 'channel'`); throws where they do not. */
  openInput(task: TaskRef, events: InputChannelEvents): InputChannel;
  /** Where questions come with the status (`input: 'status'`), and only there. The same answers may be sent again. */
  answerInput?(task: TaskRef, replies: InputReplies, signal?: AbortSignal): Promise<AnswerOutcome>;
  /**
   * Where the server says that a task changed: a hint to read its status, never a status; it may come late, often or never,
   * and polling goes on regardless. Answers the function that ends it.
   */
  watch?(task: TaskRef, changed: () => void): () => void;
  /** Called once, when the server is gone for good (stdio: its process ended). */
  onGone(listener: (reason: string) => void): void;
  /** Lets go of the connection. Cancels nothing (B14), but a stdio server ends with it. */
  close(): Promise<void>;
}

/** An adapter: one revision of one protocol (B2). */
export interface OperationProtocol {
  /** Adapter and pinned revision, as stored in the record (B3), e.g. `mcp-2025-11-25`. */
  readonly id: string;
  /** Its sessions can `watch`. */
  readonly hints?: true;
  /** Opens a session. Given `resume`, reaches the tasks of an earlier connection. Rejects with `EndpointUnavailable`. */
  connect(endpoint: Endpoint, resume?: ResumeState): Promise<ProtocolSession>;
}

/** The server could not be reached: nothing was sent. */
export class EndpointUnavailable extends Error {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'EndpointUnavailable';
  constructor(
    message: string,
    /** The session is refused (401, 403, 404): a new session would not see the same tasks. */
    readonly sessionLost = false,
  ) {
    super(message);
  }
}
