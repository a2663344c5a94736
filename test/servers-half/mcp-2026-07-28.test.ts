import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/rig.ts';
import { accept, Client2026 } from './client-2026.ts';
import { type HalfRig, newMark, type ServerProcess, startHalfRig } from './rig.ts';
import type { ServerOrders } from './server-2025.ts';

const program = fileURLToPath(new URL('./server-2026.ts', import.meta.url));

let rig: HalfRig;
let server: ServerProcess;
let client: Client2026;
const start = (more: Partial<ServerOrders> = {}) => rig.server(more, program);

beforeAll(async () => {
  rig = await startHalfRig();
  server = await start();
  client = new Client2026(server.url);
});
afterAll(() => rig.close());

const gone = { code: -32602 };
let labels = 0;
const newLabel = (kind = 'quick') => `${kind}-${labels++}`;
const begun = (tool: string, label: string) =>
  eventually(() => rig.count('begun', `${tool} ${label}`).then((count) => count > 0));

describe('tasks', () => {
  it('B1: the extension and the submission keys are declared, with the window', async () => {
    expect(await client.request('server/discover', {})).toMatchObject({
      capabilities: {
        extensions: {
          'io.modelcontextprotocol/tasks': {},
          'dev.toolop/submission-key': { lookup: true, deduplicates: true, retentionMs: 60_000 },
        },
      },
    });
  });

  it('B1: without the capability in this request there is no task, and no method of tasks (-32021, HTTP 400)', async () => {
    const label = newLabel();
    const plain = await client.call('work', { label }, { tasks: false });
    expect(plain).toMatchObject({ resultType: 'complete', content: [{ text: `${label}  run 1` }] });
    expect(plain).not.toHaveProperty('taskId');
    const refused = { code: -32021, http: 400, data: { requiredCapabilities: { extensions: {} } } };
    await expect(client.call('must', { label: newLabel() }, { tasks: false })).rejects.toMatchObject(refused);
    const taskId = await client.submit('work', { label });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      await expect(client.request(method, { taskId }, { tasks: false })).rejects.toMatchObject(refused);
    }
  });

  it('B5: a tool that throws has completed with isError, a fault of the protocol has failed, a sync tool has no task', async () => {
    const task = await client.call('work', { label: newLabel('throw') });
    expect(task).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 50 });
    expect(await client.until(task.taskId as string, 'completed')).toMatchObject({ result: { isError: true } });
    const faulty = await client.submit('work', { label: newLabel('fault') });
    expect(await client.until(faulty, 'failed')).toMatchObject({ error: { code: -32050, message: 'a fault' } });
    expect(await client.call('sync', { label: newLabel() })).toMatchObject({ resultType: 'complete' });
    await expect(client.call('work', {})).rejects.toMatchObject(gone);
  });

  it('for another principal a task is unknown, in every method; nobody at all is refused', async () => {
    const label = newLabel('hold');
    const taskId = await client.submit('work', { label });
    const other = new Client2026(server.url, 'mallory');
    await expect(other.get(taskId)).rejects.toMatchObject(gone);
    await expect(other.update(taskId, {})).rejects.toMatchObject(gone);
    await expect(other.cancel(taskId)).rejects.toMatchObject(gone);
    await expect(new Client2026(server.url, '').get(taskId)).rejects.toMatchObject({ code: -32600 });
    expect(await client.get(taskId)).toMatchObject({ status: 'working', statusMessage: 'has begun' });
    await rig.release(label);
  });

  it('B9: a cancel is heard: a tool that stops is cancelled, one that does not completes, also if it never hears it', async () => {
    const stops = newLabel('hold');
    const stopped = await client.submit('work', { label: stops });
    await begun('work', stops);
    expect(await client.cancel(stopped)).toEqual(expect.objectContaining({ resultType: 'complete' }));
    await client.until(stopped, 'cancelled');
    expect(await rig.count('done', `work ${stops}`)).toBe(0);
    // The same acknowledgement for one that has ended; -32602 is for unknown ids.
    expect(await client.cancel(stopped)).toEqual(expect.objectContaining({ resultType: 'complete' }));

    const goesOn = newLabel('hold-on');
    const unheard = await client.submit('work', { label: goesOn });
    await begun('work', goesOn);
    await client.cancel(unheard);
    await eventually(() => rig.count('stopped', `${goesOn} cancelled`));
    expect((await client.get(unheard)).status).toBe('working');
    await rig.release(goesOn);
    expect(await client.until(unheard, 'completed')).toHaveProperty('result');
  });

  it('B9: a cancel reaches the process that works, also through another one', async () => {
    const label = newLabel('hold');
    const mine = await start();
    const taskId = await new Client2026(mine.url).submit('work', { label });
    await begun('work', label);
    await client.cancel(taskId);
    await client.until(taskId, 'cancelled');
    await mine.kill();
  });
});

