import http from 'node:http';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { listen } from '../../listen.ts';
import { answerControl } from '../control-port.ts';
import { applyControl } from './control.ts';
import { amended, answerOf, type Message, record, waitBefore } from './entry.ts';
import { createServer } from './handlers.ts';
import type { Listens } from './listens.ts';
import type { Fault } from './options.ts';
import type { World } from './world.ts';

/** Serves `/mcp`, `/control`, `/control/log` and `/control/tasks` on loopback. */
export async function serveHttp(world: World, listens: Listens, port: number): Promise<number> {
  const options = { legacy: 'reject', keepAliveMs: 0 } as const;
  const handlers = {
    stream: createMcpHandler(() => createServer(world), { ...options, responseMode: 'sse' }),
    json: createMcpHandler(() => createServer(world), { ...options, responseMode: 'auto' }),
  };
  const server = http.createServer((request, response) => {
    route(world, listens, handlers, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  server.keepAliveTimeout = 60_000;
  return listen(server, port);
}

async function route(
  world: World,
  listens: Listens,
  handlers: Record<'stream' | 'json', McpHttpHandler>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  if (request.url?.startsWith('/control')) {
    return answerControl(request, response, {
      apply: (told) => applyControl(world, told, (graceful) => listens.endAll(graceful)),
      log: () => world.log,
      tasks: () => [...world.tasks.values()].map((task) => ({ ...task, open: [...task.open] })),
    });
  }
  if (request.method !== 'POST') {
    world.log.counts[`HTTP ${request.method}`] = (world.log.counts[`HTTP ${request.method}`] ?? 0) + 1;
    return void response.writeHead(405).end();
  }
  const message = JSON.parse(await readAll(request)) as Message;
  await serve(world, listens, handlers, message, request, response);
}

async function serve(
  world: World,
  listens: Listens,
  handlers: Record<'stream' | 'json', McpHttpHandler>,
  message: Message,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const method = message.method ?? '';
  record(world, message, request.headers);
  const gone = new AbortController();
  response.on('close', () => {
    if (response.writableFinished) return;
    world.log.disconnects[method] = (world.log.disconnects[method] ?? 0) + 1;
    gone.abort();
  });
  const fault = world.takeFault(method, message.params?.taskId);
  await waitBefore(world, fault);
  if (replaced(fault, message, request, response)) return;
  if (method === 'subscriptions/listen') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (value: unknown) => void response.write(`data: ${JSON.stringify(value)}\n\n`);
    const forget = listens.open(message, send, () => response.end());
    response.on('close', forget);
    return;
  }

  const served = await handlers[world.options.stream ? 'stream' : 'json'].fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]),
      body: JSON.stringify(message),
      signal: gone.signal,
    }),
  );
  const headers = Object.fromEntries(served.headers.entries());
  const stream = (headers['content-type'] ?? '').startsWith('text/event-stream');
  const body = await served.text();
  const said = stream ? /^data: (.+)$/m.exec(body)?.[1] : body;
  const answer = await amended(world, fault, JSON.parse(said ?? '{}'));
  if (answer === null || gone.signal.aborted) return;
  const written = JSON.stringify(answer);
  const bytes = Buffer.from(stream ? `event: message\ndata: ${written}\n\n` : written);
  if (fault?.kind === 'reset') return void request.socket.resetAndDestroy();
  response.writeHead(served.status, headers);
  if (fault?.kind !== 'truncate') return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
}

/** `true`: the fault answered (or broke) the request, nothing is to be done any more. */
function replaced(
  fault: Fault | null,
  message: Message,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): boolean {
  const answer = answerOf(fault, message);
  if (answer !== null) {
    const status = fault?.kind === 'rpc' ? (fault.status ?? 200) : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return true;
  }
  switch (fault?.kind) {
    case 'http': {
      const headers = { 'content-type': fault.type ?? 'text/plain' };
      const wait = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
      response.writeHead(fault.status, { ...headers, ...wait }).end(fault.body ?? 'no');
      return true;
    }
    case 'resetBefore':
      request.socket.resetAndDestroy();
      return true;
    case 'text':
      response.writeHead(200, { 'content-type': fault.type ?? 'application/json' }).end(fault.text);
      return true;
    default:
      return false;
  }
}

async function readAll(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
