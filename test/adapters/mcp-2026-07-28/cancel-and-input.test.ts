import { describe, expect, it } from 'vitest';
import type { Fault } from '../../kit/servers/mcp-2026-07-28.ts';
import { connect, eventually, NOTHING, stage, startTask, TRANSPORTS, until } from './helpers.ts';

const UNKNOWN = { taskId: 'nobody-made-this', taskCreatedAt: null, tool: 'work' };

describe.each(TRANSPORTS)('cancel over %s (B9)', (transport) => {
  const server = stage(transport);

  it('is only heard: the task works on until the server says otherwise', async () => {
    await server.control({ op: 'set', options: { cancel: 'ignore' } });
    const task = await startTask(server.session, { outcome: 'hold' });
    expect(await server.session.cancel(task)).toEqual({ kind: 'acknowledged' });
    expect(await server.session.status(task)).toMatchObject({ task: { status: 'working' } });
    await server.control({ op: 'complete', taskId: task.taskId });
    expect(await server.session.status(task)).toMatchObject({ task: { status: 'completed' } });
    await server.control({ op: 'set', options: { cancel: 'obey', cancelMs: 200 } });
    const other = await startTask(server.session, { outcome: 'hold' });
    expect(await server.session.cancel(other)).toEqual({ kind: 'acknowledged' });
    await until(server.session, other, 'cancelled');
  });

  it('of a terminal task is heard as well, and changes nothing', async () => {
    const task = await startTask(server.session, { terminalSeed: true });
    expect(await server.session.cancel(task)).toEqual({ kind: 'acknowledged' });
    expect(await server.session.status(task)).toMatchObject({ task: { status: 'completed' } });
  });

  it('even an answer that looks like a cancelled task is no evidence', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    const result = { resultType: 'complete', taskId: task.taskId, status: 'cancelled' };
    await server.fault({ method: 'tasks/cancel', kind: 'answer', result });
    expect(await server.session.cancel(task)).toEqual({ kind: 'acknowledged' });
    await server.fault({ method: 'tasks/cancel', kind: 'answer', result: { resultType: 'task' } });
    expect(await server.session.cancel(task)).toMatchObject({ kind: 'unknown' });
  });

  it('of an unknown task is refused, and of a server without it unsupported', async () => {
    expect(await server.session.cancel(UNKNOWN)).toMatchObject({ kind: 'refused' });
    await server.fault({ method: 'tasks/cancel', kind: 'rpc', code: -32601, status: 404 });
    expect(await server.session.cancel(UNKNOWN)).toMatchObject({ kind: 'unsupported' });
  });

  it('never goes as notifications/cancelled', async () => {
    expect((await server.log()).counts).not.toHaveProperty('notifications/cancelled');
  });
});

