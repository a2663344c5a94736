/** What the fuzzing found, each with its right value. */

import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { initializedKeySupport } from '../../adapters/mcp/key-support.ts';
import { settingsOf } from '../../adapters/mcp/options.ts';
import { compileSchema } from '../../adapters/mcp/schema.ts';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { taskViewOf } from '../../adapters/mcp-2025-11-25/task-view.ts';
import { parseReply, schemaProblems } from '../../machines/approval-gate/reply-schema.ts';
import { jsonProblem, MAX_DEPTH } from '../../machines/digest.ts';
import { Executor, LedgerIncompatible } from '../../machines/index.ts';
import { acceptFieldsOf } from '../../machines/tool-operation/guards.ts';
import { readSnapshot, statePath, writeSnapshot } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';
import { milliseconds } from '../../persistence/replies.ts';
import { wholeMs } from '../../persistence/steps.ts';
import { findOperation } from '../../visualizer/cli/find.ts';
import { readJson } from '../../visualizer/cli/options.ts';
import { askField } from '../../visualizer/cli/prompts/fields.ts';
import type { Workplace } from '../../visualizer/cli/workplace.ts';
import { contextOf, into, play } from '../machines/scenario.ts';
import { INITIALIZED, TASK, TOOL } from './recorded.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

type Answer = (method: string, id: number) => { readonly body: string; readonly headers?: http.OutgoingHttpHeaders };

