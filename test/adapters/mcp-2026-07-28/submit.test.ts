import { describe, expect, it } from 'vitest';
import type { Fault } from '../../kit/servers/mcp-2026-07-28.ts';
import { connect, eventually, send, stage, startTask, submission, TRANSPORTS, timed, until } from './helpers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };
const TASK = { taskId: 't', status: 'working', createdAt: '2026-12-01T00:00:00Z', ttlMs: null };

describe.each(TRANSPORTS)('submission over %s (B4)', (transport) => {
  const server = stage(transport);

  it('acknowledges a task, asks mayWrite once, and says everything in _meta', async () => {
    const what = submission('work', { outcome: 'hold', ttlMs: 60_000 }, { attempt: 3 });
    const { outcome, asked } = await send(server.session, what);
    expect(outcome).toEqual({
      kind: 'acknowledged',
      sessionId: null,
      task: {
        taskId: expect.any(String),
        status: 'working',
        statusMessage: null,
        taskCreatedAt: expect.any(String),
        pollIntervalMs: 50,
        ttlMs: 60_000,
        remainingTtlMs: 60_000,
      },
    });
    expect(asked).toBe(1);
    const seen = (await server.log()).requests.filter(({ method }) => method === 'tools/call').at(-1);
    expect(seen?.meta).toEqual({
      'dev.toolop/submission-key': what.submissionKey,
      'dev.toolop/attempt': 3,
      'dev.toolop/request-digest': 'digest',
      'dev.toolop/principal': 'somebody',
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'toolop', version: '0.1.0' },
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {} },
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
    });
    expect(Object.keys(seen?.params ?? {}).sort()).toEqual(['arguments', 'name']);
  });

  it('R1: a shadow says so in _meta', async () => {
    await send(server.session, submission('work', {}, { shadow: true }));
    const seen = (await server.log()).requests.filter(({ method }) => method === 'tools/call').at(-1);
    expect(seen?.meta).toMatchObject({ 'dev.toolop/shadow': true, 'dev.toolop/attempt': 1 });
  });

  it('acknowledges a task that is over already', async () => {
    const { outcome } = await send(server.session, submission('work', { terminalSeed: true }));
    expect(outcome).toMatchObject({ kind: 'acknowledged', task: { status: 'completed' } });
  });

  it('takes a result in place of a task as the outcome, once it is verified', async () => {
    const { outcome } = await send(server.session, submission('work', { immediate: true }));
    expect(outcome).toMatchObject({ kind: 'outcome', payload: { kind: 'result', isError: false, value: DONE } });
    const failed = await send(server.session, submission('work', { immediate: true, outcome: 'isError' }));
    expect(failed.outcome).toMatchObject({ kind: 'outcome', payload: { isError: true } });
    const typed = await send(server.session, submission('typed', { immediate: true }));
    expect(typed.outcome).toMatchObject({ kind: 'outcome' });
    const misfit = await send(server.session, submission('typed', { immediate: true, variant: 'badSchema' }));
    expect(misfit.outcome).toMatchObject({ kind: 'connectionLost', reason: expect.stringContaining('output schema') });
  });

  it('answers the rounds before there is a task, and sends requestState verbatim', async () => {
    const what = submission('work', { before: [['a', 'b'], ['c']], outcome: 'hold' });
    const first = await send(server.session, what);
    expect(first.outcome).toEqual({
      kind: 'inputRequired',
      requestState: 'round-0',
      requests: {
        a: { message: 'question a', schema: expect.objectContaining({ required: ['word'] }) },
        b: { message: 'question b', schema: expect.objectContaining({ required: ['word'] }) },
      },
    });
    const before = (await server.log()).executions;
    const second = await send(server.session, {
      ...what,
      input: {
        replies: { a: { action: 'accept', content: { word: 'x' } }, b: { action: 'decline' } },
        requestState: 'round-0',
      },
    });
    expect(second.outcome).toMatchObject({ kind: 'inputRequired', requestState: 'round-1', requests: { c: {} } });
    expect((await server.log()).executions).toBe(before);
    const third = await send(server.session, {
      ...what,
      input: { replies: { c: { action: 'cancel' } }, requestState: 'round-1' },
    });
    expect(third.outcome).toMatchObject({ kind: 'acknowledged' });
    const { requests, answers } = await server.log();
    const [one, two, three] = requests.filter(({ method }) => method === 'tools/call').slice(-3);
    expect(one?.params).not.toHaveProperty('inputResponses');
    expect(two?.params).toMatchObject({
      inputResponses: { a: { action: 'accept', content: { word: 'x' } }, b: { action: 'decline' } },
      requestState: 'round-0',
      arguments: one?.params.arguments,
    });
    expect(three?.params).toMatchObject({ inputResponses: { c: { action: 'cancel' } }, requestState: 'round-1' });
    expect(answers.slice(-3).map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });

  it('sends no requestState where none came', async () => {
    const what = submission('work', { before: [['a']], withoutState: true, outcome: 'hold' });
    expect((await send(server.session, what)).outcome).toMatchObject({ kind: 'inputRequired', requestState: null });
    const input = { replies: { a: { action: 'decline' } as const }, requestState: null };
    expect((await send(server.session, { ...what, input })).outcome).toMatchObject({ kind: 'acknowledged' });
    const seen = (await server.log()).requests.filter(({ method }) => method === 'tools/call').at(-1);
    expect(seen?.params).not.toHaveProperty('requestState');
  });

  const elicit = { method: 'elicitation/create', params: { message: 'm', requestedSchema: { type: 'object' } } };
  const roots = { method: 'roots/list' };
  const url = { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://example.org' } };
  it.each([
    [
      'only a state to come back with',
      { requestState: 's' },
      { kind: 'inputRequired', requests: {}, requestState: 's' },
    ],
    [
      'what is ours among others',
      { inputRequests: { a: elicit, b: roots, c: url } },
      { kind: 'inputRequired', requests: { a: { message: 'm', schema: { type: 'object' } } }, requestState: null },
    ],
    ['only what is not ours', { inputRequests: { b: roots, c: url }, requestState: 's' }, { kind: 'connectionLost' }],
    ['nothing at all', {}, { kind: 'connectionLost' }],
  ])('reads an answer that asks for %s', async (_name, fields, expected) => {
    await server.fault({ method: 'tools/call', kind: 'answer', result: { resultType: 'input_required', ...fields } });
    const { outcome } = await send(server.session, submission('work', {}));
    expect(outcome).toMatchObject(expected);
    if (outcome.kind === 'inputRequired') {
      expect(Object.keys(outcome.requests)).toEqual('inputRequests' in fields ? ['a'] : []);
    }
  });

  it.each<[string, unknown]>([
    ['an unknown resultType', { resultType: 'partial', ...DONE }],
    ['a resultType that is no text', { resultType: 7, ...DONE }],
    ['a task without an id', { resultType: 'task', ...TASK, taskId: undefined }],
    ['a task id that is no text', { resultType: 'task', ...TASK, taskId: { length: 3 } }],
    ['a task id of a million characters', { resultType: 'task', ...TASK, taskId: 'x'.repeat(1_000_000) }],
    ['a task with an unknown status', { resultType: 'task', ...TASK, status: 'done' }],
    ['a task that does not say that it is one', TASK],
    ['a task as the older revision nests it', { task: TASK }],
    ['an empty result', { resultType: 'complete', content: [] }],
    ['a result of another shape', { resultType: 'complete', content: 'done' }],
  ])('cannot know after %s, and sends nothing again', async (_name, result) => {
    const before = (await server.log()).counts['tools/call'] ?? 0;
    await server.fault({ method: 'tools/call', kind: 'answer', result });
    expect((await send(server.session, submission('work', {}))).outcome).toMatchObject({ kind: 'connectionLost' });
    expect((await server.log()).counts['tools/call']).toBe(before + 1);
  });

  it('takes a result without resultType if it reads as one', async () => {
    await server.fault({ method: 'tools/call', kind: 'answer', result: DONE });
    const { outcome } = await send(server.session, submission('work', {}));
    expect(outcome).toEqual({ kind: 'outcome', payload: { kind: 'result', value: DONE, isError: false } });
  });

  it.each([-32020, -32021, -32022])('is rejected by %i, which comes before dispatch', async (code) => {
    await server.fault({ method: 'tools/call', kind: 'rpc', code, status: 400 });
    const { outcome } = await send(server.session, submission('work', {}));
    expect(outcome).toEqual({ kind: 'rejected', reason: `JSON-RPC error ${code}` });
  });

  it.each([
    [-32601, 404],
    [-32602, 400],
    [-32602, 200],
    [-32603, 200],
    [-32001, 404],
  ])('proves nothing by %i under HTTP %i', async (code, status) => {
    await server.fault({ method: 'tools/call', kind: 'rpc', code, status });
    const { outcome } = await send(server.session, submission('work', {}));
    expect(outcome).toEqual({ kind: 'connectionLost', reason: `JSON-RPC error ${code}` });
  });

  it('sends nothing when mayWrite says no', async () => {
    const before = (await server.log()).counts['tools/call'] ?? 0;
    const { outcome, asked } = await send(server.session, submission('work', {}), { mayWrite: () => false });
    expect(outcome).toMatchObject({ kind: 'notSent' });
    expect(asked).toBe(1);
    expect((await server.log()).counts['tools/call'] ?? 0).toBe(before);
  });

  it('B14: its time is up, and the call goes on: the answer comes late, and nothing was cancelled', async () => {
    await server.control({ op: 'reset' });
    await server.fault({ method: 'tools/call', kind: 'holdAnswer' });
    const trace = await send(server.session, submission('work', { outcome: 'hold' }), { timeoutMs: 300 });
    expect(trace.outcome).toEqual({ kind: 'connectionLost', reason: 'no answer within 300 ms' });
    expect(trace.late).toEqual([]);
    await server.control({ op: 'release' });
    await eventually(() => trace.late.length === 1);
    expect(trace.late[0]).toMatchObject({ kind: 'acknowledged', task: { status: 'working' } });
    const { disconnects, counts } = await server.log();
    expect(disconnects).toEqual({});
    expect(Object.keys(counts).filter((method) => method.startsWith('notifications/'))).toEqual([]);
  });

  it('B14: an abort stops the waiting only', async () => {
    await server.control({ op: 'reset' });
    await server.fault({ method: 'tools/call', kind: 'holdAnswer' });
    const stop = new AbortController();
    const sent = send(server.session, submission('work', { before: [['a']] }), { signal: stop.signal });
    await eventually(async () => (await server.log()).counts['tools/call'] === 1);
    stop.abort();
    const trace = await sent;
    expect(trace.outcome).toMatchObject({ kind: 'connectionLost' });
    await server.control({ op: 'release' });
    await eventually(() => trace.late.length === 1);
    expect(trace.late[0]).toMatchObject({ kind: 'inputRequired', requests: { a: {} } });
    expect((await server.log()).disconnects).toEqual({});
  });

  it('an executor that takes a call over reads the descriptor first', async () => {
    const other = transport === 'http' ? await connect(server.endpoint) : server.session;
    await server.fault({ method: 'tools/list', kind: 'rpc', code: -32603 });
    const refused = await send(other, submission('typed', { immediate: true }));
    if (transport === 'http') expect(refused.outcome).toMatchObject({ kind: 'notSent' });
    const { outcome } = await send(other, submission('typed', { immediate: true, variant: 'badSchema' }));
    expect(outcome).toMatchObject({ kind: 'connectionLost', reason: expect.stringContaining('output schema') });
    await other.close();
  });
});

