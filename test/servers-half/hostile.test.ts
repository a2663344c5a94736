/** What tools, clocks, a Redis that is away and a second revision do to the servers' half. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { halfSettings } from '../../adapters/mcp/server/options.ts';
import { ServerStore } from '../../adapters/mcp/server/store.ts';
import { Workers } from '../../adapters/mcp/server/workers.ts';
import { serversHalf20251125 } from '../../adapters/mcp-2025-11-25/server/index.ts';
import { Calls } from '../../adapters/mcp-2026-07-28/server/calls.ts';
import { serversHalf20260728, type ToolConfig } from '../../adapters/mcp-2026-07-28/server/index.ts';
import { synchronous } from '../../adapters/sync/index.ts';
import type { Json } from '../../machines/digest.ts';
import { ExecutorProcess } from '../support/processes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { eventually } from '../support/rig.ts';
import { accept, Client2026 } from './client-2026.ts';
import { metaOf, newMark, startHalfRig } from './rig.ts';
import { serve2026 } from './serve-2026.ts';

type Work = Parameters<ReturnType<typeof serversHalf20260728>['tool']>[2];

let server: RedisServer;
let redis: Redis;
const closers: (() => Promise<unknown>)[] = [];
let spaces = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url, { protocol: 2 });
});
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const newSpace = () => `space-${spaces++}`;
const optionsOf = (namespace: string, heartbeatMs = 300) => ({
  ...{ redis: server.url, retentionMs: 60_000, heartbeatMs, namespace, pollIntervalMs: 50 },
  principalOf: () => 'alice',
});
function openStore(namespace: string, revision = 'test', heartbeatMs = 300): ServerStore {
  const store = new ServerStore(server.url, halfSettings(optionsOf(namespace, heartbeatMs)), revision);
  closers.push(() => store.close());
  return store;
}
async function stand(namespace: string, tools: Record<string, readonly [Partial<ToolConfig>, Work]>) {
  const half = serversHalf20260728(optionsOf(namespace));
  closers.push(() => half.close());
  for (const [name, [config, work]] of Object.entries(tools)) {
    half.tool(name, { inputSchema: { type: 'object' }, ...config }, work);
  }
  const info = { name: 'half', version: '1' };
  return new Client2026(await serve2026(() => half.install(new Server(info, { capabilities: half.capabilities })), 0));
}
const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });
const task = { owner: 'alice', tool: 'work', request: {}, ttlMs: null, pollMs: null, resumable: false };

const circular: Record<string, unknown> = {};
circular.self = circular;
let deep: unknown = {};
for (let level = 0; level < 20_000; level++) deep = { deep };

describe('what a tool ends with', () => {
  const endings: Record<string, () => unknown> = {
    undefined: () => undefined,
    null: () => null,
    'a text': () => 'text',
    'a list': () => [1],
    'a function': () => () => 1,
    'a BigInt inside': () => ({ ...text('x'), large: 10n }),
    'a circle': () => circular,
    'what is nested without end': () => ({ ...text('x'), deep }),
    'a toJSON that throws': () => ({
      toJSON() {
        throw new Error('no');
      },
    }),
    'an error with a circle in its data': () => {
      throw Object.assign(new Error('x'), { code: -32050, data: circular });
    },
  };
  it.each(Object.keys(endings))(
    'design 6: %s cannot be kept: the task fails, and does not work for ever',
    async (what) => {
      const work: Work = async () => endings[what]?.() as CallToolResult;
      const client = await stand(newSpace(), { work: [{}, work] });
      const ended = await client.until(await client.submit('work', {}), 'failed');
      expect(ended).toMatchObject({ error: { code: -32603, message: expect.stringContaining('cannot be kept') } });
      await expect(client.call('work', {}, { tasks: false })).rejects.toMatchObject({ code: -32603 });
    },
  );

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['an object without anything', Object.create(null)],
    ['a symbol', Symbol('thrown')],
  ])('design 6: %s that is thrown is a failure of the tool, and not the end of the process', async (_, thrown) => {
    const client = await stand(newSpace(), {
      work: [
        {},
        async () => {
          throw thrown;
        },
      ],
    });
    const ended = await client.until(await client.submit('work', {}), 'completed');
    expect(ended).toMatchObject({ result: { isError: true } });

    const half = serversHalf20251125(optionsOf(newSpace()));
    closers.push(() => half.close());
    half.taskTool('work', { inputSchema: {} }, async () => {
      throw thrown;
    });
    const mcp = new McpServer(
      { name: 'half', version: '1' },
      {
        capabilities: { tools: {}, ...half.capabilities },
        taskStore: half.taskStore,
        taskMessageQueue: half.taskMessageQueue,
      },
    );
    half.install(mcp);
    const [here, there] = InMemoryTransport.createLinkedPair();
    const old = new Client({ name: 'test', version: '1' });
    await Promise.all([mcp.connect(there), old.connect(here)]);
    expect(await old.callTool({ name: 'work', arguments: {} })).toMatchObject({ isError: true });
    await old.close();
  });
});

describe('what a tool says', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty'])('B7: a question may be called %s', async (key) => {
    const requestedSchema = { type: 'object', properties: { word: { type: 'string' } } };
    const question = { method: 'elicitation/create', params: { mode: 'form', message: 'm', requestedSchema } } as const;
    const client = await stand(newSpace(), {
      ask: [{}, async (_, { ask }) => text(JSON.stringify(await ask(key, question)))],
      first: [{ before: () => ({ [key]: question }) }, async (_, { answers }) => text(JSON.stringify(answers))],
    });
    const taskId = await client.submit('ask', {});
    await client.until(taskId, 'input_required');
    expect(Object.keys((await client.get(taskId)).inputRequests as object)).toEqual([key]);
    await client.update(taskId, { [key]: accept('said') });
    expect(JSON.stringify((await client.until(taskId, 'completed')).result)).toContain('said');
    expect(await client.call('first', {})).toMatchObject({
      resultType: 'input_required',
      inputRequests: { [key]: {} },
    });
  });

  it.each([
    [{ pollIntervalMs: 0.5 }, { pollIntervalMs: 1 }],
    [{ pollIntervalMs: -5 }, { pollIntervalMs: 0 }],
    [{ pollIntervalMs: Number.NaN }, { pollIntervalMs: 50 }],
    [{ pollIntervalMs: 1e21 }, { pollIntervalMs: 86_400_000 }],
    [{ ttlMs: Number.NaN }, { ttlMs: 86_400_000 }],
    [{ ttlMs: Number.POSITIVE_INFINITY }, { ttlMs: 7 * 86_400_000 }],
  ])('B8: times of %j are kept as %j, and the task can be read', async (config, kept) => {
    const client = await stand(newSpace(), { work: [config, async () => text('x')] });
    expect(await client.until(await client.submit('work', {}), 'completed')).toMatchObject(kept);
  });

  it.each([
    { heartbeatMs: 0 },
    { heartbeatMs: 2 ** 40 },
    { pollIntervalMs: Number.NaN },
    { maxRuns: 0 },
    { maxTtlMs: -1 },
  ])('settings of %j are refused, by name', (wrong) => {
    expect(() => halfSettings({ ...optionsOf('none'), ...wrong })).toThrow(Object.keys(wrong)[0]);
  });
});

describe('whose run it is', () => {
  it('design 6: a run that was taken over before its maker heard of it begins nowhere else', async () => {
    const namespace = newSpace();
    const [slow, quick] = [openStore(namespace), openStore(namespace)];
    const read = slow.read.bind(slow);
    slow.read = async (taskId) => {
      slow.read = read;
      const dead = await eventually(async () => (await quick.overdue(10)).find((run) => run.taskId === taskId));
      expect(await quick.takeOver(dead, 'quick')).toMatchObject({ worker: 'quick', run: 2 });
      return read(taskId);
    };
    expect(await slow.submit(task, 'slow', newMark())).toEqual({ kind: 'exists', taskId: expect.any(String) });
  });

  it('design 6: the same for who takes over, and is too late itself', async () => {
    const namespace = newSpace();
    const [slow, quick] = [openStore(namespace), openStore(namespace)];
    const made = await slow.submit(task, 'dead', null);
    if (made.kind !== 'created') throw new Error(made.kind);
    const overdue = () => eventually(async () => (await quick.overdue(10))[0]);
    const dead = await overdue();
    const read = slow.read.bind(slow);
    slow.read = async (taskId) => {
      expect(await quick.takeOver(await overdue(), 'quick')).toMatchObject({ worker: 'quick', run: 3 });
      return read(taskId);
    };
    expect(await slow.takeOver(dead, 'slow')).toBe(null);
  });

  it('B9: a wish to cancel whose announcement was lost is heard with the next heartbeat', async () => {
    const client = await stand(newSpace(), {
      work: [{}, (_, { signal }) => sleep(60_000, undefined, { signal, ref: false }).then(() => text('x'))],
    });
    const taskId = await client.submit('work', {});
    const [key = ''] = await redis.keys(`*task:${taskId}`);
    await redis.hset(key, 'cancel', '1');
    expect(await client.until(taskId, 'cancelled')).not.toHaveProperty('result');
  });

  it('B9: who hung up before the call was made has cancelled it', async () => {
    const store = openStore(newSpace());
    const workers = new Workers(store, () => undefined);
    closers.unshift(() => workers.close());
    const made = await store.submit(task, workers.id, null);
    if (made.kind !== 'created') throw new Error(made.kind);
    const outcome = new Calls(store, workers).outcome(made.task.taskId, AbortSignal.abort());
    await eventually(async () => (await store.read(made.task.taskId))?.cancelWanted === true);
    await store.finish(made.task, null, 'cancelled', null, null);
    await expect(outcome).rejects.toThrow('cancelled');
  });

  it('design 6: a dead run that cannot be read does not keep the others waiting', async () => {
    const namespace = newSpace();
    const store = openStore(namespace);
    // Reaps when it is told to.
    const workers = new Workers(openStore(namespace, 'test', 60_000), () => undefined);
    closers.unshift(() => workers.close());
    const first = await store.submit(task, 'dead', newMark());
    const second = await store.submit(task, 'dead', newMark());
    if (first.kind !== 'created' || second.kind !== 'created') throw new Error('not created');
    for (const broken of [first, second]) {
      const [key = ''] = await redis.keys(`*task:${broken.task.taskId}`);
      await redis.hset(key, 'poll', 'never');
    }
    const others = await Promise.all(Array.from({ length: 40 }, () => store.submit(task, 'dead', newMark())));
    await eventually(async () => (await store.overdue(100)).length === 42);
    expect(await workers.reap()).toBe(40);
    for (const other of others) {
      if (other.kind === 'created') expect((await store.read(other.task.taskId))?.status).toBe('failed');
    }
  });

  it('design 6: a resumable task whose tool nobody has any more ends as interrupted', async () => {
    const store = openStore(newSpace(), 'test', 100);
    const workers = new Workers(store, () => undefined);
    closers.unshift(() => workers.close());
    const made = await store.submit({ ...task, resumable: true }, 'dead', null);
    if (made.kind !== 'created') throw new Error(made.kind);
    await eventually(async () => (await store.overdue(10)).length === 1);
    expect(await workers.reap()).toBe(0);
    await eventually(async () => (await store.read(made.task.taskId))?.status === 'failed');
  });

  it('B2: the half of one revision neither runs nor shows a task of the other; a key is good for one of them', async () => {
    const namespace = newSpace();
    const old = openStore(namespace, '2025-11-25');
    const mark = newMark();
    const request = { method: 'tools/call', params: { name: 'report', arguments: { month: 'may' } } };
    const made = await old.submit({ ...task, tool: 'report', request, resumable: true }, 'dead', mark);
    if (made.kind !== 'created') throw new Error(made.kind);
    const ran: Json[] = [];
    const report: Work = async (args) => {
      ran.push(args);
      return text('x');
    };
    const client = await stand(namespace, { report: [{ resumable: true }, report] });
    await eventually(async () => (await old.overdue(10)).length === 1);
    const own = await client.submit('report', { month: 'june' });
    await client.until(own, 'completed');
    await expect(client.get(made.task.taskId)).rejects.toMatchObject({ code: -32602 });
    await expect(client.submit('report', { month: 'may' }, mark)).rejects.toMatchObject({ code: -32602 });
    await expect(client.lookup(mark)).rejects.toMatchObject({ code: -32602 });
    await sleep(400);
    expect(ran).toEqual([{ month: 'june' }]);
    expect(await old.lookup(mark, 'alice')).toMatchObject({ kind: 'found', task: { run: 1 } });
  });
});

describe('real processes', () => {
  it('design 6: a Redis that is away for longer than the heartbeat makes nobody dead', async () => {
    const away = await startRedis();
    closers.push(() => away.stop());
    const program = new URL('./server-2026.ts', import.meta.url).pathname;
    const orders = { redis: away.url, port: 0, heartbeatMs: 1_500, retentionMs: 60_000 };
    const processes = [0, 1, 2].map(() => new ExecutorProcess(orders, program));
    closers.push(() => Promise.all(processes.map((started) => started.kill())));
    const clients = await Promise.all(
      processes.map(async (started) => {
        const { url } = await started.line((line) => typeof line.url === 'string');
        return new Client2026(url as string);
      }),
    );
    const running = await Promise.all(
      clients.flatMap((client, nth) =>
        ['work', 'again'].map(async (tool) => {
          const label = `hold-on-${tool}-${nth}`;
          return { client, label, taskId: await client.submit(tool, { label }) };
        }),
      ),
    );
    await away.kill('SIGKILL');
    await sleep(4_000);
    await away.restart();
    const reader = new Redis(away.url, { protocol: 2 });
    reader.on('error', () => undefined);
    // Long enough for everybody to look after everybody else.
    await sleep(4_000);
    for (const { label } of running) await reader.set(`release:${label}`, '1');
    for (const { client, taskId } of running) await client.until(taskId, 'completed');
    const begun = await reader.lrange('begun', 0, -1);
    expect(new Set(begun).size).toBe(begun.length);
    reader.disconnect();
  });

  it('B13, F1: what a call without a task returned is in its receipt: a client that waits on its connection can have it', async () => {
    const rig = await startHalfRig();
    closers.push(() => rig.close());
    const at = await rig.server();
    const client = await rig.client(at);
    const mark = newMark();
    await client.call('greet', { label: 'kept' }, mark);
    const [running, later] = [newMark(), newMark()];
    const waits = client.call('greet', { label: 'hold-receipt' }, running);
    const session = await synchronous().connect({
      ...{ kind: 'http', url: at.url, headers: { authorization: 'Bearer alice' } },
    });
    const lookup = ({ key, attempt, digest, principal }: typeof mark) =>
      session.lookup({ tool: 'greet', submissionKey: key, attempt, requestDigest: digest, principal });
    expect(await lookup(mark)).toMatchObject({
      ...{ kind: 'expiredWithReceipt', status: 'completed' },
      payload: { kind: 'result', value: { content: [{ text: 'hello kept' }] } },
    });
    await eventually(() => rig.count('begun', 'greet hold-receipt'));
    expect(await lookup(running)).toMatchObject({ kind: 'unknown' });
    expect(await lookup(later)).toEqual({ kind: 'neverCreated', closedThroughAttempt: 1 });
    await rig.release('hold-receipt');
    await waits;
    expect(await lookup(running)).toMatchObject({ kind: 'expiredWithReceipt', payload: { kind: 'result' } });
    await session.close();
  });

  it('B4, F9: two calls of one session under one request id: no key is answered with what the other returned', async () => {
    const rig = await startHalfRig();
    closers.push(() => rig.close());
    const at = await rig.server();
    const client = await rig.client(at);
    const post = async (method: string, params: object) => {
      const headers = {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ authorization: 'Bearer alice', 'mcp-session-id': client.transport.sessionId ?? '' },
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      return fetch(at.url, { method: 'POST', headers, body });
    };
    const greet = (label: string, mark: ReturnType<typeof newMark>) =>
      post('tools/call', { name: 'greet', arguments: { label }, _meta: metaOf(mark) });
    const [first, second] = [newMark(), newMark()];
    void greet('hold-first', first).catch(() => undefined);
    await eventually(() => rig.count('begun', 'greet hold-first'));
    expect(await (await greet('hold-second', second)).text()).toContain('in use');
    expect(await client.lookup(second)).toMatchObject({ neverCreated: true });
    expect(await (await post('tools/list', {})).text()).toContain('in use');
    await rig.release('hold-first');
    expect(await client.call('greet', { label: 'hold-first' }, first)).toMatchObject({
      content: [{ text: 'hello hold-first' }],
    });
  });

  it('B4: of a call that was taken for dead, the late answer is what its key is answered with', async () => {
    const rig = await startHalfRig();
    closers.push(() => rig.close());
    const [first, second] = [await rig.server(), await rig.server()];
    const [at, other] = [await rig.client(first), await rig.client(second)];
    const mark = newMark();
    const label = 'hold-late';
    const call = at.call('greet', { label }, mark).catch((error: Error) => error.message);
    await eventually(() => rig.count('begun', `greet ${label}`));
    first.signal('SIGSTOP');
    await eventually(async () => 'expiredWithReceipt' in (await other.lookup(mark)));
    await rig.release(label);
    first.signal('SIGCONT');
    const again = await other.call('greet', { label }, mark).catch((error: Error) => error.message);
    expect(again).toContain('interrupted');
    expect(await call).toBe(again);
  });
});
