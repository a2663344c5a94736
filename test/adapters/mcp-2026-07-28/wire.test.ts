import { describe, expect, it } from 'vitest';
import { EventLines } from '../../../adapters/mcp/rpc/event-lines.ts';
import { mirroringOf, parameterHeaders } from '../../../adapters/mcp-2026-07-28/headers.ts';
import type { Json } from '../../../machines/digest.ts';
import { connect, eventually, send, stage, startTask, submission } from './helpers.ts';

describe('the wire over HTTP', () => {
  const server = stage('http', { mirror: true });
  const seen = async (method: string) => (await server.log()).requests.filter((one) => one.method === method).at(-1);

  it('mirrors version, method and name in headers, and opens no session and no stream of its own', async () => {
    const session = await connect({ ...server.endpoint, headers: { authorization: 'Bearer x' } } as never);
    await session.negotiate('work', {});
    const task = await startTask(session, { outcome: 'hold' });
    await session.status(task);
    await session.answerInput?.(task, {});
    await session.cancel(task);
    for (const [method, name] of [
      ['server/discover', undefined],
      ['tools/list', undefined],
      ['tools/call', 'work'],
      ['tasks/get', task.taskId],
      ['tasks/update', task.taskId],
      ['tasks/cancel', task.taskId],
    ] as const) {
      const request = await seen(method);
      expect(request?.headers, method).toMatchObject({
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        authorization: 'Bearer x',
      });
      expect(request?.headers['mcp-name'], method).toBe(name);
      expect(request?.headers, method).not.toHaveProperty('mcp-session-id');
      expect(request?.meta, method).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
      });
    }
    const methods = Object.keys((await server.log()).counts);
    expect(methods.filter((method) => /initialize|notifications|ping|HTTP/.test(method))).toEqual([]);
    await session.close();
  });

  it('encodes a name that a header cannot carry', async () => {
    await startTask(server.session, { outcome: 'hold' }, 'größe');
    expect((await seen('tools/call'))?.headers['mcp-name']).toBe('=?base64?Z3LDtsOfZQ==?=');
  });

  it('mirrors the arguments that a tool wants mirrored', async () => {
    const what = { ...submission('work', null), arguments: { label: 'zwölf ', script: { outcome: 'hold' } } as Json };
    expect((await send(server.session, what)).outcome).toMatchObject({ kind: 'acknowledged' });
    expect((await seen('tools/call'))?.headers['mcp-param-label']).toBe('=?base64?enfDtmxmIA==?=');
    await startTask(server.session, { outcome: 'hold' });
    expect((await seen('tools/call'))?.headers).not.toHaveProperty('mcp-param-label');
  });

  it('the official server refuses what does not match, and that is a rejection', async () => {
    const wrong = await fetch((server.endpoint as { url: string }).url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'work' } }),
    });
    expect(wrong.status).toBe(400);
  });
});

describe('the wire over stdio', () => {
  const server = stage('stdio');

  it('says the same without headers, and nothing else', async () => {
    const task = await startTask(server.session, { outcome: 'hold' });
    await server.session.status(task);
    const { requests, counts } = await server.log();
    for (const { meta } of requests) {
      expect(meta).toMatchObject({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' });
    }
    expect(Object.keys(counts).filter((method) => /initialize|notifications|ping/.test(method))).toEqual([]);
  });

  it('tells once that the server is gone', async () => {
    const gone: string[] = [];
    server.session.onGone((reason) => gone.push(reason));
    const task = await startTask(server.session, { outcome: 'hold' });
    const waiting = server.session.status(task);
    await server.control({ op: 'exit' });
    await waiting;
    await eventually(() => gone.length === 1);
    expect(await server.session.status(task)).toMatchObject({ kind: 'unknown' });
  });
});

describe('parts', () => {
  const read = (pieces: readonly string[]): string[] => {
    const events: string[] = [];
    const lines = new EventLines((data) => events.push(data));
    for (const piece of pieces) lines.push(piece);
    return events;
  };

  it('an event stream reads the same however it is cut', () => {
    const text =
      ': hello\r\nevent: message\r\ndata: {"a":\r\ndata:1}\r\n\r\nid: 7\ndata: second\n\nevent: other\ndata: no\n\n\rdata\r\r';
    const whole = ['{"a":\n1}', 'second', ''];
    expect(read([text])).toEqual(whole);
    expect(read([...text])).toEqual(whole);
    for (let cut = 1; cut < text.length; cut++) expect(read([text.slice(0, cut), text.slice(cut)])).toEqual(whole);
    expect(read(['data: not ended\n'])).toEqual([]);
  });

  it.each<[string, object]>([
    ['at the top', { type: 'string', 'x-mcp-header': 'A' }],
    ['in items', { properties: { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } } }],
    ['in a choice', { properties: { a: { anyOf: [{ type: 'string', 'x-mcp-header': 'A' }] } } }],
    ['in a definition', { $defs: { a: { properties: { b: { type: 'string', 'x-mcp-header': 'A' } } } } }],
    ['of a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['without a name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['with a line end', { properties: { a: { type: 'string', 'x-mcp-header': 'A\r\nB' } } }],
    [
      'twice',
      { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } } },
    ],
  ])('a mark %s makes a tool unusable', (_name, schema) => {
    expect(mirroringOf(schema).kind).toBe('invalid');
  });

  it('marked arguments become headers, at any depth, in their plain form', () => {
    const schema = {
      properties: {
        a: { type: 'string', 'x-mcp-header': 'A', default: { 'x-mcp-header': 'a value, no mark' } },
        b: { properties: { c: { type: 'integer', 'x-mcp-header': 'C' }, d: { type: 'boolean', 'x-mcp-header': 'D' } } },
      },
    };
    const mirroring = mirroringOf(schema);
    if (mirroring.kind !== 'mirrored') throw new Error(mirroring.problem);
    const headers = (args: unknown) => parameterHeaders(mirroring.parameters, args);
    expect(headers({ a: 'x', b: { c: -7, d: false } })).toEqual({
      'Mcp-Param-A': 'x',
      'Mcp-Param-C': '-7',
      'Mcp-Param-D': 'false',
    });
    expect(headers({ a: '=?base64?x?=', b: null })).toEqual({ 'Mcp-Param-A': '=?base64?PT9iYXNlNjQ/eD89?=' });
    expect(headers({ a: null, b: { c: 2 ** 60 } })).toEqual({});
    expect(headers({ a: 'a\nb' })).toEqual({ 'Mcp-Param-A': '=?base64?YQpi?=' });
  });
});
