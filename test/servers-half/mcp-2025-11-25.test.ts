import { CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/rig.ts';
import { type HalfClient, type HalfRig, metaOf, newMark, type ServerProcess, startHalfRig, textOf } from './rig.ts';

let rig: HalfRig;
let server: ServerProcess;
let client: HalfClient;

beforeAll(async () => {
  rig = await startHalfRig();
  server = await rig.server();
  client = await rig.client(server);
});
afterAll(() => rig.close());

const gone = { code: -32602 };
let labels = 0;
const newLabel = (kind: 'hold' | 'quick' | 'throw' = 'quick') => `${kind}-${labels++}`;

describe('tasks', () => {
  it('B5: a call is a task, its result is read afterwards, and a tool that throws has failed', async () => {
    const label = newLabel();
    const task = await client.submit('work', { label });
    expect(task.status).toBe('working');
    expect(textOf(await client.result(task.taskId))).toBe(`${label}  run 1`);
    expect((await client.get(task.taskId)).status).toBe('completed');

    const failing = await client.submit('work', { label: newLabel('throw') });
    await client.until(failing.taskId, 'failed');
    expect(await client.result(failing.taskId)).toMatchObject({ isError: true });
  });

  it('B5: another session of the same principal reads it; for another principal it is unknown, in every method', async () => {
    const label = newLabel('hold');
    const { taskId } = await client.submit('work', { label });
    const same = await rig.client(server, 'alice');
    expect((await same.get(taskId)).status).toBe('working');
    const other = await rig.client(server, 'mallory');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      await expect(other.request(method, { taskId })).rejects.toMatchObject(gone);
    }
    expect((await same.get(taskId)).status).toBe('working');
    await rig.release(label);
    expect(textOf(await same.result(taskId))).toContain(label);
  });

  it('a request without a principal is refused', async () => {
    await expect(rig.client(server, '')).rejects.toMatchObject({ code: -32600 });
  });

  it('B9, B10, F4: a cancel is in the store before it is answered; a completion that comes later changes nothing', async () => {
    for (const tool of ['work', 'native']) {
      const label = newLabel('hold');
      const { taskId } = await client.submit(tool, { label });
      await eventually(() => rig.count('begun', `${tool} ${label}`).then((count) => count === 1));
      expect(await client.request('tasks/cancel', { taskId })).toMatchObject({ status: 'cancelled' });
      await rig.release(label);
      await eventually(() => rig.count('done', `${tool} ${label}`).then((count) => count === 1));
      // The late completion has reached the store when it is noted there.
      await eventually(async () => (await noteOf(taskId, 'late')) === 'completed');
      expect((await client.get(taskId)).status).toBe('cancelled');
      await expect(client.result(taskId)).rejects.toMatchObject({ code: -32603 });
      await expect(client.request('tasks/cancel', { taskId })).rejects.toMatchObject(gone);
    }
    expect((await rig.redis.lrange('stopped', 0, -1)).some((line) => line.endsWith(' cancelled'))).toBe(true);
  });

  it('a result is there after its server was killed; an ended task goes when its time to live is over', async () => {
    const label = newLabel();
    const mine = await rig.server();
    const before = await rig.client(mine);
    const { taskId } = await before.submit('work', { label });
    await before.until(taskId, 'completed');
    await mine.kill();
    expect(textOf(await client.result(taskId))).toContain(label);

    const brief = await client.client.request(
      { method: 'tools/call', params: { name: 'work', arguments: { label }, task: { ttl: 1 } } },
      CreateTaskResultSchema,
    );
    await eventually(() =>
      client.get(brief.task.taskId).then(
        () => false,
        (error: { code: number }) => error.code === -32602,
      ),
    );
  });
});

