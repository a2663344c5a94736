import { describe, expect, it } from 'vitest';
import type { Fault, Status } from '../../kit/servers/mcp-2026-07-28.ts';
import { connect, NOTHING, send, stage, startTask, submission, TRANSPORTS, until } from './helpers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };

describe.each(TRANSPORTS)('status and result over %s (B6, B11)', (transport) => {
  const server = stage(transport);

  it('tells a task that works, without payload and questions', async () => {
    const task = await startTask(server.session, { outcome: 'hold', ttlMs: 60_000 });
    const seen = await server.session.status(task);
    expect(seen).toEqual({
      kind: 'status',
      task: expect.objectContaining({ taskId: task.taskId, status: 'working', ttlMs: 60_000 }),
    });
  });

  it('brings the result with the status, and brings it again', async () => {
    const task = await startTask(server.session, {}, 'typed');
    const payload = { kind: 'result', value: { ...DONE, structuredContent: { answer: 42 } }, isError: false };
    expect((await until(server.session, task, 'completed')).payload).toEqual(payload);
    for (let again = 0; again < 2; again++) {
      expect(await server.session.result(task, 'completed')).toEqual({ kind: 'result', payload });
    }
  });

  it('a tool that says isError has completed', async () => {
    const task = await startTask(server.session, { outcome: 'isError' }, 'typed');
    expect((await until(server.session, task, 'completed')).payload).toMatchObject({ kind: 'result', isError: true });
  });

  it('a JSON-RPC error is the outcome of a failed task', async () => {
    const task = await startTask(server.session, { outcome: 'rpcError', code: -32099 });
    const payload = { kind: 'error', value: { code: -32099, message: 'the tool broke' } };
    expect((await until(server.session, task, 'failed')).payload).toEqual(payload);
    expect(await server.session.result(task, 'failed')).toEqual({ kind: 'result', payload });
  });

  it('a cancelled task has no result', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.session.cancel(task);
    expect(await until(server.session, task, 'cancelled')).not.toHaveProperty('payload');
    expect(await server.session.result(task, 'cancelled')).toMatchObject({ kind: 'invalid' });
  });

  it('an unknown task is not found (F10), also when it is gone between status and result', async () => {
    const task = await startTask(server.session, {});
    await until(server.session, task, 'completed');
    await server.control({ op: 'forget', taskId: task.taskId });
    expect(await server.session.status(task)).toMatchObject({ kind: 'notFound' });
    expect(await server.session.result(task, 'completed')).toMatchObject({ kind: 'notFound' });
  });

  it('times are read anew each time', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    expect(task).toMatchObject({ pollIntervalMs: 50, ttlMs: null, remainingTtlMs: null });
    await server.control({ op: 'pace', taskId: task.taskId, pollIntervalMs: 900 });
    await server.control({ op: 'expire', taskId: task.taskId, inMs: 30_000 });
    const seen = await until(server.session, task, 'working');
    expect(seen.task.pollIntervalMs).toBe(900);
    expect(seen.task.remainingTtlMs).toBeGreaterThan(25_000);
    expect(seen.task.remainingTtlMs).toBeLessThan(35_000);
  });

  it('another createdAt under the id is passed on (F9)', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.control({ op: 'reuse', taskId: task.taskId, createdAt: '2031-01-01T00:00:00.000Z' });
    expect((await until(server.session, task, 'working')).task.taskCreatedAt).toBe('2031-01-01T00:00:00.000Z');
  });

  it('a server that takes a terminal status back: no result', async () => {
    const task = await startTask(server.session, {});
    await until(server.session, task, 'completed');
    await server.control({ op: 'statuses', taskId: task.taskId, statuses: ['working'] });
    expect(await server.session.result(task, 'completed')).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('working'),
    });
  });

  it('what cannot be verified is no payload, and the fetch says why (B11; F6)', async () => {
    const lies: [string, object, RegExp, Status?][] = [
      ['nothing', { result: null }, /carries no result/],
      ['no object', { result: [] }, /carries no result/],
      ['an empty one', { result: { content: [] } }, /empty/],
      ['another shape', { result: { content: 7 } }, /not the result of a tool call/],
      ['another resultType', { result: { resultType: 'task', ...DONE } }, /resultType/],
      ['a misfit', { result: { ...DONE, structuredContent: { answer: 'no' } } }, /output schema/],
      ['no structured content', { result: DONE }, /structured content/],
      [
        'the mark of another task',
        { result: { ...DONE, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'other' } } } },
        /another task/,
      ],
      ['no error', { status: 'failed', result: null }, /no JSON-RPC error/, 'failed'],
      ['a broken error', { status: 'failed', error: { code: 'x', message: 1 } }, /no JSON-RPC error/, 'failed'],
    ];
    const task = await startTask(server.session, {}, 'typed');
    await until(server.session, task, 'completed');
    for (const [name, fields, reason, status = 'completed'] of lies) {
      await server.fault({ method: 'tasks/get', kind: 'amend', fields: { ...fields }, times: 2 });
      const seen = await server.session.status(task);
      expect(seen, name).toMatchObject({ kind: 'status', task: { status } });
      expect(seen, name).not.toHaveProperty('payload');
      const fetched = await server.session.result(task, status === 'failed' ? 'failed' : 'completed');
      expect(fetched, name).toEqual({ kind: 'invalid', reason: expect.stringMatching(reason) });
    }
  });

  it.each(['complete', undefined])('takes an inlined result whose resultType is %s', async (resultType) => {
    const task = await startTask(server.session, {});
    await until(server.session, task, 'completed');
    const result = { ...DONE, ...(resultType === undefined ? {} : { resultType }) };
    await server.fault({ method: 'tasks/get', kind: 'amend', fields: { result } });
    expect(await server.session.status(task)).toMatchObject({ payload: { kind: 'result', value: DONE } });
  });

  it('takes resultType `task` of tasks/get, as the examples have it, and no other', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.fault({ method: 'tasks/get', kind: 'amend', fields: { resultType: 'task' } });
    expect(await server.session.status(task)).toMatchObject({ kind: 'status' });
    await server.fault({ method: 'tasks/get', kind: 'amend', fields: { resultType: 'input_required' }, times: 2 });
    expect(await server.session.status(task)).toMatchObject({ kind: 'unknown' });
    expect(await server.session.result(task, 'completed')).toMatchObject({ kind: 'invalid' });
  });

  it.each<[string, object]>([
    ['another task', { taskId: 'other' }],
    ['no id', { taskId: null }],
    ['an unknown status', { status: 'paused' }],
    ['a status that is no text', { status: ['working'] }],
  ])('nothing is known after an answer with %s', async (_name, fields) => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.fault({ method: 'tasks/get', kind: 'amend', fields: { ...fields }, times: 2 });
    expect(await server.session.status(task)).toMatchObject({ kind: 'unknown' });
    expect(await server.session.result(task, 'completed')).toMatchObject({ kind: 'invalid' });
  });

  it('times of a wrong type are not said', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    const fields = { ttlMs: 'soon', pollIntervalMs: -1, createdAt: 7, statusMessage: {} };
    await server.fault({ method: 'tasks/get', kind: 'amend', fields });
    expect(await server.session.status(task)).toMatchObject({
      kind: 'status',
      task: { ttlMs: null, pollIntervalMs: null, taskCreatedAt: null, statusMessage: null, remainingTtlMs: null },
    });
  });

  it('an answer over the limit is a fact, and the connection lives on', async () => {
    const session = transport === 'http' ? await connect(server.endpoint) : server.session;
    const task = await startTask(session, { variant: 'huge', bytes: 20_000_000, terminalSeed: true });
    const over = { kind: 'invalid', reason: 'the answer is over the size limit' };
    expect(await session.result(task, 'completed')).toEqual(over);
    expect(await session.status(task)).toEqual({ ...over, kind: 'unknown' });
    expect(await session.status(await startTask(session, { outcome: 'hold' }))).toMatchObject({ kind: 'status' });
    await session.close();
  });

  it('the look-up by key: found (flat), never created, expired with a receipt (B13)', async () => {
    await server.session.negotiate('work', {});
    const asked = submission('work', {});
    expect(await server.session.lookup(asked)).toMatchObject({ kind: 'unavailable' });
  });
});

