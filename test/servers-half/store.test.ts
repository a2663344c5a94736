/** The store of both halves by itself, on a real Redis: what a server over HTTP cannot be made to show. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { RedisNotDurable, RedisUnreachable } from '../../adapters/mcp/server/connections.ts';
import { halfSettings } from '../../adapters/mcp/server/options.ts';
import type { TaskRecord } from '../../adapters/mcp/server/record.ts';
import { ServerStore } from '../../adapters/mcp/server/store.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { eventually } from '../support/rig.ts';
import { type Mark, newMark } from './rig.ts';

let redis: RedisServer;
const stores: ServerStore[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});
afterAll(() => redis.stop());

function open(url: string, more: Partial<Parameters<typeof halfSettings>[0]> = {}): ServerStore {
  const store = new ServerStore(
    url,
    halfSettings({ redis: url, retentionMs: 60_000, heartbeatMs: 300, ...more }),
    'test',
  );
  stores.push(store);
  return store;
}
const task = { owner: 'me', tool: 'work', request: {}, ttlMs: null, pollMs: null, resumable: false };
async function made(store: ServerStore, worker = 'a', mark: Mark | null = null): Promise<TaskRecord> {
  const submitted = await store.submit(task, worker, mark);
  if (submitted.kind !== 'created') throw new Error(submitted.kind);
  return submitted.task;
}
const result = { kind: 'result', value: {} } as const;

it('says that it takes no cluster', () => {
  expect(() => open('redis+cluster://127.0.0.1:1')).toThrow(/one Redis.*cluster is not taken/);
});

it.each([
  [['--maxmemory-policy', 'allkeys-lru'], true, /maxmemory-policy/],
  [['--maxmemory-policy', 'volatile-ttl'], true, /maxmemory-policy/],
  [[], false, /appendonly/],
] as const)(
  'B13: a Redis with %j (append only: %j) cannot say "never created": refused',
  async (args, appendonly, said) => {
    const forgetful = await startRedis({ args, appendonly });
    const refusing = open(forgetful.url);
    await expect(refusing.ready()).rejects.toThrow(said);
    await expect(refusing.submit(task, 'a', null)).rejects.toThrow(said);
    await expect(refusing.lookup(newMark(), 'me')).rejects.toBeInstanceOf(RedisNotDurable);
    expect((await open(forgetful.url, { durable: false }).submit(task, 'a', null)).kind).toBe('created');
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await forgetful.stop();
  },
);

it('ready says before the first call whether Redis answers, and keeps saying so when that changes', async () => {
  const mine = await startRedis();
  const store = open(mine.url);
  await store.ready();
  await mine.kill('SIGKILL');
  await expect(store.ready()).rejects.toBeInstanceOf(RedisUnreachable);
  await mine.restart();
  expect(
    await eventually(() =>
      store.ready().then(
        () => true,
        () => null,
      ),
    ),
  ).toBe(true);
  await Promise.all(stores.splice(0).map((each) => each.close()));
  await mine.stop();
});

it('B13: tasks, keys and closed attempts are there after Redis was killed and came back', async () => {
  const mine = await startRedis();
  const store = open(mine.url);
  const [used, closed] = [newMark(), newMark()];
  const { taskId } = await made(store, 'a', used);
  expect(await store.lookup(closed, 'me')).toEqual({ kind: 'neverCreated', closedThroughAttempt: 1 });
  await mine.restart();
  await eventually(() => store.read(taskId).catch(() => null));
  expect(await store.submit(task, 'b', { ...used, attempt: 2 })).toEqual({ kind: 'exists', taskId });
  expect(await store.submit(task, 'b', closed)).toEqual({ kind: 'closed', throughAttempt: 1 });
  expect((await store.submit(task, 'b', { ...closed, attempt: 2 })).kind).toBe('created');
  await Promise.all(stores.splice(0).map((each) => each.close()));
  await mine.stop();
});

it('B4: of many that submit, look up and close at once, on several connections, one order is seen by all', async () => {
  const several = [open(redis.url), open(redis.url), open(redis.url)];
  for (let round = 0; round < 60; round++) {
    const mark = newMark();
    const [looked, ...submitted] = await Promise.all([
      (several[round % 3] as ServerStore).lookup(mark, 'me'),
      ...several.map((store) => store.submit(task, 'a', mark)),
    ]);
    const created = submitted.filter(({ kind }) => kind === 'created').length;
    if (looked.kind === 'neverCreated')
      expect(submitted.map(({ kind }) => kind)).toEqual(['closed', 'closed', 'closed']);
    else expect([looked.kind, created]).toEqual(['found', 1]);
  }
});

it('B9, F4: of a cancel and a completion at the same time one wins, and both are told so', async () => {
  const store = open(redis.url);
  const winners = new Set<string>();
  for (let round = 0; round < 60; round++) {
    const running = await made(store);
    const complete = () => store.finish(running, running, 'completed', null, result);
    const cancel = () => store.finish(running, null, 'cancelled', null, null);
    const [first, second] = round % 2 === 0 ? [complete, cancel] : [cancel, complete];
    const steps = await Promise.all([first(), second()]);
    expect([...steps].sort()).toEqual(['done', 'over']);
    const ended = await store.read(running.taskId);
    winners.add(ended?.status ?? '');
    expect(ended?.ending === null).toBe(ended?.status === 'cancelled');
  }
  expect([...winners].sort()).toEqual(['cancelled', 'completed']);
});

it('design 6: a run is taken over by one, after its heartbeat stopped; from then on it speaks for nobody', async () => {
  const store = open(redis.url);
  const old = await made(store);
  await store.beat([old]);
  expect(await store.takeOver(old, 'early')).toBe(null);
  await eventually(async () => (await store.overdue(100)).some(({ taskId }) => taskId === old.taskId));
  const takers = await Promise.all(['b', 'c', 'd'].map((worker) => store.takeOver(old, worker)));
  const [next, ...others] = takers.filter((taken) => taken !== null);
  expect(others).toEqual([]);
  expect(next?.run).toBe(2);
  expect(await store.beat([old])).toHaveLength(1);
  expect(await store.note(old, { message: 'still here' })).toBe('lost');
  expect(await store.ask(old, 'k', {})).toBe('lost');
  expect(await store.finish(old, old, 'completed', null, result)).toBe('lost');
  expect(await store.finish(old, next as TaskRecord, 'completed', null, result)).toBe('done');
  expect(await store.overdue(100)).not.toContainEqual(expect.objectContaining({ taskId: old.taskId }));
});

it('a late heartbeat keeps the run, if nobody took it over', async () => {
  const store = open(redis.url);
  const run = await made(store);
  await eventually(async () => (await store.overdue(100)).some(({ taskId }) => taskId === run.taskId));
  expect(await store.beat([run])).toEqual([]);
  expect(await store.takeOver(run, 'b')).toBe(null);
});

it('B7: a question has one answer; its key is never another question', async () => {
  const store = open(redis.url);
  const run = await made(store);
  expect(await store.answer(run.taskId, 'k', 1)).toBe('unasked');
  expect(await store.ask(run, 'k', { text: 'one' })).toBe('asked');
  expect(await store.ask(run, 'k', { text: 'other' })).toBe('reused');
  const answers = await Promise.all([1, 2, 3].map((value) => store.answer(run.taskId, 'k', value)));
  expect([...answers].sort()).toEqual(['already', 'already', 'taken']);
  expect(await store.ask(run, 'k', { text: 'one' })).toEqual({ answer: answers.indexOf('taken') + 1 });
  await store.finish(run, run, 'completed', null, result);
  expect(await store.answer(run.taskId, 'k', 4)).toBe('over');
});

it('the keys of one task are in one slot of a cluster, and tasks are spread over several', async () => {
  const store = open(redis.url);
  const tags = new Set<string>();
  const reader = new Redis(redis.url, { protocol: 2 });
  for (let nth = 0; nth < 40; nth++) {
    const { taskId } = await made(store, 'a', newMark());
    const [partition = ''] = taskId.split('-');
    tags.add(partition);
    expect(await reader.keys(`*${taskId}`)).toEqual([expect.stringContaining(`/${partition}}`)]);
  }
  reader.disconnect();
  expect(tags.size).toBeGreaterThan(4);
});

it('an id that is none of ours is unknown', async () => {
  const store = open(redis.url);
  for (const taskId of ['', 'p00-', `p99-${'0'.repeat(40)}`, '{x}', 'p00-../../x']) {
    expect(await store.readFor(taskId, 'me')).toBe(null);
    expect(await store.wantCancel(taskId)).toBe('unknown');
  }
});
