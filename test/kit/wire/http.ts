/** A reverse proxy before a Streamable HTTP server: hands messages on, as the rules say. */
import http from 'node:http';
import { z } from 'zod';
import { listen } from '../listen.ts';
import { understood } from '../told.ts';
import { answerControl, readRules, textOf, type WireControls, wireControls } from './control.ts';
import type { RuleInput } from './rules.ts';
import { type Lane, type StatusReplacement, Wire } from './wire.ts';

/** A wire proxy before a Streamable HTTP server, in this process. */
export interface HttpProxy extends WireControls {
  /** Stands in place of the server's: the same path on 127.0.0.1. */
  readonly url: string;
  /** Of 127.0.0.1; `wireControls(port)` talks to it from another process. */
  readonly port: number;
  /** Breaks the connection of the latest request of this method, if it is not answered to its end. */
  breakOff(method: string): void;
  /** Stops listening and breaks what is open; the server goes on. */
  close(): Promise<void>;
}

const Target = z.url({ protocol: /^http$/, error: 'the server has to be named by a URL of http' });

/**
 * Starts a wire proxy before a Streamable HTTP server. Rejects with what is wrong with a rule or the target, and where the port is
 * not free.
 *
 * @param target where the server is: `http://host:port` and any path; the proxy keeps the path of each request
 * @param rules met from its first message on
 * @param port default: a free one
 */
