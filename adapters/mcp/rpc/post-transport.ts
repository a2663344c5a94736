import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { EventLines } from './event-lines.ts';
import { currentExchange } from './exchange.ts';

export interface PostOptions {
  readonly fetch: FetchLike;
  readonly headers: Readonly<Record<string, string>>;
  /** The headers in which a revision mirrors a message. */
  readonly headersOf: (message: JSONRPCRequest) => Readonly<Record<string, string>>;
}

/** HTTP statuses under which a revision without sessions puts a JSON-RPC error of its own. */
const ERROR_STATUSES = [400, 404];

/**
 * HTTP for a revision without sessions: every request is a POST of its own, and the answer is its response, as one JSON text
 * or at the end of an event stream. The SDK's transport does more than that revision knows (it keeps session ids and
 * resumes streams by a GET) and less (it drops the JSON-RPC error that comes with an HTTP error).
 */
export class PostTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  readonly #options: PostOptions;
  readonly #closing = new AbortController();

  constructor(url: URL, options: PostOptions) {
    this.#url = url;
    this.#options = options;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.#closing.abort();
    this.onclose?.();
  }

  /** Resolves when the response is complete, or when its event stream has begun. */
  async send(message: JSONRPCMessage): Promise<void> {
    // A client of such a revision never posts a notification or an answer that somebody could want.
    if (!isJSONRPCRequest(message)) return;
    const response = await this.#options.fetch(this.#url, {
      method: 'POST',
      headers: {
        ...this.#options.headers,
        ...currentExchange.getStore()?.headers,
        ...this.#options.headersOf(message),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
      signal: this.#closing.signal,
    });
    const type = (response.headers.get('content-type') ?? '').toLowerCase().split(';', 1)[0]?.trim();
    if (!response.ok) {
      const text = ERROR_STATUSES.includes(response.status) ? await response.text() : null;
      if (text === null) await response.body?.cancel();
      if (text !== null && type === 'application/json' && this.#isError(text, message.id)) return;
      throw new Error(`HTTP ${response.status}`);
    }
    if (response.status === 202 || response.body === null) return void (await response.body?.cancel());
    if (type === 'text/event-stream') return void this.#readEvents(response.body, message.id);
    this.#take(await response.text(), message.id);
  }

  /** Hands over the JSON-RPC error in the body of an HTTP error. A server that could not read the request names no id. */
  #isError(text: string, id: string | number): boolean {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return false;
    }
    if (typeof value !== 'object' || value === null) return false;
    const named: unknown = Reflect.get(value, 'id');
    const answer = { ...value, id: named ?? id };
    if (!isJSONRPCErrorResponse(answer) || answer.id !== id) return false;
    this.onmessage?.(answer);
    return true;
  }

  /** What is wrong with the stream itself is seen by who watches the body. */
  async #readEvents(body: ReadableStream<Uint8Array>, id: string | number): Promise<void> {
    const events = new EventLines((data) => {
      // A first event without data only opens the stream.
      if (data === '') return;
      try {
        this.#take(data, id);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        events.push(decoder.decode(read.value, { stream: true }));
      }
    } catch {
      // The connection broke, or the event was too large.
    }
  }

  /** A response belongs to the request that it came on; the server asks nothing on this side. Throws for other text. */
  #take(text: string, id: string | number): void {
    const message = JSONRPCMessageSchema.parse(JSON.parse(text));
    if ('method' in message ? 'id' in message : message.id !== id) return;
    this.onmessage?.(message);
  }
}
