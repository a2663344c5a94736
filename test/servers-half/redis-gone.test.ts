/** A Redis that is gone for good under a servers' half: nothing is rejected to nobody, nothing piles up, and `close` ends it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CreateTaskResultSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { serversHalf20251125 } from '../../adapters/mcp-2025-11-25/server/index.ts';
import { startRedis } from '../support/redis.ts';
import { metaOf, newMark } from './rig.ts';

const AWAY_MS = 5_000;
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
afterEach(() => void process.off('unhandledRejection', note));

it('design 6: 2025-11-25 with tasks that work, ask and end while it is gone', async () => {
  const redis = await startRedis();
  const errors: Error[] = [];
  const half = serversHalf20251125({
    ...{ redis: redis.url, retentionMs: 60_000, heartbeatMs: 60, pollIntervalMs: 20, principalOf: () => 'alice' },
    onError: (error) => errors.push(error),
  });
  const inputSchema = { ask: z.boolean(), ms: z.number() };
  half.taskTool('work', { inputSchema }, async ({ ask, ms }, run) => {
    if (ask) await run.elicit({ message: 'which?', requestedSchema: { type: 'object', properties: {} } });
    await sleep(ms);
    return { content: [] };
  });
  const server = new McpServer(
    { name: 'half', version: '1' },
    {
      capabilities: { tools: {}, ...half.capabilities },
      taskStore: half.taskStore,
      taskMessageQueue: half.taskMessageQueue,
    },
  );
  half.install(server);
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  const waiting: Promise<unknown>[] = [];
  for (const args of [
    { ask: true, ms: 0 },
    { ask: false, ms: 1_000 },
  ]) {
    const params = { name: 'work', arguments: args };
    const made = await client.request(
      { method: 'tools/call', params: { ...params, task: {}, _meta: metaOf(newMark()) } },
      CreateTaskResultSchema,
    );
    waiting.push(client.request({ method: 'tasks/result', params: { taskId: made.task.taskId } }, ResultSchema));
    waiting.push(
      client.request({ method: 'tools/call', params: { ...params, _meta: metaOf(newMark()) } }, ResultSchema),
    );
  }
  const ended = Promise.allSettled(waiting);

  process.on('unhandledRejection', note);
  const before = process.cpuUsage();
  await redis.stop();
  await sleep(AWAY_MS);
  const used = process.cpuUsage(before);
  expect((used.user + used.system) / 1_000).toBeLessThan(AWAY_MS / 2);
  expect(errors.length).toBeGreaterThan(0);
  // A round every 20 ms would be 250: it waits for the one before it.
  expect(errors.length).toBeLessThan(150);

  const began = performance.now();
  await half.close();
  expect(performance.now() - began).toBeLessThan(6_000);
  await client.close();
  await ended;
  // What a tool ends with can be stored nowhere any more, and that is not tried for ever.
  await sleep(600);
  const told = errors.length;
  await sleep(1_500);
  expect(errors.length).toBe(told);
  expect(unhandled).toEqual([]);
});
