import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  InputChannel,
  InputRequest,
  Payload,
  ProtocolSession,
  TaskRef,
} from '../../../machines/operation-protocol.ts';
import { freePort } from '../../kit/free-port.ts';
import { controls, type ScriptedServer, startScriptedServer, stdioCommand } from '../../kit/servers/mcp-2025-11-25.ts';
import { startProxy, type TcpProxy } from '../../kit/tcp-proxy.ts';
import { connect, eventually, sleep, startTask, until } from './helpers.ts';

const RELATED = 'io.modelcontextprotocol/related-task';

interface Heard {
  channel: InputChannel;
  requests: InputRequest[];
  closed: string[];
  payloads: Payload[];
}
function listen(session: ProtocolSession, task: TaskRef): Heard {
  const requests: InputRequest[] = [];
  const closed: string[] = [];
  const payloads: Payload[] = [];
  const channel = session.openInput(task, {
    request: (request) => void requests.push(request),
    closed: (reason, payload) => {
      closed.push(reason);
      if (payload !== undefined) payloads.push(payload);
    },
  });
  return { channel, requests, closed, payloads };
}

describe('input channel over HTTP (B7)', () => {
  let server: ScriptedServer;
  let proxy: TcpProxy;
  let session: ProtocolSession;
  beforeAll(async () => {
    server = await startScriptedServer();
    proxy = await startProxy(server.port);
  });
  beforeEach(async () => {
    session = await connect({ kind: 'http', url: proxy.url }, { requestTimeoutMs: 500 });
  });
  afterEach(async () => {
    await session.close();
    await proxy.setMode({ kind: 'pass' });
    await server.control({ op: 'clearFaults' });
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
  });

  it('hands over each question, answers it with the task named, and ends with the task', async () => {
    const task = await startTask(session, { ask: 2 });
    const heard = listen(session, task);
    await eventually(() => heard.requests.length === 1);
    expect(heard.requests[0]).toEqual({
      message: 'question 1',
      schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
    });
    expect(await heard.channel.deliver({ action: 'accept', content: { word: 'yes' } })).toBe(true);
    expect(await heard.channel.deliver({ action: 'decline' })).toBe(false);
    await eventually(() => heard.requests.length === 2);
    expect(await heard.channel.deliver({ action: 'cancel' })).toBe(true);
    await eventually(() => heard.closed.length === 1);
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'result' });
    const answers = (await server.log()).answers.filter((answer) => answer.taskId === task.taskId);
    expect(answers.map((answer) => answer.result)).toEqual([
      { action: 'accept', content: { word: 'yes' }, _meta: { [RELATED]: { taskId: task.taskId } } },
      { action: 'cancel', _meta: { [RELATED]: { taskId: task.taskId } } },
    ]);
    expect(heard.closed).toHaveLength(1);
  });

  it('does not mix the questions of two tasks, and answers one question once', async () => {
    const first = await startTask(session, { outcome: 'hold' });
    const second = await startTask(session, { outcome: 'hold' });
    const heard = [listen(session, first), listen(session, second)] as const;
    await server.control({ op: 'ask', taskId: second.taskId, message: 'for two' });
    await server.control({ op: 'ask', taskId: first.taskId, message: 'for one' });
    await eventually(() => heard[0].requests.length === 1 && heard[1].requests.length === 1);
    expect(heard.map(({ requests }) => requests[0]?.message)).toEqual(['for one', 'for two']);
    const both = await Promise.all([
      heard[0].channel.deliver({ action: 'decline' }),
      heard[0].channel.deliver({ action: 'cancel' }),
    ]);
    expect(both).toEqual([true, false]);
    expect(heard[1].closed).toEqual([]);
  });

  it('shows one question at a time', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    await server.control({ op: 'ask', taskId: task.taskId, message: 'a' });
    await server.control({ op: 'ask', taskId: task.taskId, message: 'b' });
    const heard = listen(session, task);
    await eventually(() => heard.requests.length === 1);
    await sleep(50);
    expect(heard.requests).toHaveLength(1);
    await heard.channel.deliver({ action: 'decline' });
    await eventually(() => heard.requests.length === 2);
  });

  it('keeps a question that was delivered and not answered for the next channel (B14: closing is no cancel)', async () => {
    const task = await startTask(session, { ask: 1 });
    const first = listen(session, task);
    await eventually(() => first.requests.length === 1);
    first.channel.close();
    expect(await first.channel.deliver({ action: 'decline' })).toBe(false);
    await sleep(50);
    expect(await session.status(task)).toMatchObject({ task: { status: 'input_required' } });
    const second = listen(session, task);
    await eventually(() => second.requests.length === 1);
    expect(await second.channel.deliver({ action: 'accept', content: { word: 'x' } })).toBe(true);
    await until(session, task, 'completed');
    expect(first.closed).toEqual([]);
    const { counts } = await server.log();
    expect(counts['tasks/cancel']).toBeUndefined();
    expect(counts['notifications/cancelled']).toBeUndefined();
  });

  it('hears the second question also when its channel was closed and opened again in between', async () => {
    const task = await startTask(session, { ask: 3 });
    for (const message of ['question 1', 'question 2', 'question 3']) {
      const heard = listen(session, task);
      await eventually(() => heard.requests.length === 1);
      expect(heard.requests[0]?.message).toBe(message);
      expect(await heard.channel.deliver({ action: 'decline' })).toBe(true);
      heard.channel.close();
      await sleep(30);
    }
    await until(session, task, 'completed');
    const reads = (await server.log()).requests.filter(
      ({ method, taskId }) => method === 'tasks/result' && taskId === task.taskId,
    );
    expect(reads).toHaveLength(1);
  });

  it('replaces an older channel of the task', async () => {
    const task = await startTask(session, { ask: 1 });
    const first = listen(session, task);
    await eventually(() => first.requests.length === 1);
    const second = listen(session, task);
    expect(first.closed).toHaveLength(1);
    await eventually(() => second.requests.length === 1);
    expect(await first.channel.deliver({ action: 'decline' })).toBe(false);
    expect(await second.channel.deliver({ action: 'decline' })).toBe(true);
  });

  it('says at once when the connection broke, and when nobody can know whether the answer was taken', async () => {
    const task = await startTask(session, { ask: 1 });
    const heard = listen(session, task);
    await eventually(() => heard.requests.length === 1);
    await proxy.setMode({ kind: 'cutAfterRequest', matches: '"action"' });
    await expect(heard.channel.deliver({ action: 'decline' })).rejects.toThrow(/cannot be known/);
    await proxy.setMode({ kind: 'refuse' });
    await eventually(() => heard.closed.length === 1, 1_000);
    await proxy.setMode({ kind: 'pass' });
  });

  it('an answer that cannot reach the server is provably not written', async () => {
    const task = await startTask(session, { ask: 1 });
    const heard = listen(session, task);
    await eventually(() => heard.requests.length === 1);
    const delivered = proxy.setMode({ kind: 'refuse' }).then(() => heard.channel.deliver({ action: 'decline' }));
    expect(await delivered).toBe(false);
  });

  it('ends when the task is cancelled, forgotten or unknown', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const heard = listen(session, task);
    await sleep(30);
    await session.cancel(task);
    await eventually(() => heard.closed.length === 1);
    const gone = listen(session, { ...task, taskId: 'unknown' });
    await eventually(() => gone.closed.length === 1);
    expect(gone.closed[0]).not.toContain('unknown');
  });
});

