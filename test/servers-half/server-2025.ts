/**
 * A server of the official SDK that adopted the half of 2025-11-25, as a program:
 *
 *     server-2025.ts '{"redis": URL, "port": 0, "heartbeatMs": 600, "retentionMs": 60000}'
 *
 * It prints one line of JSON, `{"url"}`. Who asks is the bearer token. What its tools do is kept in Redis: `begun` and
 * `done` are lists of `tool label`, and a call with a label that begins with `hold` works until the key `release:LABEL` is
 * there.
 */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { serversHalf20251125, type TaskRun } from '../../adapters/mcp-2025-11-25/server/index.ts';

export interface ServerOrders {
  readonly redis: string;
  readonly port: number;
  readonly heartbeatMs: number;
  readonly retentionMs: number;
}

const orders = JSON.parse(process.argv[2] ?? '') as ServerOrders;
const redis = new Redis(orders.redis, { protocol: 2 });

const half = serversHalf20251125({
  redis: orders.redis,
  retentionMs: orders.retentionMs,
  heartbeatMs: orders.heartbeatMs,
  pollIntervalMs: 50,
  keepEndedMs: 500,
  principalOf: (request) => {
    const header = request?.requestInfo?.headers.authorization;
    return typeof header === 'string' ? header.replace(/^Bearer ?/, '') : '';
  },
  onError: (error) => process.stderr.write(`${error.message}\n`),
});

const requestedSchema = {
  type: 'object' as const,
  properties: { word: { type: 'string' as const } },
  required: ['word'],
};

interface Work {
  readonly label: string;
  readonly ask?: number | undefined;
}

async function work(tool: string, { label, ask = 0 }: Work, run: TaskRun): Promise<CallToolResult> {
  await redis.rpush('begun', `${tool} ${label}`);
  run.signal.addEventListener('abort', () => void redis.rpush('stopped', `${label} ${String(run.signal.reason)}`));
  const words: unknown[] = [];
  for (let round = 1; round <= ask; round++) {
    const answer = await run.elicit({ message: `${label} question ${round}`, requestedSchema });
    words.push(answer.content?.word ?? answer.action);
  }
  await released(label);
  await redis.rpush('done', `${tool} ${label}`);
  if (label.startsWith('throw')) throw new Error('as told');
  return { content: [{ type: 'text', text: `${label} ${words.join(' ')} run ${run.run}` }] };
}

async function released(label: string): Promise<void> {
  while (label.startsWith('hold') && (await redis.exists(`release:${label}`)) === 0) await sleep(20);
}

const input = { label: z.string(), ask: z.number().optional() };
half.taskTool('work', { inputSchema: input }, (args, run) => work('work', args, run));
half.taskTool('again', { inputSchema: input, resumable: true }, (args, run) => work('again', args, run));

/** A server as it is written for the SDK, without a thought of this half, but for the marked lines. */
function createServer(): McpServer {
  const server = new McpServer(
    { name: 'adopted', version: '1.0.0' },
    {
      capabilities: { tools: {}, ...half.capabilities }, // half
      taskStore: half.taskStore, // half
      taskMessageQueue: half.taskMessageQueue, // half
    },
  );
  half.install(server); // half
  server.registerTool('greet', { inputSchema: { label: z.string() } }, async ({ label }) => {
    await redis.rpush('begun', `greet ${label}`);
    await released(label);
    return { content: [{ type: 'text', text: `hello ${label}` }] };
  });
  server.experimental.tasks.registerToolTask(
    'native',
    { inputSchema: input, execution: { taskSupport: 'optional' } },
    {
      createTask: async ({ label, ask = 0 }, extra) => {
        const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl ?? null });
        const { taskId } = task;
        const run = async (): Promise<void> => {
          await redis.rpush('begun', `native ${label}`);
          for (let round = 1; round <= ask; round++) {
            const message = `${label} question ${round}`;
            await server.server.elicitInput({ mode: 'form', message, requestedSchema }, { relatedTask: { taskId } });
          }
          await released(label);
          await redis.rpush('done', `native ${label}`);
          await extra.taskStore.storeTaskResult(taskId, 'completed', { content: [{ type: 'text', text: label }] });
        };
        run().catch((error: Error) => process.stderr.write(`native: ${error.message}\n`));
        return { task };
      },
      getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
      getTaskResult: async (_args, extra) => (await extra.taskStore.getTaskResult(extra.taskId)) as CallToolResult,
    },
  );
  return server;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function route(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  if (known !== undefined) return known.handleRequest(request, response);
  if (typeof id === 'string') return void response.writeHead(404).end();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (sessionId) => void sessions.set(sessionId, transport),
  });
  // The SDK's class does not satisfy its own interface under `exactOptionalPropertyTypes`.
  await createServer().connect(transport as Transport);
  await transport.handleRequest(request, response);
}

const server = http.createServer((request, response) => {
  route(request, response).catch((error: unknown) => {
    if (!response.headersSent) response.writeHead(500);
    response.end(String(error));
  });
});
server.listen(orders.port, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
});
