/** An adapter over HTTP: real sockets to a server in this process, which answers every request with bytes of its own. */
import { createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import type { McpOptions } from '../../../adapters/mcp/options.ts';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../../adapters/mcp-2026-07-28/index.ts';
import type { Json } from '../../../machines/digest.ts';
import {
  EndpointUnavailable,
  type OperationProtocol,
  type ProtocolSession,
} from '../../../machines/operation-protocol.ts';
import { byteEdits, bytesOf, strings } from '../dirt.ts';
import { answerTo, type Message, unasked, wireOf } from '../messages.ts';
import { callMethod, METHODS, type Method, RESUMED } from '../methods.ts';
import { ANSWERS, ANSWERS_2026, DISCOVERED, INITIALIZED } from '../recorded.ts';
import { situation } from '../situations.ts';
import { target } from '../target.ts';

/** One answer of the server: a head, a body in some framing, and an end of the connection. */
interface Said {
  readonly status: string;
  readonly headers: readonly string[];
  readonly form: 'json' | 'array' | 'sse' | 'text';
  readonly before: readonly Message[];
  readonly answer: Message;
  readonly sse: { readonly end: string; readonly field: string; readonly between: string };
  readonly framing: 'length' | 'close' | 'chunked' | 'wrongLength';
  readonly bytes: Parameters<typeof bytesOf>[1];
  readonly pieces: number;
  readonly reset: boolean;
  /** So often: a server that asks faster than it reads. */
  readonly times: number;
}
interface Input {
  readonly method: Method;
  readonly resumed: boolean;
  readonly situation: number;
  readonly turns: readonly Said[];
  readonly stream: Said | null;
}

const header = fc.oneof(
  fc.constantFrom(
    ...['Retry-After: 1', 'Retry-After: -1', 'Retry-After: 99999999999999999999', 'Retry-After: Thu, 01 Jan 1970'],
    ...['mcp-session-id: s-2', `mcp-session-id: ${'s'.repeat(700)}`, 'mcp-session-id:', 'mcp-session-id: \u00e9\u00ff'],
    ...['Location: /elsewhere', 'Location: http://example.invalid/', 'WWW-Authenticate: Bearer', 'Connection: close'],
    ...['Content-Encoding: gzip', 'Transfer-Encoding: gzip', 'Set-Cookie: a=b', '__proto__: x', 'X: \t', 'nonsense'],
  ),
  strings.map((text) => `X-Fuzz: ${text.replace(/[\r\n]/g, '').slice(0, 200)}`),
  strings.map((text) => text.slice(0, 50)),
);
const rarely = <T>(usual: T, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });
const saidTo = (method: Method, known: readonly Json[]): fc.Arbitrary<Said> =>
  fc.record({
    status: rarely(
      '200 OK',
      fc.constantFrom(
        ...[
          '100 Continue',
          '101 Switching',
          '103 Hints',
          '200',
          '202 Accepted',
          '204 No',
          '206 Partial',
          '302 Found',
          '304 Same',
          '307 There',
          '400 Bad',
          '401 Who',
          '403 No',
          '404 Gone',
          '405 No',
          '408 Late',
          '409 Clash',
          '429 Slow',
          '500 Oops',
          '503 Busy',
          '599 X',
          '600 X',
          '999 X',
          '0 X',
          '',
          'x',
        ],
      ),
    ),
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }) },
    ),
    form: fc.constantFrom('json', 'json', 'array', 'sse', 'sse', 'sse', 'text'),
    before: fc.array(unasked, { maxLength: 2 }),
    answer: answerTo(method, known),
    sse: fc.record({
      end: fc.constantFrom('\n', '\n', '\r\n', '\r'),
      field: rarely(
        'data: ',
        fc.constantFrom(
          'data:',
          'data',
          'event: x\ndata: ',
          'event: message\ndata: ',
          'DATA: ',
          '\ufeffdata: ',
          'id: \u0000\ndata: ',
          'id: €\ndata: ',
          ': c\ndata: ',
        ),
      ),
      between: rarely(
        '',
        fc.constantFrom(
          'id: 1\n\n',
          'id: 1\nretry: 0\n\n',
          'id: 1\nretry: 1\n\n',
          'retry: 99999999999\n\n',
          'retry: x\n\n',
          ':\n\n',
          '\n\n\n',
          'id\n\n',
          'x'.repeat(5_000),
        ),
      ),
    }),
    framing: rarely('length', fc.constantFrom('close', 'chunked', 'wrongLength')),
    bytes: rarely([], byteEdits),
    pieces: fc.constantFrom(1, 1, 1, 3),
    reset: rarely(false, fc.constant(true)),
    times: rarely(1, fc.constantFrom(2, 150)),
  });

const TYPES = {
  json: 'application/json',
  array: 'application/json; charset=utf-8',
  sse: 'text/event-stream',
  text: 'text/html',
};

function bodyOf({ form, before, answer: last, sse, times }: Said, id: number): Buffer {
  const asked = Array.from({ length: times }, () => before).flat();
  const messages = [...asked, last].map((message) => wireOf(message, id));
  if (form === 'array') return Buffer.from(`[${messages.map((message) => message.toString('utf8')).join(',')}]`);
  if (form !== 'sse') return messages.at(-1) as Buffer;
  const { end, field, between } = sse;
  const events = messages.flatMap((message) => [
    Buffer.from(field.replaceAll('\n', end)),
    message,
    Buffer.from(`${end}${end}`),
  ]);
  return Buffer.concat([Buffer.from(between.replaceAll('\n', end)), ...events]);
}

