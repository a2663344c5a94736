import { AsyncLocalStorage } from 'node:async_hooks';

/** How a response body ended. */
export interface BodyEnd {
  /** In the middle of a message. */
  readonly truncated: boolean;
  /** Over the size limit: the rest was not read. */
  readonly oversized: boolean;
}

/**
 * What happens on the wire for one message that we send: the SDK's transport hides it (it answers "sent" or throws),
 * and the difference between *not written* and *written, reply lost* is what this project is about.
 */
export interface Exchange {
  /** Raised right before the first byte is handed to the socket. */
  written: boolean;
  /** Asked right before that; `false` keeps the bytes back. */
  mayWrite(): boolean;
  /** Somebody still wants the answer. A stream of an unwanted one is not resumed. */
  wanted(): boolean;
  /** Use a connection of its own: on a reused one a reset says nothing about the request. */
  readonly freshConnection: boolean;
  /** Further HTTP headers, where the revision mirrors parts of a request in them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The head of the HTTP response to the POST. */
  head: { readonly status: number; readonly retryAfterMs?: number; readonly eventStream: boolean } | null;
  /** The event stream carried an event id, so that the SDK's transport will try to resume it by itself. */
  resumable: boolean;
  streamOpened(): void;
  bodyEnded(end: BodyEnd): void;
  /** A message of this exchange's stream could not be read. */
  unreadable(): void;
}

/**
 * The exchange in which code runs. The SDK calls `fetch`, resumes streams and hands over messages from the async
 * context of the `send` that caused them, so this says which request a connection belongs to.
 */
export const currentExchange = new AsyncLocalStorage<Exchange>();