describe('what ends the channel is the result, verified like a fetched one (B11)', () => {
  let server: ScriptedServer;
  let session: ProtocolSession;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  beforeEach(async () => {
    session = await connect({ kind: 'http', url: server.url });
  });
  afterEach(async () => {
    await session.close();
    await server.control({ op: 'clearFaults' });
  });
  afterAll(() => server.stop());
  const reads = async (task: TaskRef) =>
    (await server.log()).requests.filter(({ method, taskId }) => method === 'tasks/result' && taskId === task.taskId)
      .length;

  it('the same payload as fetched', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const heard = listen(session, task);
    await server.control({ op: 'complete', taskId: task.taskId });
    await eventually(() => heard.closed.length === 1);
    expect(await session.result(task, 'completed')).toEqual({ kind: 'result', payload: heard.payloads[0] });
  });

  it('also told to who left, once', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const heard = listen(session, task);
    await sleep(30);
    heard.channel.close();
    await server.control({ op: 'complete', taskId: task.taskId });
    await eventually(() => heard.payloads.length === 1);
    await sleep(50);
    expect(heard.closed).toHaveLength(1);
    expect(await reads(task)).toBe(1);
  });

  it('told to the channel that replaced the one it was held for, and to no other', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const first = listen(session, task);
    await sleep(30);
    const second = listen(session, task);
    await server.control({ op: 'complete', taskId: task.taskId });
    await eventually(() => second.closed.length === 1);
    expect([first.payloads.length, second.payloads.length]).toEqual([0, 1]);
  });

  it('a JSON-RPC error: of a failed task, and read twice', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    const heard = listen(session, task);
    await sleep(30);
    await server.control({ op: 'fail', taskId: task.taskId, code: -32077 });
    await eventually(() => heard.closed.length === 1);
    expect(heard.payloads).toMatchObject([{ kind: 'error', value: { code: -32077 } }]);
    expect(await reads(task)).toBe(2);
  });

  it.each([
    ['an error of a task that goes on', 'work', { kind: 'rpc', code: -32603 }],
    ['the result of another task', 'work', otherTask()],
    ['an empty result', 'work', { kind: 'answer', result: { content: [] } }],
    ['no structured content', 'typed', { kind: 'answer', result: { content: [{ type: 'text', text: 'x' }] } }],
  ] as const)('%s is no payload', async (_name, tool, fault) => {
    const task = await startTask(session, { outcome: 'hold' }, tool);
    await server.control({ op: 'fault', method: 'tasks/result', taskId: task.taskId, ...fault } as never);
    const heard = listen(session, task);
    await eventually(() => heard.closed.length === 1);
    expect(heard.payloads).toEqual([]);
  });
});

function otherTask() {
  const content = [{ type: 'text', text: 'x' }];
  return { kind: 'answer', result: { content, _meta: { [RELATED]: { taskId: 'another' } } } } as const;
}

describe('input channel over stdio (B7)', () => {
  it('works, and keeps a question that comes while nobody listens', async () => {
    const port = await freePort();
    const session = await connect(stdioCommand({}, port));
    const task = await startTask(session, { ask: 2 });
    const first = listen(session, task);
    await eventually(() => first.requests.length === 1);
    first.channel.close();
    const second = listen(session, task);
    await eventually(() => second.requests.length === 1);
    expect(await second.channel.deliver({ action: 'decline' })).toBe(true);
    second.channel.close();
    await sleep(100);
    const third = listen(session, task);
    await eventually(() => third.requests.length === 1);
    expect(third.requests[0]?.message).toBe('question 2');
    expect(await third.channel.deliver({ action: 'decline' })).toBe(true);
    await eventually(() => third.closed.length === 1);
    const { counts } = await controls(port).log();
    expect(counts['notifications/cancelled']).toBeUndefined();
    await session.close();
  });
});