describe('submission keys', () => {
  it('B4, G2: a repeated key is answered with the task it made, also by a server that was started since', async () => {
    const label = newLabel('hold');
    const mark = newMark();
    const mine = await rig.server();
    const first = await (await rig.client(mine)).submit('work', { label }, mark);
    await mine.kill();
    const next = await rig.server();
    const second = await (await rig.client(next)).submit('work', { label }, { ...mark, attempt: 2 });
    expect(second.taskId).toBe(first.taskId);
    expect(second.createdAt).toBe(first.createdAt);
    expect(await rig.count('begun', `work ${label}`)).toBe(1);
    await next.kill();
  });

  it('B4, G2: many at once under one key make one task', async () => {
    const label = newLabel();
    const mark = newMark();
    const tasks = await Promise.all(Array.from({ length: 20 }, () => client.submit('native', { label }, mark)));
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(1);
    await client.until(tasks[0]?.taskId ?? '', 'completed');
    expect(await rig.count('begun', `native ${label}`)).toBe(1);
  });

  it('B4: another request digest, claimed principal or real principal under the key is refused, and learns nothing', async () => {
    const mark = newMark();
    const { taskId } = await client.submit('work', { label: newLabel() }, mark);
    const other = await rig.client(server, 'mallory');
    for (const [asking, wrong] of [
      [client, { ...mark, digest: 'another' }],
      [client, { ...mark, principal: 'node-2' }],
      [other, mark],
    ] as const) {
      const label = newLabel();
      await expect(asking.submit('work', { label }, wrong)).rejects.toMatchObject(gone);
      await expect(asking.lookup(wrong)).rejects.toMatchObject(gone);
      expect(await rig.count('begun', `work ${label}`)).toBe(0);
    }
    expect(await client.lookup(mark)).toMatchObject({ found: { taskId } });
  });

  it('a key without an attempt, a digest or a principal is refused', async () => {
    const label = newLabel();
    const incomplete = client.client.request(
      {
        method: 'tools/call',
        params: { name: 'work', arguments: { label }, task: {}, _meta: { 'dev.toolop/submission-key': 'k' } },
      },
      CreateTaskResultSchema,
    );
    await expect(incomplete).rejects.toMatchObject(gone);
    expect(await rig.count('begun', `work ${label}`)).toBe(0);
  });

  it('B13: "never created" closes the key for the attempts so far, and only for those', async () => {
    const mark = newMark({ attempt: 2 });
    const label = newLabel();
    expect(await client.lookup(mark)).toEqual({ neverCreated: true, closedThroughAttempt: 2 });
    for (const attempt of [1, 2]) {
      await expect(client.submit('work', { label }, { ...mark, attempt })).rejects.toMatchObject(gone);
    }
    expect(await rig.count('begun', `work ${label}`)).toBe(0);
    // Asked about an earlier attempt, the key stays closed for the later one.
    expect(await client.lookup({ ...mark, attempt: 1 })).toEqual({ neverCreated: true, closedThroughAttempt: 2 });
    const { taskId } = await client.submit('work', { label }, { ...mark, attempt: 3 });
    await client.until(taskId, 'completed');
    expect(await client.lookup({ ...mark, attempt: 3 })).toMatchObject({ found: { taskId, status: 'completed' } });
    await expect(client.submit('work', { label }, mark)).rejects.toMatchObject(gone);
    expect(await rig.count('begun', `work ${label}`)).toBe(1);
  });

  it('B13: an expired task leaves a receipt for the published window; after it the server has forgotten', async () => {
    const mine = await rig.server({ retentionMs: 2_500 });
    const asking = await rig.client(mine);
    expect(asking.client.getServerCapabilities()?.experimental?.['dev.toolop/submission-key']).toEqual({
      lookup: true,
      deduplicates: true,
      retentionMs: 2_500,
    });
    const mark = newMark();
    const label = newLabel();
    const params = { name: 'work', arguments: { label }, task: { ttl: 1 } };
    const { createdAt, taskId } = await asking.client
      .request({ method: 'tools/call', params: { ...params, _meta: metaOf(mark) } }, CreateTaskResultSchema)
      .then(({ task }) => task);
    const receipt = { expiredWithReceipt: { taskId, createdAt, status: 'completed' } };
    await eventually(async () => 'expiredWithReceipt' in (await asking.lookup(mark)));
    expect(await asking.lookup(mark)).toEqual(receipt);
    await expect(asking.submit('work', { label }, mark)).rejects.toMatchObject(gone);
    await eventually(async () => 'neverCreated' in (await asking.lookup(mark)));
    // A client must not build on this answer: its record says until when the key was valid.
    expect(Date.now() - Date.parse(createdAt)).toBeGreaterThanOrEqual(2_500);
    await mine.kill();
  });

  it('B4: a call without `task` has one too: its result is kept, and the repetition is answered with it', async () => {
    const label = newLabel();
    const mark = newMark();
    const first = await client.call('greet', { label }, mark);
    expect(textOf(first)).toBe(`hello ${label}`);
    expect(textOf(await client.call('greet', { label }, { ...mark, attempt: 2 }))).toBe(`hello ${label}`);
    const { expiredWithReceipt: receipt } = (await client.lookup(mark)) as {
      expiredWithReceipt: { taskId: string; status: string; result: Record<string, unknown> };
    };
    expect(receipt.status).toBe('completed');
    expect(textOf(receipt.result)).toBe(`hello ${label}`);
    expect(textOf(await client.result(receipt.taskId))).toBe(`hello ${label}`);
    expect(await rig.count('begun', `greet ${label}`)).toBe(1);
  });

  it('B14: who hangs up, or closes the session, does not cancel a call with a key', async () => {
    for (const leave of ['abort', 'close'] as const) {
      const label = newLabel('hold');
      const mark = newMark();
      const leaving = await rig.client(server);
      const call = leaving.call('greet', { label }, mark).catch(() => 'left');
      await eventually(() => rig.count('begun', `greet ${label}`).then((count) => count === 1));
      if (leave === 'close') await leaving.transport.terminateSession();
      await leaving.close();
      expect(await call).toBe('left');
      const { found } = (await client.lookup(mark)) as { found: { taskId: string } };
      await rig.release(label);
      expect(textOf(await client.result(found.taskId))).toBe(`hello ${label}`);
    }
  });
});

