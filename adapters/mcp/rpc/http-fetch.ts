import { setMaxListeners } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { watchedBody } from './body.ts';
import { currentExchange } from './exchange.ts';

export interface HttpLink {
  readonly fetch: FetchLike;
  close(): void;
}

const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** `Retry-After` in ms from now: seconds or an HTTP date (RFC 9110, 10.2.3); absent or unreadable: `undefined`. */
export function retryAfterMs(value: string | undefined, now: number = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/**
 * A `fetch` for the SDK's transport on `node:http`, for two things that the built-in one cannot do: ask `mayWrite`
 * when the connection stands and nothing is written yet, and stay silent on a stream for longer than five minutes
 * (its fixed limit, which would break a blocked `tasks/result` and lose the open prompt with it).
 */
export function createHttpLink(maxBytes: number): HttpLink {
  const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };

  const fetch: FetchLike = (url, init) => {
    const exchange = currentExchange.getStore();
    const method = init?.method ?? 'GET';
    const headers = Object.fromEntries(new Headers(init?.headers).entries());
    const resuming = method === 'GET' && 'last-event-id' in headers;
    // 405 is the answer after which the SDK's transport quietly stops resuming.
    if (resuming && exchange?.wanted() === false) return Promise.resolve(new Response(null, { status: 405 }));

    const target = new URL(url);
    const secure = target.protocol === 'https:';
    const body = typeof init?.body === 'string' ? init.body : undefined;
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));

    return new Promise<Response>((resolve, reject) => {
      const agent = exchange?.freshConnection && method === 'POST' ? false : secure ? agents.https : agents.http;
      const request = (secure ? https : http).request(target, { method, headers, agent });

      const signals = [init?.signal, exchange?.signal].filter((signal) => signal != null);
      const abort = (): void => void request.destroy(new Error('stopped waiting'));
      for (const signal of signals) {
        // The transport has one signal for all its requests.
        setMaxListeners(0, signal);
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      }
      request.on('close', () => {
        for (const signal of signals) signal.removeEventListener('abort', abort);
      });

      const write = (): void => {
        if (request.destroyed) return;
        if (exchange && method === 'POST') {
          if (!exchange.mayWrite()) {
            request.destroy(new Error('held back'));
            return;
          }
          exchange.written = true;
        }
        request.end(body);
      };
      request.on('socket', (socket) => {
        if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', write);
        else write();
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const status = response.statusCode ?? 0;
        const eventStream = (response.headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream');
        const wait = retryAfterMs(response.headers['retry-after']);
        if (exchange && method === 'POST') {
          exchange.head = { status, eventStream, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
        }
        const watched = exchange !== undefined && (method === 'POST' || resuming) && status === 200;
        if (watched) exchange.streamOpened();
        const empty = status === 204 || status === 205 || status === 304;
        if (empty) response.resume();
        const stream = empty
          ? null
          : watchedBody(response, {
              maxBytes,
              eventStream,
              eventId: () => {
                if (watched) exchange.resumable = true;
              },
              ended: (end) => {
                if (watched) exchange.bodyEnded(end);
              },
            });
        resolve(
          new Response(stream, { status: status < 200 || status > 599 ? 502 : status, headers: headersOf(response) }),
        );
      });
    });
  };

  return {
    fetch,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function headersOf(response: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
}