export async function startHttpProxy(target: string, rules: readonly RuleInput[] = [], port = 0): Promise<HttpProxy> {
  const behind = new URL(understood(Target, target));
  const wire = new Wire();
  wire.setRules(readRules({ rules }, 'http'));
  let exchanges = 0;
  const open = new Set<Exchange>();
  const server = http.createServer((request, response) => {
    if (request.url?.startsWith('/control')) {
      void answerControl(wire, 'http', request, response);
      return;
    }
    const exchange = new Exchange(wire, behind, request, response, `exchange ${exchanges++}`);
    open.add(exchange);
    response.on('close', () => open.delete(exchange));
    void exchange.run();
  });
  server.keepAliveTimeout = 60_000;
  const listening = await listen(server, port);
  return {
    url: `http://127.0.0.1:${listening}${behind.pathname}`,
    port: listening,
    ...wireControls(listening),
    breakOff(method) {
      [...open].findLast((exchange) => exchange.isOf(method))?.breakOff();
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** One HTTP request and what comes back for it. */
class Exchange {
  readonly #conversation: string;
  #text = '';

  constructor(
    private readonly wire: Wire,
    private readonly target: URL,
    private readonly request: http.IncomingMessage,
    private readonly response: http.ServerResponse,
    name: string,
  ) {
    const session = request.headers['mcp-session-id'];
    this.#conversation = typeof session === 'string' ? session : name;
    response.on('error', () => undefined);
  }

  async run(): Promise<void> {
    const { request, response } = this;
    const text = request.method === 'POST' ? await textOf(request) : '';
    this.#text = text;
    if (text === '') {
      this.#forward(text, true);
      return;
    }
    let copies = 0;
    await this.wire.meet(text, {
      from: 'client',
      conversation: this.#conversation,
      pass: (body) => {
        // Also for a client that left: bytes that are late still arrive.
        this.#forward(body, copies++ === 0);
        return true;
      },
      lose: () => this.breakOff(),
      cut: (body) => this.#forwardHalf(body),
      reply: (body) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      status: (head) => this.#status(head),
    });
  }

  isOf(method: string): boolean {
    return this.#text.includes(`"method":${JSON.stringify(method)}`);
  }

  /** What a lost message, or a lost connection to the server, looks like. */
  breakOff(): void {
    this.request.socket.resetAndDestroy();
  }

  #status({ status, retryAfter, body }: StatusReplacement): void {
    if (this.response.headersSent) this.breakOff();
    else this.response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end(body);
  }

  #onward(body: string): http.ClientRequest {
    const { target, request } = this;
    const method = body === '' ? (request.method ?? 'GET') : 'POST';
    const headers: http.OutgoingHttpHeaders = { ...endToEnd(request.headers), host: target.host };
    if (method === 'POST') headers['content-type'] = 'application/json';
    // A connection of its own: what becomes of this message is not to touch another one.
    return http.request(new URL(request.url ?? '/', target), { method, headers, agent: false });
  }

  /** `answers`: the client gets what comes back; nobody does for a further copy of a request. */
  #forward(body: string, answers: boolean): void {
    const onward = this.#onward(body);
    onward.on('error', () => {
      if (answers) this.breakOff();
    });
    onward.on('response', (answer) => {
      if (!answers || this.response.destroyed) answer.resume();
      else this.#answer(answer).catch(() => this.breakOff());
    });
    if (answers && !this.response.destroyed) this.response.on('close', () => onward.destroy());
    onward.end(body);
  }

  #forwardHalf(body: string): void {
    const onward = this.#onward(body);
    onward.setHeader('content-length', Buffer.byteLength(body));
    onward.on('error', () => undefined);
    onward.write(body.slice(0, body.length / 2), () => {
      onward.destroy();
      this.breakOff();
    });
  }

  async #answer(answer: http.IncomingMessage): Promise<void> {
    const type = answer.headers['content-type'] ?? '';
    if (answer.statusCode === 200 && type.startsWith('text/event-stream')) return this.#streamed(answer);
    if (answer.statusCode === 200 && type.startsWith('application/json')) return this.#whole(answer);
    this.#head(answer);
    answer.on('error', () => this.breakOff()).pipe(this.response);
  }

  #head(answer: http.IncomingMessage): void {
    if (this.response.headersSent) return;
    this.response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    this.response.flushHeaders();
  }

  async #whole(answer: http.IncomingMessage): Promise<void> {
    const { response } = this;
    const passed: string[] = [];
    await this.wire.meet(await textOf(answer), {
      ...this.#toClient(answer),
      pass: (text) => passed.push(text) > 0 && !response.destroyed,
      lose: () => this.breakOff(),
    });
    const [first] = passed;
    if (first === undefined || response.destroyed) return;
    this.#head(answer);
    response.end(passed.length === 1 ? first : `[${passed.join(',')}]`);
  }

  /** The head goes out with the first event, so that a status can still be put in its place; a standing stream's at once. */
  async #streamed(answer: http.IncomingMessage): Promise<void> {
    const { response } = this;
    if (this.request.method === 'GET') this.#head(answer);
    const onTheirWay: Promise<void>[] = [];
    let rest = '';
    answer.setEncoding('utf8');
    for await (const chunk of answer) {
      const blocks = `${rest}${chunk}`.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      onTheirWay.push(...blocks.map((block) => this.#event(block, answer)));
    }
    await Promise.all(onTheirWay);
    if (response.destroyed) return;
    this.#head(answer);
    response.end();
  }

  #event(block: string, answer: http.IncomingMessage): Promise<void> {
    const lines = block.split(/\r?\n/);
    const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
    const around = lines.filter((line) => !line.startsWith('data:'));
    const lane = this.#toClient(answer, around);
    if (data.join('') === '') {
      lane.pass('');
      return Promise.resolve();
    }
    return this.wire.meet(data.join('\n'), lane);
  }

  /** `around`: the other lines of an event; without, the message is a body. */
  #toClient(answer: http.IncomingMessage, around?: readonly string[]): Lane {
    const { response } = this;
    const framed = (text: string) => (around ? `${[...around, `data: ${text}`].join('\n')}\n\n` : text);
    return {
      from: 'server',
      conversation: this.#conversation,
      pass: (text) => {
        if (response.destroyed || response.writableEnded) return false;
        this.#head(answer);
        response.write(framed(text));
        return true;
      },
      lose: () => undefined,
      cut: (text) => {
        this.#head(answer);
        response.write(framed(text).slice(0, framed(text).length / 2), () => this.request.socket.destroy());
      },
      reply: (text) => this.#forward(text, false),
      status: (head) => this.#status(head),
    };
  }
}

/** Without the headers that are about one connection or the length of one body. */
function endToEnd(headers: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  const { connection, 'keep-alive': _, 'transfer-encoding': __, 'content-length': ___, ...others } = headers;
  return others;
}
