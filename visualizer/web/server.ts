/**
 * The door of the local page: on loopback, behind a random token in the address, for no other host name and no other
 * origin. What is behind it is in `routes.ts`.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeHere, isOurName, isOurOrigin, listenHere } from '../loopback.ts';

/** What the page may do: nothing but talk to where it came from. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

export interface Asked {
  readonly method: string;
  /** Behind the token, without a slash at its front. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly token: string;
}

export interface Door {
  readonly url: string;
  readonly token: string;
  /** Ends with what is open: streams, too. */
  close(): Promise<void>;
}

/** A request for a WebSocket, asked for under a name of ours. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Rejects with the error of `listen` where the port is in use. Without `upgrade` there are no WebSockets. */
export async function openDoor(port: number, route: (asked: Asked) => Promise<void>, upgrade?: Upgrade): Promise<Door> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const asked = admit(request, response, token, server);
    if (asked === null) return;
    route(asked).catch((error: unknown) => {
      if (!response.headersSent) return refuse(response, 500, `something went wrong: ${(error as Error).message}`);
      response.destroy();
    });
  });
  server.maxConnections = 256;
  if (upgrade) {
    server.on('upgrade', (request, socket, head) => {
      if (isOurName(request.headers, server)) upgrade(request, socket, head);
      else refuseUpgrade(socket, '403 Forbidden');
    });
  }
  const url = `${await listenHere(server, port)}/${token}/`;
  return { url, token, close: async () => closeHere(server) };
}

function admit(request: IncomingMessage, response: ServerResponse, token: string, server: Server): Asked | null {
  const { method = '', headers } = request;
  if (!isOurName(headers, server)) return refuse(response, 403, 'this host name is not served');
  if (!isOurOrigin(headers)) return refuse(response, 403, 'this origin is not served');
  const url = new URL(request.url ?? '/', `http://${headers.host}`);
  const [, given = '', ...rest] = url.pathname.split('/');
  if (!same(given, token)) {
    return refuse(response, 403, 'the address is incomplete: open the one that was printed, token and all');
  }
  const path = rest.join('/');
  const site = headers['sec-fetch-site'];
  if (path !== '' && site !== undefined && site !== 'same-origin' && site !== 'none') {
    return refuse(response, 403, 'this is not for other sites');
  }
  if (url.pathname === `/${token}`) {
    response.writeHead(308, { location: `/${token}/` }).end();
    return null;
  }
  if (method !== 'GET' && method !== 'POST') return refuse(response, 405, 'only GET and POST are served');
  // A form of another page can send neither of these.
  if (method === 'POST' && (headers.origin === undefined || !same(String(headers['x-toolop-token'] ?? ''), token))) {
    return refuse(response, 403, 'a command needs the token of the page and its origin');
  }
  return { method, path, query: url.searchParams, request, response, token };
}

function same(given: string, token: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export function refuse(response: ServerResponse, status: number, error: string): null {
  // What is still being sent is not read.
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' });
  response.end(JSON.stringify({ error }));
  return null;
}

export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** Reads a body of JSON. `null`: it was refused. */
export async function readJson({ request, response }: Asked, most: number): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return refuse(response, 415, 'a command is sent as application/json');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) return refuse(response, 413, `a command has at most ${most} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return refuse(response, 400, 'a command is JSON');
  }
}