describe('input', () => {
  it('B7: partial answers, the same ones again, unknown keys, answers that do not fit', async () => {
    const label = newLabel();
    const taskId = await client.submit('work', { label, ask: ['a', 'b'] });
    const open = async () => Object.keys(((await client.get(taskId)).inputRequests ?? {}) as object).sort();
    await eventually(async () => (await open()).join() === 'a,b');
    await expect(client.update(taskId, { a: { action: 'accept', content: { word: 7 } } })).rejects.toMatchObject(gone);
    expect(await open()).toEqual(['a', 'b']);
    expect(await client.update(taskId, { a: accept('one'), nobody: { anything: 1 } })).toMatchObject({
      resultType: 'complete',
    });
    expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
    expect(await open()).toEqual(['b']);
    // Answered is answered: another answer is ignored.
    await client.update(taskId, { a: accept('other') });
    await client.update(taskId, { b: { action: 'decline' } });
    const ended = await client.until(taskId, 'completed');
    expect(JSON.stringify(ended.result)).toContain('one');
    expect(JSON.stringify(ended.result)).toContain('decline');
    expect(JSON.stringify(ended.result)).not.toContain('other');
  });

  it('B7, design 6: answers survive the process; what was answered is not asked again, what was open still is', async () => {
    const label = newLabel();
    const mine = await start();
    const taskId = await new Client2026(mine.url).submit('again', { label, ask: ['a', 'b'] });
    await eventually(async () => Object.keys(((await client.get(taskId)).inputRequests ?? {}) as object).length === 2);
    await client.update(taskId, { a: accept('kept') });
    await mine.kill();
    await eventually(() => rig.count('begun', `again ${label}`).then((count) => count === 2));
    const task = await client.get(taskId);
    expect(task.status).toBe('input_required');
    expect(Object.keys(task.inputRequests as object)).toEqual(['b']);
    await client.update(taskId, { b: accept('new') });
    const ended = JSON.stringify((await client.until(taskId, 'completed')).result);
    expect(ended).toMatch(/kept.*new.*run 2/);
  });

  it('B7: a key that is used twice fails the tool, and is never on the wire with another question', async () => {
    const taskId = await client.submit('work', { label: newLabel(), ask: ['same', 'same'] });
    expect(await client.until(taskId, 'completed')).toMatchObject({ result: { isError: true } });
  });

  it('questions before there is a task make nothing; the call with the answers does, once', async () => {
    const label = newLabel();
    const mark = newMark();
    const asked = await client.call('first', { label }, { mark });
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { who: {} } });
    expect(asked).not.toHaveProperty('taskId');
    expect(await rig.count('begun', `first ${label}`)).toBe(0);
    const answered = { mark, inputResponses: { who: accept('me') } };
    const { taskId } = await client.call('first', { label }, answered);
    expect((await client.call('first', { label }, answered)).taskId).toBe(taskId);
    expect(JSON.stringify((await client.until(taskId as string, 'completed')).result)).toContain('me');
    expect(await rig.count('begun', `first ${label}`)).toBe(1);
  });
});

