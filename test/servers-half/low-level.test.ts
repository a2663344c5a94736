/** A low-level `Server` of the SDK adopts the half of 2025-11-25 too, on a transport that says nothing of who is asking. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, CreateTaskResultSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServersHalf20251125, serversHalf20251125 } from '../../adapters/mcp-2025-11-25/server/index.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { metaOf, newMark } from './rig.ts';

let redis: RedisServer;
let shared: Redis;
let half: ServersHalf20251125;
let executions = 0;

beforeAll(async () => {
  redis = await startRedis();
  shared = new Redis(redis.url);
  half = serversHalf20251125({
    redis: shared,
    retentionMs: 60_000,
    pollIntervalMs: 20,
    principalOf: () => 'the parent',
  });
});
afterAll(async () => {
  await half.close();
  shared.disconnect();
  await redis.stop();
});

async function connect(adopted: boolean): Promise<Client> {
  const server = new Server(
    { name: 'low', version: '1' },
    {
      capabilities: { tools: {}, ...half.capabilities },
      taskStore: half.taskStore,
      taskMessageQueue: half.taskMessageQueue,
    },
  );
  if (adopted) half.install(server);
  server.setRequestHandler(CallToolRequestSchema, async (_request, extra) => {
    executions += 1;
    const { taskStore } = extra;
    if (taskStore === undefined) throw new Error('no task store');
    const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 20 });
    await taskStore.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text: 'done' }] });
    return { task };
  });
  const client = new Client({ name: 'test', version: '1' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return client;
}

it('B4, G2: one key, one task, on two connections; the connection that was given stays its owner’s', async () => {
  const params = { name: 'anything', arguments: {}, task: {}, _meta: metaOf(newMark()) };
  const clients = [await connect(true), await connect(true)];
  const made = await Promise.all(
    clients.map((client) => client.request({ method: 'tools/call', params }, CreateTaskResultSchema)),
  );
  const taskId = made[0]?.task.taskId ?? '';
  expect(made.map(({ task }) => task.taskId)).toEqual([taskId, taskId]);
  expect(executions).toBe(1);
  const result = await clients[1]?.request({ method: 'tasks/result', params: { taskId } }, ResultSchema);
  expect(result).toMatchObject({ content: [{ text: 'done' }] });
  expect(await shared.ping()).toBe('PONG');
});

it('a server that has the stores and was not given to install() reads and makes nothing', async () => {
  const client = await connect(false);
  const params = { name: 'anything', arguments: {}, task: {} };
  await expect(client.request({ method: 'tools/call', params }, CreateTaskResultSchema)).rejects.toThrow(/install/);
});

it('what the SDK clears without waiting never rejects: that would end the process', async () => {
  const gone = new Redis(redis.url, { lazyConnect: true });
  const seen: Error[] = [];
  const lonely = serversHalf20251125({
    redis: gone,
    retentionMs: 60_000,
    principalOf: () => 'the parent',
    onError: (error) => seen.push(error),
  });
  await lonely.close();
  expect(await lonely.taskMessageQueue.dequeueAll('no-task')).toEqual([]);
  expect(seen.length).toBeGreaterThan(0);
});
