/** A server on the half of 2026-07-28, as a program; its orders and what it leaves in Redis are those of `server-2025.ts`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import { Redis } from 'ioredis';
import {
  type CallContext,
  type InputQuestion,
  serversHalf20260728,
  type ToolConfig,
} from '../../adapters/mcp-2026-07-28/server/index.ts';
import type { Json } from '../../machines/digest.ts';
import { serve2026 } from './serve-2026.ts';
import type { ServerOrders } from './server-2025.ts';

const orders = JSON.parse(process.argv[2] ?? '') as ServerOrders;
const redis = new Redis(orders.redis, { protocol: 2 });

const half = serversHalf20260728({
  redis: orders.redis,
  retentionMs: orders.retentionMs,
  heartbeatMs: orders.heartbeatMs,
  pollIntervalMs: 50,
  keepEndedMs: 500,
  principalOf: ({ http }) => (http?.req?.headers.get('authorization') ?? '').replace(/^Bearer ?/, ''),
  onError: (error) => process.stderr.write(`${error.message}\n`),
});

const inputSchema = {
  type: 'object',
  properties: { label: { type: 'string' }, ask: { type: 'array', items: { type: 'string' } } },
  required: ['label'],
} as const;

function question(message: string): InputQuestion {
  const requestedSchema = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

async function work(tool: string, args: Json, context: CallContext): Promise<CallToolResult> {
  const { label, ask = [] } = args as { label: string; ask?: string[] };
  await redis.rpush('begun', `${tool} ${label}`);
  context.signal.addEventListener('abort', () => void redis.rpush('stopped', `${label} ${context.signal.reason}`));
  await context.progress('has begun');
  const answers = await Promise.all(ask.map((key) => context.ask(key, question(`${label} ${key}`))));
  while (label.startsWith('hold') && (await redis.exists(`release:${label}`)) === 0) {
    // `hold-on` does not hear a cancel.
    await sleep(20, undefined, label.startsWith('hold-on') ? {} : { signal: context.signal });
  }
  await redis.rpush('done', `${tool} ${label}`);
  if (label.startsWith('throw')) throw new Error('as told');
  if (label.startsWith('fault')) throw Object.assign(new Error('a fault'), { code: -32050 });
  const words = [...answers, ...Object.values(context.answers)].map((answer) => JSON.stringify(answer)).join(' ');
  return { content: [{ type: 'text', text: `${label} ${words} run ${context.run}` }] };
}

const tools: Record<string, Partial<ToolConfig>> = {
  work: {},
  again: { resumable: true },
  sync: { taskSupport: 'forbidden' },
  must: { taskSupport: 'required' },
  brief: { ttlMs: 1 },
  first: { before: () => ({ who: question('who?') }) },
};
for (const [name, config] of Object.entries(tools)) {
  half.tool(name, { inputSchema, ...config }, (args, context) => work(name, args, context));
}
const info = { name: 'half-2026', version: '1.0.0' };
const url = await serve2026(() => half.install(new Server(info, { capabilities: half.capabilities })), orders.port);
process.stdout.write(`${JSON.stringify({ url })}\n`);