/** An HTTP server that answers with texts of the test's own. `get` answers a request for a stream; `holdsAnswers`: ours get none. */
async function server(
  answer: Answer,
  more: { readonly get?: (response: http.ServerResponse) => void; readonly holdsAnswers?: boolean } = {},
) {
  const { get, holdsAnswers } = more;
  const posted: Record<string, unknown>[] = [];
  const listening = http.createServer((request, response) => {
    if (request.method !== 'POST') return get ? get(response) : void response.writeHead(405).end();
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const message = JSON.parse(text) as Record<string, unknown>;
      posted.push(message);
      if (message.method === undefined && holdsAnswers) return;
      if (message.method === undefined || message.id === undefined) return void response.writeHead(202).end();
      const { body, headers } = answer(String(message.method), Number(message.id));
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    listening.closeAllConnections();
    listening.close();
  });
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`, posted };
}

async function sessionAt(url: string, resumeGraceMs = 500) {
  const protocol = mcp20251125({ ...settingsOf({}), requestTimeoutMs: 3_000, resultTimeoutMs: 3_000, resumeGraceMs });
  const session = await protocol.connect({ kind: 'http', url });
  cleanUp.push(() => session.close());
  return session;
}
const result = (id: number, text: string) => `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
const TASK_REF = { taskId: 'task-1', taskCreatedAt: null, tool: 'report' };
const deepText = `${'['.repeat(12_000)}${']'.repeat(12_000)}`;

describe('values that nothing downstream can hold', () => {
  it('are found without recursion', () => {
    expect(jsonProblem(JSON.parse(deepText))).toMatch(/nested deeper/);
    expect(jsonProblem(JSON.parse('{"a":[1e999]}'))).toMatch(/out of range/);
    const deepest = JSON.parse(`${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}`);
    expect(jsonProblem([{ a: [1, 'x', null, { b: true }] }])).toBeNull();
    expect(jsonProblem(deepest)).toBeNull();
    expect(() => JSON.stringify(deepest)).not.toThrow();
  });

  it.each(['1e999', deepText])(
    'in one tool of a list: the reading of it fails as a fact, never as an error (%#)',
    async (value) => {
      const { url } = await server((method, id) =>
        method === 'initialize'
          ? { body: result(id, JSON.stringify(INITIALIZED)) }
          : { body: result(id, `{"tools":[${JSON.stringify(TOOL)}],"_meta":{"x":${value}}}`) },
      );
      const session = await sessionAt(url);
      await expect(session.negotiate('report', { month: 'May' })).rejects.toMatchObject({
        name: 'EndpointUnavailable',
      });
      expect(await session.result(TASK_REF, 'completed')).toMatchObject({ kind: 'invalid' });
    },
  );

  it('in the error of a failed task', async () => {
    const { url } = await server((method, id) => {
      if (method === 'initialize') return { body: result(id, JSON.stringify(INITIALIZED)) };
      if (method === 'tasks/get') return { body: result(id, JSON.stringify({ ...TASK, status: 'failed' })) };
      return { body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"no","data":1e999}}` };
    });
    const session = await sessionAt(url);
    expect(await session.result(TASK_REF, 'failed')).toMatchObject({ kind: 'invalid' });
  });

  it('on a command line: a usage error', () => {
    expect(() => readJson(deepText, '--args')).toThrow(/nested deeper/);
    expect(() => readJson('{"a":1e999}', '--args')).toThrow(/out of range/);
  });

  it('in an answer of a human', () => {
    const content = { a: JSON.parse(deepText) };
    expect(schemaProblems({ type: 'object' }, { action: 'accept', content })).toEqual([
      expect.stringMatching(/nested deeper/),
    ]);
  });
});

describe('schemas that ask for more than linear time', () => {
  const doubling = {
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries([
      ...Array.from({ length: 60 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` };
        return [`d${i}`, { allOf: [next, next] }];
      }),
      ['d60', { type: 'object' }],
    ]),
  };
  const many = Array.from({ length: 60_000 }, (_, i) => ({ i }));

  it.each([
    ['two to the number of its definitions', doubling, {}],
    ['each item with each', { uniqueItems: true }, many],
    ['endless by itself', { $ref: '#' }, {}],
  ])('%s', (_, schema, value) => {
    const compiled = compileSchema(schema);
    if (compiled.kind === 'unusable') throw new Error(compiled.problem);
    const began = performance.now();
    expect(compiled.check(value)).toMatch(/cannot be checked/);
    expect(performance.now() - began).toBeLessThan(10_000);
    // The steps are those of one check: the next has as many.
    expect(compileSchema({ type: 'array' })).toMatchObject({ kind: 'check' });
  });

  it('an ordinary large value is checked to its end, as often as it comes', () => {
    const compiled = compileSchema({ type: 'array', items: { type: 'object', required: ['i'] } });
    if (compiled.kind === 'unusable') throw new Error(compiled.problem);
    for (let i = 0; i < 200; i++) expect(compiled.check(many)).toBeNull();
    expect(compiled.check([...many, {}])).toMatch(/at \/60000/);
  });

  it('names that look like code are names', () => {
    const name = 'for(x){function validate1(data, {}={}){"';
    const compiled = compileSchema({ properties: { [name]: { enum: [1] } } });
    if (compiled.kind === 'unusable') throw new Error(compiled.problem);
    expect(compiled.check({ [name]: 1 })).toBeNull();
    expect(compiled.check({ [name]: 2 })).not.toBeNull();
  });
});

describe('a length that cannot be compared', () => {
  const odd = { length: { valueOf: 1, toString: 1 } };

  it('is no task, and no answer to a look-up', async () => {
    expect(taskViewOf({ ...TASK, taskId: odd })).toBeNull();
    const { url } = await server((method, id) =>
      method === 'initialize'
        ? { body: result(id, JSON.stringify(INITIALIZED)) }
        : { body: result(id, JSON.stringify({ expiredWithReceipt: { ...TASK, taskId: odd, status: 'completed' } })) },
    );
    const session = await sessionAt(url);
    const submission = { tool: 't', submissionKey: 'k', attempt: 1, requestDigest: 'd', principal: 'p' };
    expect(await session.lookup(submission)).toMatchObject({ kind: 'unknown' });
  });

  it('is no record', () => {
    const stored = JSON.parse(writeSnapshot(play({ title: '', steps: into.working }).snapshot));
    const damaged = JSON.stringify({ ...stored, context: { ...stored.context, principal: odd } });
    expect(() => readSnapshot('op', damaged)).toThrow(LedgerIncompatible);
  });
});