async function write(socket: Socket, one: Said, id: number): Promise<void> {
  const body = bodyOf(one, id);
  const { framing } = one;
  const length = framing === 'wrongLength' ? body.length + 7 : body.length;
  const head = [
    `HTTP/1.1 ${one.status}`,
    `Content-Type: ${TYPES[one.form]}`,
    ...(framing === 'chunked'
      ? ['Transfer-Encoding: chunked']
      : framing === 'close'
        ? []
        : [`Content-Length: ${length}`]),
    ...one.headers,
  ].join('\r\n');
  const framed =
    framing === 'chunked'
      ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
      : body;
  const all = bytesOf(`${head}\r\n\r\n`, []);
  const bytes =
    one.bytes.length === 0
      ? Buffer.concat([all, framed])
      : bytesOf(Buffer.concat([all, framed]).toString('latin1'), one.bytes);
  const size = Math.max(1, Math.ceil(bytes.length / one.pieces));
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (one.pieces > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (one.reset) socket.resetAndDestroy();
  else socket.end();
}

/** Everything a request needs to be answered by the script of its input. */
interface Script {
  readonly turns: Said[];
  readonly stream: Said | null;
  readonly sockets: Set<Socket>;
}

function serve(scripts: ReadonlyMap<string, Script>): Server {
  return createServer((socket) => {
    let heard = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      const end = heard.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = heard.subarray(0, end).toString('latin1');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (heard.length < end + 4 + length) return;
      const body = heard.subarray(end + 4, end + 4 + length).toString('utf8');
      heard = Buffer.alloc(0);
      const [method = '', path = ''] = head.split(' ');
      const script = scripts.get(path);
      if (script === undefined) return void socket.destroy();
      script.sockets.add(socket);
      socket.once('close', () => script.sockets.delete(socket));
      void respond(socket, script, method, body);
    });
  });
}

async function respond(socket: Socket, script: Script, method: string, body: string): Promise<void> {
  const plain = (status: string, text = '', type = '') =>
    void socket.end(
      `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n${type}\r\n${text}`,
    );
  if (method !== 'POST') {
    if (script.stream === null) return plain('405 No');
    return write(socket, script.stream, 0);
  }
  const { id, method: asked } = JSON.parse(body) as { id?: number; method?: string };
  if (asked === undefined || id === undefined) return plain('202 Accepted');
  const json = 'Content-Type: application/json\r\n';
  if (asked === 'ping') return plain('200 OK', JSON.stringify({ jsonrpc: '2.0', id, result: {} }), json);
  if (asked === 'server/discover' && script.turns.length < 2)
    return plain('200 OK', JSON.stringify({ jsonrpc: '2.0', id, result: DISCOVERED }), json);
  const next = script.turns.shift();
  if (next !== undefined) return write(socket, next, id);
  if (asked === 'initialize') return plain('200 OK', JSON.stringify({ jsonrpc: '2.0', id, result: INITIALIZED }), json);
  return plain('500 Over');
}

interface Spoken {
  readonly name: string;
  readonly about: string;
  readonly share: number;
  readonly known: readonly Json[];
  readonly protocol: (limits: McpOptions) => OperationProtocol;
}

const overHttp = ({ name, about, share, known, protocol: speaking }: Spoken) =>
  target<Input>({
    name,
    about,
    share,
    lanes: 12,
    batch: 100,
    async open() {
      const scripts = new Map<string, Script>();
      const server = serve(scripts);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      const limits = { connectTimeoutMs: 400, requestTimeoutMs: 400, resultTimeoutMs: 400, resumeGraceMs: 60 };
      const protocol = speaking({ ...limits, maxMessageBytes: 200_000 });
      let serial = 0;
      return {
        inputs: fc.constantFrom(...METHODS).chain((method) =>
          fc.record({
            method: fc.constant(method),
            resumed: rarely(true, fc.constant(false)),
            situation: fc.nat(100),
            turns: fc.array(saidTo(method, known), { minLength: 1, maxLength: 2 }),
            stream: rarely(null, saidTo(method, known)),
          }),
        ),
        async feed({ method, resumed, situation: at, turns, stream }) {
          const path = `/${serial++}`;
          const script: Script = { turns: [...turns], stream, sockets: new Set() };
          scripts.set(path, script);
          let session: ProtocolSession | null = null;
          try {
            const endpoint = { kind: 'http' as const, url: `http://127.0.0.1:${port}${path}` };
            session = await protocol.connect(endpoint, resumed && method !== 'negotiate' ? RESUMED : undefined);
            const opened = session;
            // A held request waits for ever by contract: its session is closed once all was said.
            return await callMethod(opened, method, situation(at), () => opened.close());
          } catch (error) {
            if (error instanceof EndpointUnavailable) return 'refused';
            throw error;
          } finally {
            await session?.close();
            scripts.delete(path);
            for (const socket of script.sockets) socket.destroy();
          }
        },
        async close() {
          await new Promise<void>((resolve) => server.close(() => resolve()));
        },
      };
    },
  });

export const http = overHttp({
  name: 'http',
  about: 'answers and streams of an HTTP server, byte by byte, to every method',
  share: 5,
  known: ANSWERS,
  protocol: mcp20251125,
});

export const http2026 = overHttp({
  name: 'http-2026-07-28',
  about: 'the same, to the adapter of 2026-07-28',
  share: 5,
  known: ANSWERS_2026,
  protocol: mcp20260728,
});
