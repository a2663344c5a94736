/**
 * Stands before a scripted server and knows whose each request is: does to it what the operation's own script says, and
 * keeps what happened to every operation, in order, with the name of the client that asked.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { World } from '../../kit/servers/mcp-2025-11-25/world.ts';
import { textOf } from '../../kit/wire/control.ts';
import type { Deed, GateScript } from './deeds.ts';

const KEY = 'dev.toolop/submission-key';
const Message = z.looseObject({
  method: z.string(),
  id: z.union([z.string(), z.number()]).optional(),
  params: z
    .looseObject({
      taskId: z.string().optional(),
      key: z.string().optional(),
      arguments: z.looseObject({ script: z.looseObject({ callNode: z.string().optional() }).optional() }).optional(),
      clientInfo: z.looseObject({ name: z.string() }).optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
type Message = z.infer<typeof Message>;

interface Known {
  readonly deeds: readonly Deed[];
  readonly seen: Map<string, number>;
  readonly lines: string[];
}

export class Front {
  readonly #operations = new Map<string, Known>();
  readonly #byKey = new Map<string, string>();
  readonly #clients = new Map<string, string>();
  readonly #agent = new http.Agent({ keepAlive: true });
  #calm = false;

  constructor(
    private readonly world: World,
    private readonly port: number,
  ) {}

  /** Listens on a free port of loopback, and tells it. */
  async listen(): Promise<number> {
    const server = http.createServer((request, response) => {
      response.on('error', () => undefined);
      this.#route(request, response).catch(() => request.socket.destroy());
    });
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  async #route(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    if (request.url === '/front/log') {
      const lines = [...this.#operations].map(([callNode, known]) => [callNode, known.lines] as const);
      return void response.end(JSON.stringify(Object.fromEntries(lines)));
    }
    if (request.url === '/front/calm') {
      this.#calm = true;
      return void response.end();
    }
    const body = request.method === 'POST' ? await textOf(request) : '';
    const message = read(body);
    const deed = message === null ? null : this.#meet(message, request);
    await this.#perform(deed, message, body, request, response);
  }

  /** Whose request it is, and what is to be done to it. */
  #meet(message: Message, request: http.IncomingMessage): Deed | null {
    const { method, params } = message;
    const script = params?.arguments?.script as GateScript | undefined;
    const task = params?.taskId === undefined ? undefined : this.world.tasks.get(params.taskId);
    const callNode =
      script?.callNode ?? (task?.script as GateScript | undefined)?.callNode ?? this.#byKey.get(params?.key ?? '');
    if (callNode === undefined) return null;
    const known: Known = this.#operations.get(callNode) ?? { deeds: script?.deeds ?? [], seen: new Map(), lines: [] };
    this.#operations.set(callNode, known);
    const key = params?._meta?.[KEY];
    if (typeof key === 'string') this.#byKey.set(key, callNode);
    const nth = (known.seen.get(method) ?? 0) + 1;
    known.seen.set(method, nth);
    const deed = this.#calm ? undefined : known.deeds.find((one) => one.method === method && one.nth === nth);
    const client = this.#clients.get(String(request.headers['mcp-session-id'])) ?? '?';
    known.lines.push(`${client} ${method} ${deed?.kind ?? ''}`);
    return deed ?? null;
  }

  async #perform(
    deed: Deed | null,
    message: Message | null,
    body: string,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    switch (deed?.kind) {
      case 'lostBefore':
        request.socket.resetAndDestroy();
        return;
      case '503':
      case '429':
        response.writeHead(Number(deed.kind), deed.ms > 0 ? { 'retry-after': '1' } : {}).end('not now');
        return;
      case 'internalError':
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: message?.id, error: { code: -32603, message: 'not now' } }));
        return;
      case 'delayed':
        await new Promise((resolve) => setTimeout(resolve, deed.ms));
        break;
      case 'twice':
        this.#onward(body, request)
          .on('response', (answer) => answer.resume())
          .end(body);
    }
    this.#forward(deed, message, body, request, response);
  }

  #onward(body: string, request: http.IncomingMessage): http.ClientRequest {
    const { connection: _, 'content-length': __, 'transfer-encoding': ___, host: ____, ...headers } = request.headers;
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
    return http
      .request({
        host: '127.0.0.1',
        port: this.port,
        path: request.url,
        method: request.method,
        headers: { ...headers, ...length },
        agent: this.#agent,
      })
      .on('error', () => undefined);
  }

  #forward(
    deed: Deed | null,
    message: Message | null,
    body: string,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): void {
    const onward = this.#onward(body, request);
    onward.on('error', () => request.socket.destroy());
    // A client that left hears nothing more; what it asked for goes on (the server decides).
    response.on('close', () => onward.destroy());
    onward.on('response', (answer) => {
      const session = answer.headers['mcp-session-id'];
      const name = message?.params?.clientInfo?.name;
      if (typeof session === 'string' && name !== undefined) this.#clients.set(session, name);
      answer.on('error', () => request.socket.destroy());
      const harm = deed?.kind;
      if (harm === 'silence') {
        answer.resume();
        return;
      }
      const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = answer.headers;
      const open = () => {
        response.writeHead(answer.statusCode ?? 502, headers);
        response.flushHeaders();
      };
      if (harm === 'lostReply' || harm === 'truncated') {
        if (harm === 'truncated') open();
        answer.on('data', (chunk: Buffer) => {
          if (!chunk.includes('"jsonrpc"')) return;
          if (harm === 'lostReply') request.socket.resetAndDestroy();
          else response.write(chunk.subarray(0, chunk.length / 2), () => request.socket.destroy());
        });
        return;
      }
      if (harm === 'late') answer.pause();
      setTimeout(
        () => {
          if (response.destroyed) return;
          open();
          answer.pipe(response);
        },
        harm === 'late' ? deed?.ms : 0,
      );
    });
    onward.end(body);
  }
}

function read(text: string): Message | null {
  try {
    return Message.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