describe('processes that die', () => {
  it('design 6: the task of a killed process ends as interrupted, seen by another process', async () => {
    for (const tool of ['work', 'native']) {
      const label = newLabel('hold');
      const mine = await rig.server();
      const { taskId } = await (await rig.client(mine)).submit(tool, { label }, newMark());
      await eventually(() => rig.count('begun', `${tool} ${label}`).then((count) => count === 1));
      await mine.kill();
      const task = await client.until(taskId, 'failed');
      expect(task.statusMessage).toBe('interrupted');
      await expect(client.result(taskId)).rejects.toMatchObject({ code: -32603 });
      await rig.release(label);
    }
  });

  it('design 6: a living process keeps its task for many heartbeats; one that was stopped too long speaks for nobody', async () => {
    const label = newLabel('hold');
    const mine = await rig.server();
    const { taskId } = await (await rig.client(mine)).submit('work', { label });
    await eventually(() => rig.count('begun', `work ${label}`).then((count) => count === 1));
    const beats = new Set<string>();
    await eventually(async () => beats.add(await heartbeatOf(taskId)).size >= 8);
    expect((await client.get(taskId)).status).toBe('working');
    mine.signal('SIGSTOP');
    await client.until(taskId, 'failed');
    await rig.release(label);
    mine.signal('SIGCONT');
    await eventually(() => rig.count('done', `work ${label}`).then((count) => count === 1));
    await eventually(async () => (await noteOf(taskId, 'late')) === 'completed');
    expect(await client.get(taskId)).toMatchObject({ status: 'failed', statusMessage: 'interrupted' });
    await mine.kill();
  });

  it('design 6: a resumable tool is run again, and what was answered is not asked again', async () => {
    const label = newLabel('hold');
    const mine = await rig.server();
    const { taskId } = await (await rig.client(mine)).submit('again', { label, ask: 1 });
    const answering = await rig.client(server, 'alice', {
      elicit: async () => ({ action: 'accept', content: { word: 'yes' } }),
    });
    const result = answering.result(taskId);
    await eventually(async () => answering.questions.length === 1 && (await client.get(taskId)).status === 'working');
    await mine.kill();
    await eventually(() => rig.count('begun', `again ${label}`).then((count) => count === 2));
    await rig.release(label);
    expect(textOf(await result)).toBe(`${label} yes run 2`);
    expect(answering.questions).toEqual([`${label} question 1`]);
  });
});