describe('submission keys', () => {
  it('B4, G2: a repeated key is answered with its task, by a server started since; another digest or principal is refused', async () => {
    const label = newLabel('hold');
    const mark = newMark();
    const mine = await start();
    const taskId = await new Client2026(mine.url).submit('again', { label }, mark);
    await mine.kill();
    const next = await start();
    const at = new Client2026(next.url);
    expect(await at.submit('again', { label }, mark)).toBe(taskId);
    await expect(at.submit('again', { label }, { ...mark, digest: 'another' })).rejects.toMatchObject(gone);
    await expect(at.submit('again', { label }, { ...mark, principal: 'another' })).rejects.toMatchObject(gone);
    await expect(new Client2026(next.url, 'mallory').submit('again', { label }, mark)).rejects.toMatchObject(gone);
    await expect(new Client2026(next.url, 'mallory').lookup(mark)).rejects.toMatchObject(gone);
    expect(await at.lookup(mark)).toMatchObject({ found: { taskId } });
    await rig.release(label);
    await client.until(taskId, 'completed');
    await next.kill();
  });

  it('B13: "never created" closes this attempt and not the next; an expired task leaves its receipt', async () => {
    const mark = newMark();
    const label = newLabel();
    expect(await client.lookup(mark)).toMatchObject({ neverCreated: true, closedThroughAttempt: 1 });
    await expect(client.submit('brief', { label }, mark)).rejects.toMatchObject(gone);
    const second = { ...mark, attempt: 2 };
    const taskId = await client.submit('brief', { label }, second);
    await eventually(async () => 'expiredWithReceipt' in (await client.lookup(second)));
    expect(await client.lookup(second)).toMatchObject({ expiredWithReceipt: { taskId, status: 'completed' } });
    await expect(client.get(taskId)).rejects.toMatchObject(gone);
    expect(await rig.count('begun', `brief ${label}`)).toBe(1);
  });

  it('B4: a call that is answered at once has its task too: repeated, it is answered with the same result', async () => {
    const label = newLabel();
    const mark = newMark();
    const first = await client.call('sync', { label }, { mark });
    expect(await client.call('sync', { label }, { mark: { ...mark, attempt: 2 } })).toMatchObject({
      content: first.content,
    });
    expect(await client.lookup(mark)).toMatchObject({ found: { status: 'completed' } });
    expect(await rig.count('begun', `sync ${label}`)).toBe(1);
  });

  it('closing the stream of a call that is answered at once cancels it, as this revision says', async () => {
    const label = newLabel('hold');
    const hangUp = new AbortController();
    const mark = newMark();
    const call = client.call('sync', { label }, { mark, signal: hangUp.signal });
    await begun('sync', label);
    hangUp.abort();
    await expect(call).rejects.toThrow();
    await eventually(
      async () => ((await client.lookup(mark)) as { found: { status: string } }).found.status === 'cancelled',
    );
  });
});

describe('processes that die', () => {
  it('design 6: a task of a killed process fails as interrupted; one that was to be cancelled is cancelled', async () => {
    const [label, unwanted] = [newLabel('hold-on'), newLabel('hold-on')];
    const mine = await start();
    const at = new Client2026(mine.url);
    const taskId = await at.submit('work', { label });
    const cancelled = await at.submit('again', { label: unwanted });
    await begun('again', unwanted);
    await at.cancel(cancelled);
    await mine.kill();
    expect(await client.until(taskId, 'failed')).toMatchObject({
      error: { code: -32603 },
      statusMessage: 'interrupted',
    });
    await client.until(cancelled, 'cancelled');
    expect(await rig.count('begun', `again ${unwanted}`)).toBe(1);
  });

  it('design 6: a tool that dies over and over is not run for ever', async () => {
    const label = newLabel('hold');
    let mine = await start();
    const taskId = await new Client2026(mine.url).submit('again', { label });
    // Every process that takes it over dies; the one of the other tests is stopped meanwhile.
    server.signal('SIGSTOP');
    for (let run = 2; run <= 3; run++) {
      await mine.kill();
      mine = await start();
      await eventually(() => rig.count('begun', `again ${label}`).then((count) => count === run));
    }
    await mine.kill();
    server.signal('SIGCONT');
    expect(await client.until(taskId, 'failed')).toMatchObject({ statusMessage: 'interrupted' });
    expect(await rig.count('begun', `again ${label}`)).toBe(3);
  });
});
