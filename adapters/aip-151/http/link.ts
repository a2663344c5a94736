import http from 'node:http';
import https from 'node:https';
import { canonicalJson, type Json } from '../../../machines/digest.ts';
import { requestSpan, type TracedRequest } from '../../../machines/telemetry/request.ts';
import { readBody } from './body.ts';
import type { Reply } from './reply.ts';
import { retryAfterMs } from './retry-after.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Encoded, from the base of the API on. */
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly body?: Json;
  /** Beside those of the session. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SendOptions {
  /** Own clock of the waiting. It stops waiting only: nothing is sent (B14). */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Asked when the connection stands and nothing is written yet. */
  readonly mayWrite?: () => boolean;
  /** Gets the answer that comes after `lost`; with it the request has a connection of its own, which stays. */
  readonly late?: (reply: Reply) => void;
}

/**
 * HTTP as this protocol needs it, on `node:http`: the built-in `fetch` cannot be held back between connecting and
 * writing, and does not tell a request that was never written from one whose answer was lost. Follows no redirect, sends
 * nothing twice.
 */
export class HttpLink {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #maxBytes: number;
  readonly #agent: http.Agent;
  readonly #open = new Set<() => void>();
  #closed = false;

  constructor(base: URL, headers: Readonly<Record<string, string>>, maxBytes: number) {
    this.#base = base;
    this.#headers = headers;
    this.#maxBytes = maxBytes;
    this.#agent =
      base.protocol === 'https:' ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  }

  /** Sends a request once and says how it ended. Never throws. */
  send(what: HttpRequest, options: SendOptions): Promise<Reply> {
    if (this.#closed) return Promise.resolve({ kind: 'notWritten', reason: 'the session is closed' });
    if (options.signal?.aborted) {
      return Promise.resolve({
        kind: 'notWritten',
        reason: 'the caller stopped waiting before the request was written',
      });
    }
    const traced = this.#traced(what);
    return new Promise<Reply>((resolve) => this.#exchange(what, options, traced.carried, resolve)).then((reply) => {
      if (reply.kind === 'json' || reply.kind === 'other') {
        const attributes = { 'http.response.status_code': reply.status };
        traced.end(reply.status < 400 ? { attributes } : { attributes, errorType: String(reply.status) });
      } else traced.end({ errorType: reply.kind });
      return reply;
    });
  }

  /** Stops listening. No cancel: the operations go on (B14). */
  close(): void {
    this.#closed = true;
    for (const drop of [...this.#open]) drop();
    this.#agent.destroy();
  }

  /** As OpenTelemetry's conventions for HTTP clients name it, without the URL: it holds the operation's name, and arguments. */
  #traced({ method }: HttpRequest): TracedRequest {
    const { hostname, port, protocol } = this.#base;
    const attributes = () => ({
      'http.request.method': method,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    });
    return requestSpan(method, attributes, null);
  }

  /** `trace`: the headers of W3C Trace Context. */
  #exchange(
    what: HttpRequest,
    options: SendOptions,
    trace: TracedRequest['carried'],
    resolve: (reply: Reply) => void,
  ): void {
    const body = what.body === undefined ? undefined : canonicalJson(what.body);
    const secure = this.#base.protocol === 'https:';
    let written = false;
    let settled = false;
    let over = false;
    let timer: NodeJS.Timeout | undefined;

    const finish = (): void => {
      over = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      this.#open.delete(drop);
    };
    const settle = (reply: Reply): void => {
      if (over) return;
      const wasSettled = settled;
      settled = true;
      if (reply.kind !== 'lost' || options.late === undefined || wasSettled) finish();
      if (!wasSettled) resolve(reply);
      else if (reply.kind !== 'lost') options.late?.(reply);
    };
    /** Stops waiting. Bytes that did not go out yet never will. */
    const giveUp = (reason: string): void => {
      if (settled) return;
      if (written) settle({ kind: 'lost', reason });
      else settle({ kind: 'notWritten', reason: `${reason}, before the request was written` });
      // A start's connection stays for the late answer.
      if (over) request.destroy();
    };
    const onAbort = (): void => giveUp('the caller stopped waiting');
    const drop = (): void => {
      giveUp('the session was closed here');
      finish();
      request.destroy();
    };

    const request = (secure ? https : http).request(this.#urlOf(what), {
      method: what.method,
      headers: { ...trace, ...this.#headersOf(body), ...what.headers },
      // On a connection that was used before, a reset says nothing about the request.
      agent: options.late === undefined ? this.#agent : false,
    });
    this.#open.add(drop);
    timer = setTimeout(() => giveUp(`no answer within ${options.timeoutMs} ms`), options.timeoutMs);
    options.signal?.addEventListener('abort', onAbort, { once: true });

    const write = (): void => {
      if (over || request.destroyed) return;
      if (options.mayWrite !== undefined && !options.mayWrite()) {
        settle({ kind: 'notWritten', reason: 'held back before writing' });
        request.destroy();
        return;
      }
      written = true;
      request.end(body);
    };
    request.on('socket', (socket) => {
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', write);
      else write();
    });
    request.on('error', (error) => {
      const code = String(Reflect.get(error, 'code') ?? 'no code');
      if (!written) settle({ kind: 'notWritten', reason: `the server cannot be reached (${code})` });
      else settle({ kind: 'lost', reason: `the connection broke (${code})` });
      finish();
    });
    request.on('response', async (response) => {
      const status = response.statusCode ?? 0;
      const wait = retryAfterMs(response.headers['retry-after']);
      const head = { status, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
      const read = await readBody(response, this.#maxBytes);
      if ('value' in read) settle({ kind: 'json', ...head, value: read.value });
      else settle({ kind: 'other', ...head, reason: read.problem });
      finish();
    });
  }

  #urlOf(what: HttpRequest): URL {
    const url = new URL(this.#base);
    url.pathname = this.#base.pathname.replace(/\/+$/, '') + what.path;
    for (const [name, value] of what.query ?? []) url.searchParams.append(name, value);
    return url;
  }

  #headersOf(body: string | undefined): http.OutgoingHttpHeaders {
    const headers: http.OutgoingHttpHeaders = { accept: 'application/json' };
    for (const [name, value] of Object.entries(this.#headers)) headers[name.toLowerCase()] = value;
    if (body === undefined) return headers;
    return { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  }
}
