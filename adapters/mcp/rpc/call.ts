import type { BodyEnd, Exchange } from './exchange.ts';
import { isInconclusive, type Reply } from './reply.ts';

export interface CallOptions {
  /** Own clock of the waiting; `null` waits for ever. It stops waiting only: nothing is sent (B14). */
  readonly timeoutMs: number | null;
  readonly signal?: AbortSignal | undefined;
  readonly mayWrite?: () => boolean;
  /** Gets the answer that comes after an inconclusive end. Keeps the connection of the request open. */
  readonly late?: (reply: Reply) => void;
  readonly freshConnection?: boolean;
  /** Further HTTP headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** After the last byte of a stream, the time that the SDK's parser gets to hand over what it read. */
const DRAIN_MS = 100;

/** One request that waits for its answer, and what is known of its way over the wire. */
export class Call implements Exchange {
  readonly reply: Promise<Reply>;
  readonly freshConnection: boolean;
  readonly headers: Readonly<Record<string, string>>;
  written = false;
  head: Exchange['head'] = null;
  resumable = false;

  readonly #abort = new AbortController();
  readonly #options: CallOptions;
  readonly #graceMs: number;
  readonly #finished: () => void;
  #resolve: (reply: Reply) => void = () => undefined;
  #settled = false;
  #over = false;
  #heldBack = false;
  #timer: NodeJS.Timeout | undefined;
  #streamTimer: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.giveUp('the caller stopped waiting');

  constructor(options: CallOptions, graceMs: number, finished: () => void) {
    this.#options = options;
    this.#graceMs = graceMs;
    this.#finished = finished;
    this.freshConnection = options.freshConnection ?? false;
    this.headers = options.headers ?? {};
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (options.timeoutMs !== null) {
      this.#timer = setTimeout(() => this.giveUp(`no answer within ${options.timeoutMs} ms`), options.timeoutMs);
    }
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get settled(): boolean {
    return this.#settled;
  }

  mayWrite(): boolean {
    if (this.#heldBack || this.#over) return false;
    if (this.#options.mayWrite?.() ?? true) return true;
    this.#heldBack = true;
    return false;
  }

  wanted(): boolean {
    return !this.#over;
  }

  /** The first end is the reply; a conclusive one after an inconclusive one goes to `late`. */
  settle(reply: Reply): void {
    if (this.#over) return;
    if (!this.#settled) {
      this.#settled = true;
      clearTimeout(this.#timer);
      this.#options.signal?.removeEventListener('abort', this.#onAbort);
      if (this.#options.late === undefined || !isInconclusive(reply)) this.#end(false);
      this.#resolve(reply);
    } else if (!isInconclusive(reply)) {
      this.#end(false);
      this.#options.late?.(reply);
    }
  }

  /** Stops waiting. Bytes that did not go out yet never will. */
  giveUp(reason: string): void {
    if (this.#settled) return;
    if (!this.written) {
      this.#heldBack = true;
      this.settle({ kind: 'notWritten', reason: `${reason}, before the request was written` });
      this.#abort.abort();
      return;
    }
    this.settle({ kind: 'lost', reason });
    // A read's connection is cut (on 2025-11-25 that is no cancel); a submission's stays for the late answer.
    if (this.#over) this.#abort.abort();
  }

  /** The session is over: no answer can come any more. */
  drop(reason: string): void {
    this.settle({ kind: 'lost', reason });
    this.#end(true);
  }

  streamOpened(): void {
    clearTimeout(this.#streamTimer);
  }

  bodyEnded(end: BodyEnd): void {
    if (this.#over) return;
    clearTimeout(this.#streamTimer);
    if (end.oversized) {
      this.settle({ kind: 'tooLarge', reason: 'the answer is over the size limit' });
    } else if (this.head?.eventStream !== true) {
      // A JSON body: the transport's `send` tells whether it was an answer.
    } else if (this.resumable) {
      this.#streamTimer = setTimeout(() => this.#broken(end), this.#graceMs);
    } else {
      this.#streamTimer = setTimeout(() => this.#broken(end), DRAIN_MS);
    }
  }

  unreadable(): void {
    this.settle({ kind: 'malformed', reason: 'the answer is not JSON-RPC' });
  }

  /** The transport's `send` returned: for anything but an event stream the answer must have come with it. */
  sent(): void {
    if (this.#over || this.head === null || (this.head.eventStream && this.head.status === 200)) return;
    this.settle({ kind: 'lost', reason: `HTTP ${this.head.status} without an answer` });
  }

  /** The transport's `send` threw. */
  sendFailed(error: unknown): void {
    if (this.#over) return;
    if (!this.written) {
      this.settle({ kind: 'notWritten', reason: this.#heldBack ? 'held back before writing' : connectReason(error) });
    } else if (this.head !== null && (this.head.status < 200 || this.head.status > 299)) {
      const { status, retryAfterMs } = this.head;
      this.settle({ kind: 'http', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
    } else if (this.head !== null) {
      this.settle({ kind: 'malformed', reason: 'the answer was cut off or is not JSON-RPC' });
    } else {
      this.settle({ kind: 'lost', reason: `the connection broke (${errorCode(error) ?? 'no code'})` });
    }
  }

  #broken(end: BodyEnd): void {
    if (end.truncated) this.settle({ kind: 'malformed', reason: 'the answer was cut off' });
    else this.settle({ kind: 'lost', reason: 'the stream ended without the answer' });
  }

  #end(cut: boolean): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#streamTimer);
    this.#finished();
    if (cut) this.#abort.abort();
  }
}

function connectReason(error: unknown): string {
  return `the server cannot be reached (${errorCode(error) ?? 'no connection'})`;
}

/** Only the code of a system error: its message can hold a URL with credentials. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  return errorCode(Reflect.get(error, 'cause'));
}
