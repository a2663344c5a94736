import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { listen } from '../../listen.ts';
import { answerControl } from '../control-port.ts';
import { applyControl } from './control.ts';
import { createServer } from './handlers.ts';
import type { World } from './world.ts';

/** Counts what arrives, before the SDK looks at it: cancelled requests and answers are seen too. */
export async function connectLogged(world: World, transport: Transport): Promise<void> {
  await createServer(world).connect(transport);
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    record(world, message);
    receive?.(message, extra);
  };
}

function record(world: World, message: JSONRPCMessage): void {
  if (!('method' in message)) return;
  const { log } = world;
  log.counts[message.method] = (log.counts[message.method] ?? 0) + 1;
  if (!('id' in message)) return;
  const taskId: unknown = message.params?.taskId;
  log.requests.push({
    method: message.method,
    taskId: typeof taskId === 'string' ? taskId : null,
    at: Date.now(),
    meta: { ...message.params?._meta },
  });
}

/** Serves `/mcp`, `/control` and `/control/log` on loopback. */
export async function serveHttp(world: World, port: number): Promise<number> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = http.createServer((request, response) => {
    route(world, sessions, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  server.keepAliveTimeout = 60_000;
  return listen(server, port);
}

async function route(
  world: World,
  sessions: Map<string, StreamableHTTPServerTransport>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  if (request.url?.startsWith('/control')) {
    return answerControl(request, response, {
      apply: (told) => applyControl(world, told, () => sessions.clear()),
      log: () => world.log,
      tasks: () => [...world.tasks.values()],
    });
  }
  const text = request.method === 'POST' ? await readAll(request) : '';
  const message: unknown = text === '' ? undefined : JSON.parse(text);
  if (message !== undefined && (await meetFault(world, message, request, response))) return;

  const sessionId = request.headers['mcp-session-id'];
  const known = typeof sessionId === 'string' ? sessions.get(sessionId) : undefined;
  if (known !== undefined) return known.handleRequest(request, response, message);
  if (typeof sessionId === 'string') {
    response.writeHead(404, { 'content-type': 'application/json' });
    return void response.end(
      JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }),
    );
  }
  const { stateless, json, resumable } = world.options;
  const transport = new StreamableHTTPServerTransport({
    ...(stateless ? {} : { sessionIdGenerator: () => randomUUID() }),
    enableJsonResponse: json,
    ...(resumable ? { eventStore: createEventStore() } : {}),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  // The SDK's class does not satisfy its own interface under `exactOptionalPropertyTypes`.
  await connectLogged(world, transport as Transport);
  await transport.handleRequest(request, response, message);
}

/** `true`: the fault answered (or broke) the request, nothing is to be done any more. */
async function meetFault(
  world: World,
  message: unknown,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<boolean> {
  const { method, params } = message as { method?: string; params?: { taskId?: string } };
  if (method === undefined) return false;
  const fault = world.takeFault(method, params?.taskId ?? null, [
    'http',
    'resetBefore',
    'reset',
    'truncate',
    'malformed',
    'emptyStream',
  ]);
  switch (fault?.kind) {
    case 'http':
      response
        .writeHead(fault.status, fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter })
        .end('no');
      return true;
    case 'resetBefore':
      request.socket.resetAndDestroy();
      return true;
    case 'malformed': {
      const stream = fault.eventStream === true;
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      if (stream) response.write('event: message\ndata: {"jsonrpc": oops\n\n');
      else response.end('{"jsonrpc": oops');
      return true;
    }
    case 'emptyStream':
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      return true;
    case 'reset':
    case 'truncate':
      breakAnswer(request, response, fault.kind);
  }
  return false;
}

/** Breaks the connection when the answer (and not only an event without data) is being written. */
function breakAnswer(request: http.IncomingMessage, response: http.ServerResponse, kind: 'reset' | 'truncate'): void {
  const write = response.write.bind(response);
  const cut = (chunk: unknown): boolean => {
    const bytes = Buffer.from(typeof chunk === 'string' ? chunk : (chunk as Uint8Array));
    if (!bytes.includes('"jsonrpc"')) return write(bytes);
    if (kind === 'reset') request.socket.resetAndDestroy();
    else write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
    return true;
  };
  response.write = cut;
  response.end = ((chunk?: unknown) => {
    if (chunk !== undefined) cut(chunk);
    return response;
  }) as typeof response.end;
}

/** Events of all streams in order, so that one can be resumed. */
function createEventStore(): EventStore {
  const events: { id: string; streamId: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(streamId, message) {
      const id = `${streamId}_${events.length}`;
      events.push({ id, streamId, message });
      return id;
    },
    async getStreamIdForEventId(eventId) {
      return events.find((event) => event.id === eventId)?.streamId;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const last = events.findIndex((event) => event.id === lastEventId);
      const streamId = events[last]?.streamId ?? '';
      for (const event of events.slice(last + 1)) {
        // The priming event of a stream has no message to replay.
        if (event.streamId === streamId && 'jsonrpc' in event.message) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}

async function readAll(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