describe.each(TRANSPORTS)('questions over %s (B7)', (transport) => {
  const server = stage(transport);

  it('lists all that is outstanding, each time, and takes answers by key', async () => {
    const task = await startTask(server.session, { ask: [['a', 'b'], ['c']] });
    const first = await until(server.session, task, 'input_required');
    expect(first.inputRequests).toEqual({
      a: { message: 'question a', schema: expect.objectContaining({ required: ['word'] }) },
      b: { message: 'question b', schema: expect.objectContaining({ required: ['word'] }) },
    });
    expect((await until(server.session, task, 'input_required')).inputRequests).toEqual(first.inputRequests);
    const answer = { action: 'accept', content: { word: 'x' } } as const;
    expect(await server.session.answerInput?.(task, { a: answer })).toEqual({ kind: 'delivered' });
    expect(Object.keys((await until(server.session, task, 'input_required')).inputRequests ?? {})).toEqual(['b']);
    await server.session.answerInput?.(task, { b: { action: 'decline' } });
    await eventually(async () => {
      const { inputRequests } = await until(server.session, task, 'input_required');
      return Object.keys(inputRequests ?? {}).join() === 'c';
    });
    await server.session.answerInput?.(task, { c: { action: 'cancel' } });
    await until(server.session, task, 'completed');
    const taken = (await server.log()).answers.filter(({ taskId }) => taskId === task.taskId);
    expect(taken.map(({ key, response }) => [key, response])).toEqual([
      ['a', answer],
      ['b', { action: 'decline' }],
      ['c', { action: 'cancel' }],
    ]);
  });

  it('the same answer sent again is taken once (F3), and the key may still be listed', async () => {
    const task = await startTask(server.session, { ask: [['a']], lagMs: 300, outcome: 'hold' });
    await until(server.session, task, 'input_required');
    const replies = { a: { action: 'accept', content: { word: 'once' } } } as const;
    expect(await server.session.answerInput?.(task, replies)).toEqual({ kind: 'delivered' });
    expect((await until(server.session, task, 'input_required')).inputRequests).toHaveProperty('a');
    expect(await server.session.answerInput?.(task, replies)).toEqual({ kind: 'delivered' });
    await until(server.session, task, 'working');
    const { answers, ignored } = await server.log();
    expect(answers.filter(({ taskId }) => taskId === task.taskId)).toHaveLength(1);
    expect(ignored.filter(({ taskId }) => taskId === task.taskId)).toEqual([{ taskId: task.taskId, key: 'a' }]);
  });

  it('leaves out what is not ours, not readable or too large, and keeps odd keys', async () => {
    const task = await startTask(server.session, { ask: [['a']] });
    await until(server.session, task, 'input_required');
    const form = (message: unknown) => ({
      method: 'elicitation/create',
      params: { message, requestedSchema: { type: 'object', properties: {} } },
    });
    const inputRequests = JSON.parse(
      JSON.stringify({
        good: form('yes'),
        sampling: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        roots: { method: 'roots/list' },
        url: { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://example.org' } },
        wrong: form(7),
        huge: form('x'.repeat(1_500_000)),
        none: null,
        ['k'.repeat(600)]: form('the key is too long'),
      }).replace('"good"', '"__proto__"'),
    ) as object;
    await server.fault({ method: 'tasks/get', kind: 'amend', fields: { inputRequests } });
    const seen = await until(server.session, task, 'input_required');
    expect(Object.entries(seen.inputRequests ?? {})).toEqual([
      ['__proto__', { message: 'yes', schema: { type: 'object', properties: {} } }],
    ]);
    for (const bad of [[], 'x', 7, null]) {
      await server.fault({ method: 'tasks/get', kind: 'amend', fields: { inputRequests: bad } });
      expect((await until(server.session, task, 'input_required')).inputRequests).toEqual({});
    }
  });

  it('takes so many questions at a time, and the rest when those are answered', async () => {
    const keys = Array.from({ length: 70 }, (_, index) => `k${index}`);
    const task = await startTask(server.session, { ask: [keys] });
    const first = Object.keys((await until(server.session, task, 'input_required')).inputRequests ?? {});
    expect(first).toHaveLength(64);
    const decline = (which: readonly string[]) =>
      Object.fromEntries(which.map((key) => [key, { action: 'decline' } as const]));
    await server.session.answerInput?.(task, decline(first));
    const rest = Object.keys((await until(server.session, task, 'input_required')).inputRequests ?? {});
    expect([...first, ...rest].sort()).toEqual([...keys].sort());
  });

  it('is not delivered to a task that nobody knows', async () => {
    expect(await server.session.answerInput?.(UNKNOWN, {})).toMatchObject({ kind: 'notDelivered' });
    await server.fault({ method: 'tasks/update', kind: 'answer', result: { resultType: 'input_required' } });
    expect(await server.session.answerInput?.(UNKNOWN, {})).toMatchObject({ kind: 'unknown' });
  });

  it('there is no channel', () => {
    const events = { request: () => undefined, closed: () => undefined };
    expect(() => server.session.openInput(UNKNOWN, events)).toThrow(/come with its status/);
  });
});

describe('over HTTP', () => {
  const server = stage('http');

  it.each(NOTHING)('nobody knows of a cancel (F5) or an answer after %s', async (_name, fault, expected) => {
    const task = await startTask(server.session, { outcome: 'hold', ask: [['a']] });
    await server.fault({ ...fault, method: 'tasks/cancel' } as Fault);
    expect(await server.session.cancel(task)).toMatchObject({ kind: 'unknown', ...expected });
    await server.fault({ ...fault, method: 'tasks/update' } as Fault);
    const replies = { a: { action: 'decline' } } as const;
    expect(await server.session.answerInput?.(task, replies)).toMatchObject({ kind: 'unknown', ...expected });
  });

  it('an answer is provably not delivered where nobody listens', async () => {
    const session = await connect({ kind: 'http', url: 'http://127.0.0.1:9/mcp' });
    expect(await session.answerInput?.(UNKNOWN, {})).toMatchObject({ kind: 'notDelivered' });
    expect(await session.cancel(UNKNOWN)).toMatchObject({ kind: 'unknown' });
    await session.close();
  });

  it('a question is answered by another process than the one that saw it', async () => {
    const task = await startTask(server.session, { ask: [['a']] });
    await until(server.session, task, 'input_required');
    await server.session.close();
    const other = await connect(server.endpoint);
    expect(await other.status(task)).toMatchObject({ inputRequests: { a: { message: 'question a' } } });
    await other.answerInput?.(task, { a: { action: 'decline' } });
    await until(other, task, 'completed');
    await other.close();
  });
});