describe('what a record cannot hold', () => {
  it.each(['1e999', '-1', '"x"', 'null'])('a key retention of %s is none', (text) => {
    const declared = { lookup: true, retentionMs: JSON.parse(text) as unknown };
    expect(initializedKeySupport({ experimental: { 'dev.toolop/submission-key': declared } }).retentionMs).toBeNull();
  });

  it('a session id that is too long is refused before anything is sent', async () => {
    const { url, posted } = await server((method, id) =>
      method === 'initialize'
        ? { body: result(id, JSON.stringify(INITIALIZED)), headers: { 'mcp-session-id': 's'.repeat(600) } }
        : { body: result(id, JSON.stringify({ tools: [TOOL] })) },
    );
    const session = await sessionAt(url);
    expect(await session.negotiate('report', { month: 'May' })).toMatchObject({ kind: 'refused' });
    expect(posted.some(({ method }) => method === 'tools/call')).toBe(false);
  });

  it('a time is written in digits, and more of them than a number holds are none', () => {
    expect(wholeMs(1e300)).toBe(String(Number.MAX_SAFE_INTEGER));
    expect(milliseconds.safeParse('9'.repeat(400)).success).toBe(false);
    expect(milliseconds.parse(wholeMs(1e300))).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('a command never makes a record that nobody can open again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolop-findings-'));
    cleanUp.push(() => rmSync(directory, { recursive: true, force: true }));
    const ledger = await openLedger(join(directory, 'ledger.db'), { namespace: 'test' });
    cleanUp.push(() => ledger.close());
    const executor = new Executor({ ledger, namespace: 'test', protocols: [] });
    const put = async (callNodeId: string, steps: (typeof into)[keyof typeof into]) => {
      const operationId = executor.operationIdOf({ callNodeId });
      const { snapshot } = play({ title: '', given: contextOf({ operationId, callNodeId }), steps });
      await ledger.create(
        {
          operationId,
          commandId: callNodeId,
          snapshot: writeSnapshot(snapshot),
          state: statePath(snapshot),
          fields: acceptFieldsOf(snapshot.context),
          scope: 'endpoint:x',
          dueAt: null,
          payloads: [],
          history: null,
        },
        null,
      );
      return operationId;
    };
    const long = 'x'.repeat(5_000);
    const cancelled = await put('cancel', into.working);
    expect(await executor.cancel(cancelled, long, long)).toMatchObject({ kind: 'taken' });
    expect((await executor.load(cancelled))?.snapshot.context.cancel?.requestedBy).toHaveLength(512);
    const parked = await put('attach', into.noLookup);
    for (const taskId of ['', long])
      expect(await executor.reconcile(parked, 'me', { verb: 'attach', taskId })).toMatchObject({ kind: 'refused' });
    expect(await executor.reconcile(parked, '', { verb: 'give-up', note: long })).toMatchObject({ kind: 'taken' });
    expect((await executor.load(parked))?.snapshot.context.givenUp).toMatchObject({ by: 'unknown' });

    // The last fence, for whatever passes the others.
    const working = await put('fence', into.working);
    const raw = { type: 'cancel.request', at: 1, random: 0, by: long, reason: null } as const;
    await expect(executor.env.store.apply(working, raw)).rejects.toThrow(
      /cannot be opened again.*nothing was written/s,
    );
    expect((await executor.load(working))?.snapshot.context.cancel).toBeNull();

    // One damaged record does not hide the others from whoever looks one up by name.
    await ledger.create(
      {
        operationId: executor.operationIdOf({ callNodeId: 'damaged' }),
        commandId: 'damaged',
        snapshot: 'not JSON',
        state: 'WORKING.polling',
        fields: acceptFieldsOf(contextOf()),
        scope: 'endpoint:x',
        dueAt: null,
        payloads: [],
        history: null,
      },
      null,
    );
    const place = { executor, ledger, options: { namespace: 'test' } } as unknown as Workplace;
    const digits = working.slice(working.indexOf('.') + 1);
    expect(await findOperation(place, digits.slice(0, 12))).toBe(working);
  });
});