describe('reads over HTTP (F11)', () => {
  const server = stage('http');

  it.each(NOTHING)('%s tells nothing', async (_name, fault, expected) => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.fault({ ...fault, method: 'tasks/get', times: 2 } as Fault);
    const seen = await server.session.status(task);
    const isCut = Reflect.get(fault, 'kind') === 'truncate';
    expect(seen).toMatchObject({ kind: 'unknown', ...expected });
    expect(seen).not.toHaveProperty('sessionLost');
    expect(await server.session.result(task, 'completed')).toMatchObject({ kind: isCut ? 'invalid' : 'unknown' });
    expect(await server.session.status(task)).toMatchObject({ kind: 'status' });
  });

  it('reads an answer from an event stream, with a notification before it', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.control({ op: 'set', options: { stream: true } });
    expect(await server.session.status(task)).toMatchObject({ kind: 'status' });
    await server.control({ op: 'set', options: { stream: false } });
  });
});

describe.each(TRANSPORTS)('look-up over %s (B4, B13)', (transport) => {
  const server = stage(transport, { lookup: true, dedup: true, retentionMs: 1_000 });

  it('finds the task, proves that none was made, and knows a receipt', async () => {
    const what = submission('work', { outcome: 'hold', ttlMs: 5_000 });
    const { outcome } = await send(server.session, what);
    if (outcome.kind !== 'acknowledged') throw new Error(outcome.kind);
    const task = { ...outcome.task, tool: 'work' };
    expect(await server.session.lookup(what)).toEqual({ kind: 'found', task: outcome.task });
    expect((await send(server.session, what)).outcome).toMatchObject({ task: { taskId: task.taskId } });

    expect(await server.session.lookup({ ...submission('work', {}), attempt: 2 })).toEqual({
      kind: 'neverCreated',
      closedThroughAttempt: 2,
    });
    await server.control({ op: 'complete', taskId: task.taskId });
    await server.control({ op: 'forget', taskId: task.taskId, receipt: true });
    expect(await server.session.lookup(what)).toMatchObject({ kind: 'expiredWithReceipt', status: 'completed' });
  });

  it.each([
    ['completed', true, { kind: 'expiredWithReceipt', payload: { kind: 'result', isError: true } }],
    ['completed', false, { kind: 'expiredWithReceipt', payload: { kind: 'result', isError: false } }],
    ['failed', true, { kind: 'unknown', reason: expect.stringContaining('contradicts itself') }],
    ['failed', false, { kind: 'unknown' }],
  ] as const)(
    'B2, B13: a receipt that is %s and holds a result with isError %s, as this revision has it',
    async (status, isError, said) => {
      const result = { content: [{ type: 'text', text: 'x' }], structuredContent: { answer: 1 }, isError };
      const receipt = { taskId: 't', createdAt: '2026-01-01T00:00:00Z', status, result };
      await server.fault({ method: 'dev.toolop/lookup', kind: 'answer', result: { expiredWithReceipt: receipt } });
      expect(await server.session.lookup(submission('work', {}))).toMatchObject(said);
    },
  );

  it.each<[string, unknown]>([
    ['two answers', { neverCreated: true, closedThroughAttempt: 1, found: {} }],
    ['none', {}],
    ['a task as the older revision writes its times, without a status', { found: { taskId: 't', ttl: 5 } }],
    ['an attempt that is no number', { neverCreated: true, closedThroughAttempt: '9' }],
  ])('is told nothing by %s', async (_name, result) => {
    await server.fault({ method: 'dev.toolop/lookup', kind: 'answer', result });
    expect(await server.session.lookup(submission('work', {}))).toMatchObject({ kind: 'unknown' });
  });
});
