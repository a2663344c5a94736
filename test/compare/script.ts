/** One script: what the server and the wire do, whoever is the client. */
import type { Protocol } from './history.ts';

/** The requests that a fault can meet, by what they are for; each protocol has its own names. */
export type Step = 'create' | 'get' | 'result' | 'cancel';

/** Meets the next `times` (1) requests for this step, or their answers. */
export type Fault = {
  readonly on: Step;
  readonly times?: number;
} /** The server does it, and the connection breaks before the answer. */ & (
  | { readonly kind: 'lose-reply' }
  /** The connection breaks, and the server never sees it. */
  | { readonly kind: 'lose-request' }
  | { readonly kind: 'cut-reply' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  /** The protocol's own error, in place of an answer. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'unknown-id' }
  /** The answer comes later, ms. */
  | { readonly kind: 'late-reply'; readonly ms: number }
  /** MCP: the result is this. */
  | { readonly kind: 'answer'; readonly result: Readonly<Record<string, string | number | null>> }
);

/** How the tool runs. */
export interface Work {
  /** Default 150 ms; `hold`: until the plot says what becomes of it. */
  readonly ms?: number;
  readonly outcome?: 'complete' | 'hold' | 'tool-error' | 'rpc-error';
  /** Input rounds before its end. */
  readonly questions?: number;
  /** What is asked stays listed for so long after its answer, ms (2026-07-28). */
  readonly lagMs?: number;
  readonly pollIntervalMs?: number;
  /** The call is answered with its result, without a task. */
  readonly atOnce?: boolean;
  readonly badSchema?: boolean;
  /** 2026-07-28: the result inside of `tasks/get` has no `resultType`, as in the specification's example. */
  readonly unmarked?: boolean;
}

/** What the server offers beyond the protocol: a look-up by submission key (AIP-155: request ids). */
export type Offers = 'nothing' | 'look-up';

/** What the plot of a script has in hand, beside the call. */
export interface Hand {
  readonly protocol: Protocol;
  /** Waits until the server has made an operation. */
  created(): Promise<void>;
  /** Waits until the server was asked this so many times, counted from the start of the call. */
  seen(step: Step, times: number): Promise<void>;
  fault(...faults: readonly Fault[]): Promise<void>;
  /** Waits until the faults that were set have met their requests. */
  met(): Promise<void>;
  complete(): Promise<void>;
  /** Done, with no result to read: for good, or for so many answers. */
  completeWithoutResult(times: number): Promise<void>;
  /** The next answers of a status read say these; then the truth again. */
  statuses(...statuses: readonly string[]): Promise<void>;
  /** Another status than the true one, for good. */
  flip(status: 'cancelled' | 'working'): Promise<void>;
  /** The server forgets the operation. */
  forget(): Promise<void>;
  /** The id now belongs to another operation, which completes. */
  reuse(): Promise<void>;
  dropSessions(): Promise<void>;
  /** The server's process is killed and started again; it keeps nothing. */
  restart(): Promise<void>;
  /** The server cannot be reached for a while, ms; it goes on working. */
  away(ms: number): Promise<void>;
  /** Waits until the answers that are on their way have arrived. */
  settled(): Promise<void>;
  /** What the caller does, each in the way that the contender's documentation shows. */
  cancel(): Promise<void>;
  /** Stops waiting, and closes what it opened. */
  leave(): Promise<void>;
  /** The caller's process starts anew and comes back for the call. */
  comeBack(): Promise<void>;
  /** A second process of the caller waits for the same call. */
  secondProcess(): Promise<void>;
  answered(): Promise<void>;
}

/** Abilities without which a contender cannot play a script. */
export type Need = 'cancel' | 'come-back' | 'input';

export interface Script {
  readonly name: string;
  /** Rows of the brief. */
  readonly rows: readonly string[];
  readonly protocols: readonly Protocol[];
  /** What the server or the wire does, and what is true in the end. */
  readonly what: string;
  /** Where somebody met it in public. */
  readonly source?: string;
  readonly work?: Work;
  readonly offers?: Offers;
  /** What a cancel does that the server has acknowledged (2026-07-28, AIP-151). Default: it is obeyed. */
  readonly cancelIs?: 'obeyed' | 'heard';
  readonly before?: readonly Fault[];
  readonly plot?: (hand: Hand) => Promise<void>;
  /**
   * What the caller does, once, when it was told an error, a failure or nothing certain: makes the same call again, or takes
   * it up by what was kept of it.
   */
  readonly afterwards?: 'calls again' | 'comes back';
  readonly needs?: readonly Need[];
  /** How long the caller wants to wait for the operation at most, ms, where a contender can be told. */
  readonly budgetMs?: number;
  /** How long the caller waits for each word, ms. Default 6 s. */
  readonly patienceMs?: number;
}