describe('input', () => {
  it.each(['work', 'native'])(
    'B7, F3: a question of %s to a connection that died is asked again, and answered once',
    async (tool) => {
      const label = newLabel();
      const { taskId } = await client.submit(tool, { label, ask: 2 });
      await client.until(taskId, 'input_required');

      const silent = await rig.client(server);
      silent.result(taskId).catch(() => undefined);
      await eventually(async () => silent.questions.length === 1);
      await silent.close();

      const otherProcess = await rig.server();
      const answering = await rig.client(otherProcess, 'alice', {
        elicit: async (message) => ({ action: 'accept', content: { word: message.slice(-1) } }),
      });
      const result = await answering.result(taskId);
      expect(answering.questions).toEqual([`${label} question 1`, `${label} question 2`]);
      expect(textOf(result)).toContain(tool === 'work' ? `${label} 1 2` : label);
      await otherProcess.kill();
    },
  );

  it('B7: a question outlives the session that made the call, and the process that asked (of a resumable tool)', async () => {
    const label = newLabel();
    const mine = await rig.server();
    const made = await rig.client(mine);
    const { taskId } = await made.submit('again', { label, ask: 1 });
    await made.until(taskId, 'input_required');
    await made.transport.terminateSession();
    await made.close();
    expect((await client.get(taskId)).status).toBe('input_required');
    await mine.kill();
    const answering = await rig.client(server, 'alice', {
      elicit: async () => ({ action: 'accept', content: { word: 'later' } }),
    });
    expect(textOf(await answering.result(taskId))).toBe(`${label} later run 2`);
  });

  it('another principal is not asked, and cannot answer', async () => {
    const label = newLabel();
    const { taskId } = await client.submit('work', { label, ask: 1 });
    await client.until(taskId, 'input_required');
    const [key = ''] = await rig.redis.hkeys((await keysOf(taskId)).questions);
    const other = await rig.client(server, 'mallory', {
      elicit: async () => ({ action: 'accept', content: { word: 'forged' } }),
    });
    await expect(other.result(taskId)).rejects.toMatchObject(gone);
    await other.transport.send({
      jsonrpc: '2.0',
      id: `toolop/${taskId}/${key}`,
      result: { action: 'accept', content: { word: 'forged' } },
    });
    const right = await rig.client(server, 'alice', {
      elicit: async () => ({ action: 'accept', content: { word: 'mine' } }),
    });
    expect(textOf(await right.result(taskId))).toBe(`${label} mine run 1`);
    expect(other.questions).toEqual([]);
  });
});

async function keysOf(taskId: string): Promise<{ task: string; questions: string }> {
  const keys = await rig.redis.keys(`*:*${taskId}`);
  const find = (name: string) => keys.find((key) => key.includes(`:${name}:`)) ?? '';
  return { task: find('task'), questions: find('questions') };
}

async function noteOf(taskId: string, field: string): Promise<string | null> {
  return rig.redis.hget((await keysOf(taskId)).task, field);
}

/** When the heartbeat of the task's run ends. */
async function heartbeatOf(taskId: string): Promise<string> {
  const alive = (await keysOf(taskId)).task.replace(/:task:.*$/, ':alive');
  const [worker, run] = await rig.redis.hmget((await keysOf(taskId)).task, 'worker', 'run');
  return String(await rig.redis.zscore(alive, `${taskId}|${worker}|${run}`));
}