describe('names and words of a server', () => {
  it('an answer with a key called __proto__ leaves as it was judged', () => {
    const text = '{"action":"accept","content":{"__proto__":null,"a":1}}';
    expect(JSON.stringify(parseReply(JSON.parse(text)))).toBe(text);
  });

  it.each([
    { type: 'string', enum: ['a'], enumNames: [{ toString: 1 }] },
    { oneOf: [{ const: { toString: 1 } }] },
    { type: 'string', default: { toString: 1, valueOf: 1 } },
  ])('a form whose words are objects is still shown (%#)', async (schema) => {
    const context = { input: process.stdin, output: process.stderr, signal: AbortSignal.abort() };
    const asked = askField({ name: 'a', schema, required: true }, context);
    await expect(asked).rejects.toMatchObject({ name: 'AbortPromptError' });
  });
});

describe('a server that asks faster than it reads', () => {
  const event = (message: object) => `data: ${JSON.stringify(message)}\n\n`;
  const flood = (id: number, message: (i: number) => object) => ({
    body: `${Array.from({ length: 2_000 }, (_, i) => event(message(i))).join('')}${event({ jsonrpc: '2.0', id, result: TASK })}`,
    headers: { 'content-type': 'text/event-stream' },
  });

  it('is answered a bounded number of times at once, and its answer is taken', async () => {
    const { url, posted } = await server(
      (method, id) =>
        method === 'initialize'
          ? { body: result(id, JSON.stringify(INITIALIZED)) }
          : flood(id, (i) => ({ jsonrpc: '2.0', id: i, method: 'ping' })),
      { holdsAnswers: true },
    );
    const session = await sessionAt(url);
    expect(await session.status(TASK_REF)).toMatchObject({ kind: 'status' });
    const answers = () => posted.filter(({ method }) => method === undefined).length;
    await expect.poll(answers, { timeout: 5_000 }).toBe(64);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(answers()).toBe(64);
  });

  it('a question that is too large for a human is refused', async () => {
    const params = {
      message: 'x'.repeat(1_100_000),
      requestedSchema: { type: 'object', properties: {} },
      _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } },
    };
    const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params };
    const { url, posted } = await server((method, id) =>
      method === 'initialize'
        ? { body: result(id, JSON.stringify(INITIALIZED)) }
        : {
            body: event(question) + event({ jsonrpc: '2.0', id, result: TASK }),
            headers: { 'content-type': 'text/event-stream' },
          },
    );
    const session = await sessionAt(url);
    await session.status(TASK_REF);
    await expect
      .poll(() => posted.find(({ id }) => id === 'q'), { timeout: 5_000 })
      .toMatchObject({ error: { code: -32602, message: 'The question is too large' } });
  });

  it('a stream that ends at once, with `retry: 0`, is opened again a few times a second', async () => {
    let opened = 0;
    const end = (response: http.ServerResponse) => {
      opened++;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 0\ndata:\n\n');
    };
    const { url } = await server(
      (method, id) => {
        if (method === 'initialize') return { body: result(id, JSON.stringify(INITIALIZED)) };
        return { body: 'id: 1\nretry: 0\ndata:\n\n', headers: { 'content-type': 'text/event-stream' } };
      },
      { get: end },
    );
    const session = await sessionAt(url, 2_000);
    const before = opened;
    session.openInput(TASK_REF, { request: () => undefined, closed: () => undefined });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    // The standing stream and the held one: each at most every 250 ms.
    expect(opened - before).toBeGreaterThan(1);
    expect(opened - before).toBeLessThanOrEqual(2 * (1_500 / 250 + 2));
  });
});