describe('submission over HTTP', () => {
  const server = stage('http');

  it.each<[string, Fault, object]>([
    ['401', { method: 'tools/call', kind: 'http', status: 401 }, { kind: 'rejected', reason: 'HTTP 401' }],
    ['403', { method: 'tools/call', kind: 'http', status: 403 }, { kind: 'rejected', reason: 'HTTP 403' }],
    ['404 of a proxy', { method: 'tools/call', kind: 'http', status: 404 }, { kind: 'connectionLost' }],
    [
      '400 with something that is no error',
      { method: 'tools/call', kind: 'http', status: 400, body: '{"jsonrpc":"2.0","id":1}', type: 'application/json' },
      { kind: 'connectionLost', reason: 'HTTP 400' },
    ],
    [
      '400 with the error of another request',
      {
        method: 'tools/call',
        kind: 'http',
        status: 400,
        body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":""}}',
        type: 'application/json',
      },
      { kind: 'connectionLost', reason: 'HTTP 400' },
    ],
    [
      '400 with an error without an id',
      {
        method: 'tools/call',
        kind: 'http',
        status: 400,
        body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":""}}',
        type: 'application/json',
      },
      { kind: 'rejected', reason: 'JSON-RPC error -32020' },
    ],
    [
      '503 with an error that would reject',
      {
        method: 'tools/call',
        kind: 'http',
        status: 503,
        body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":""}}',
        type: 'application/json',
      },
      { kind: 'connectionLost', reason: 'HTTP 503' },
    ],
    ['a reset before', { method: 'tools/call', kind: 'resetBefore' }, { kind: 'connectionLost' }],
    ['a reset after (F1)', { method: 'tools/call', kind: 'reset' }, { kind: 'connectionLost' }],
    ['an answer cut short', { method: 'tools/call', kind: 'truncate' }, { kind: 'connectionLost' }],
    ['no JSON', { method: 'tools/call', kind: 'text', text: 'oops' }, { kind: 'connectionLost' }],
    [
      'an event that is no JSON',
      { method: 'tools/call', kind: 'text', text: 'data: {"jsonrpc": oops\n\n', type: 'text/event-stream' },
      { kind: 'connectionLost', reason: 'the answer is not JSON-RPC' },
    ],
    [
      'a stream without an answer, which would be resumed on the older revision',
      { method: 'tools/call', kind: 'text', text: 'id: 1\ndata: \n\n', type: 'text/event-stream' },
      { kind: 'connectionLost', reason: 'the stream ended without the answer' },
    ],
    [
      'the answer to another request',
      { method: 'tools/call', kind: 'text', text: '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}' },
      { kind: 'connectionLost', reason: 'HTTP 200 without an answer' },
    ],
  ])('classifies %s', async (_name, fault, expected) => {
    for (const stream of [false, true]) {
      await server.control({ op: 'reset' });
      await server.control({ op: 'set', options: { stream } });
      await server.fault(fault);
      const { outcome, late } = await send(server.session, submission('work', { outcome: 'hold' }));
      expect(outcome).toMatchObject(expected);
      expect(late).toEqual([]);
      const { counts } = await server.log();
      expect(counts['tools/call']).toBe(1);
      expect(counts).not.toHaveProperty('HTTP GET');
    }
    await server.control({ op: 'set', options: { stream: false } });
  });

  it('is not sent where nobody listens', async () => {
    const session = await connect({ kind: 'http', url: 'http://127.0.0.1:9/mcp' });
    expect((await send(session, submission('work', {}))).outcome).toMatchObject({ kind: 'notSent' });
    await session.close();
  });

  it('takes a late answer from an event stream, too', async () => {
    await server.control({ op: 'set', options: { stream: true } });
    await server.fault({ method: 'tools/call', kind: 'holdAnswer' });
    const trace = await send(server.session, submission('work', { outcome: 'hold' }), { timeoutMs: 200 });
    await server.control({ op: 'release' });
    await eventually(() => trace.late.length === 1);
    expect(trace.late[0]).toMatchObject({ kind: 'acknowledged' });
    await server.control({ op: 'set', options: { stream: false } });
  });

  it('B14: only close ends the stream of an unanswered call, and the server sees a cancel in it', async () => {
    await server.control({ op: 'reset' });
    await server.fault({ method: 'tools/call', kind: 'silence' });
    const session = await connect(server.endpoint);
    const { outcome } = await send(session, submission('work', { outcome: 'hold' }), { timeoutMs: 200 });
    expect(outcome).toMatchObject({ kind: 'connectionLost' });
    const task = await startTask(session, { outcome: 'hold' });
    expect(await session.status(task)).toMatchObject({ kind: 'status' });
    expect((await server.log()).disconnects).toEqual({});
    await session.close();
    await eventually(async () => (await server.log()).disconnects['tools/call'] === 1);
  });

  it('the work of a server that is told "gone" goes on, and the task can be found by another connection', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.session.close();
    const resume = { sessionId: null, protocolVersion: '2026-07-28', tool: { name: 'work', version: 'pinned' } };
    const other = await connect(server.endpoint, {}, resume);
    await server.control({ op: 'complete', taskId: task.taskId });
    const seen = await until(other, task, 'completed');
    // The descriptor that the call was pinned to is not the one that is published: nothing to check by (B11, B12).
    expect(seen).not.toHaveProperty('payload');
    expect(await other.result(task, 'completed')).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('descriptor changed'),
    });
    await other.close();
  });

  it('a read whose time is up is cut at once', async () => {
    await server.control({ op: 'reset' });
    const session = await connect(server.endpoint, { requestTimeoutMs: 200 });
    const task = await startTask(session, { outcome: 'hold' });
    await server.fault({ method: 'tasks/get', kind: 'silence' });
    const { value, ms } = await timed(session.status(task));
    expect(value).toMatchObject({ kind: 'unknown', reason: 'no answer within 200 ms' });
    expect(ms).toBeLessThan(2_000);
    await eventually(async () => (await server.log()).disconnects['tasks/get'] === 1);
    await session.close();
  });
});
