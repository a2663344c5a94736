import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aip151, type MethodDescriptor } from '../../../adapters/aip-151/index.ts';
import { EndpointUnavailable } from '../../../machines/index.ts';
import { type AipServer, startAipServer } from '../../kit/servers/aip-151.ts';
import { ARGS, connect, KEYED, send, submission } from './helpers.ts';

let server: AipServer;
beforeAll(async () => {
  server = await startAipServer();
});
beforeEach(() => server.reset());
afterAll(() => server.stop());

const with_ = (method: MethodDescriptor) => connect(server.address(), { methods: { tool: method } });

describe('what is declared (B1, B2)', () => {
  it('an adapter without methods says what it needs', () => {
    for (const options of [undefined, {}, { methods: null }]) {
      expect(() => aip151(options as never)).toThrow(/aip-151 needs methods/);
    }
  });

  it('B1: nothing is asked of the server; capabilities come from the declaration', async () => {
    const session = await connect(server.address());
    expect(await session.negotiate('report', ARGS)).toMatchObject({
      kind: 'supported',
      tool: { name: 'report', version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      capabilities: {
        cancelSupported: true,
        cancelEvidence: 'cooperative',
        lookup: 'none',
        deduplicates: false,
        input: 'none',
        inputRedelivery: false,
      },
      session: { sessionId: null, protocolVersion: 'google.longrunning.Operation' },
      keyRetentionMs: null,
    });
    expect(await session.negotiate('keyed', ARGS)).toMatchObject({
      capabilities: { lookup: 'repeat', deduplicates: true },
      keyRetentionMs: KEYED.retentionMs,
    });
    expect(server.requests).toEqual([]);
  });

  it('B1: a method without cancel says so, and none is ever sent', async () => {
    const session = await with_({ path: '/v1/things', cancel: false });
    expect(await session.negotiate('tool', {})).toMatchObject({ capabilities: { cancelSupported: false } });
    expect(await session.cancel({ taskId: 'operations/1', taskCreatedAt: null, tool: 'tool' })).toMatchObject({
      kind: 'unsupported',
    });
    expect(server.requests).toEqual([]);
  });

  it('B3: another descriptor is another version of the tool; the same one, written otherwise, is not', async () => {
    const versions = await Promise.all(
      [
        { path: '/v1/things' },
        { path: '/v1/things', httpMethod: 'POST', body: '*', cancel: true, operationsPath: '/v1' } as const,
        { path: '/v1/things', responseType: 'test.v1.Report' },
        { path: '/v2/things' },
      ].map(async (method: MethodDescriptor) => {
        const negotiated = await (await with_(method)).negotiate('tool', {});
        return negotiated.kind === 'supported' ? negotiated.tool.version : negotiated.reason;
      }),
    );
    expect(versions[1]).toBe(versions[0]);
    expect(new Set(versions).size).toBe(3);
  });

  const schema = { type: 'object', required: ['depth'], properties: { depth: { type: 'integer' } } };
  it.each([
    ['an unknown tool', 'nope', {}, { path: '/v1/things' }, 'no such method'],
    ['a name of every object', 'constructor', {}, { path: '/v1/things' }, 'no such method'],
    ['no object', 'tool', [1], { path: '/v1/things' }, 'not an object'],
    ['a variable without its argument', 'tool', {}, { path: '/v1/{parent=projects/*}/x' }, 'parent is missing'],
    [
      'a variable of another form',
      'tool',
      { parent: 'a/b' },
      { path: '/v1/{parent=projects/*}/x' },
      'the form projects/*',
    ],
    ['a variable that walks up', 'tool', { name: 'a/../b' }, { path: '/v1/{name=a/**}' }, 'the form a/**'],
    ['two segments for one', 'tool', { name: 'a/b' }, { path: '/v1/{name}' }, 'the form *'],
    [
      'its own request id',
      'tool',
      { requestId: 'x' },
      { path: '/v1/x', requestId: KEYED },
      'made from the submission key',
    ],
    ['no body', 'tool', {}, { path: '/v1/x', body: 'thing' }, 'it is the body'],
    ['a list of messages as query', 'tool', { list: [{ a: 1 }] }, { path: '/v1/x', body: 'none' }, 'cannot be a part'],
    ['arguments that do not fit', 'tool', { depth: 'x' }, { path: '/v1/x', argumentsSchema: schema }, 'at /depth'],
    ['arguments that are missing', 'tool', {}, { path: '/v1/x', argumentsSchema: schema }, '(depth)'],
  ] as const)('B1: refused with a reason and what to do: %s', async (_, tool, args, method, reason) => {
    const session = await with_(method);
    expect(await session.negotiate(tool, args)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(reason),
      next: expect.stringMatching(/declare|correct/),
    });
  });

  it.each([
    ['an unknown field', { path: '/v1/x', idempotent: true }, 'idempotent'],
    ['a path without a slash', { path: 'v1' }, 'does not start with "/"'],
    ['a broken variable', { path: '/v1/{a.b=x/*}' }, '{a.b=x/*} is not a variable'],
    ['"**" inside', { path: '/v1/{a=**/x}' }, '"**" before its end'],
    ['a query in the path', { path: '/v1/x?y=1' }, 'plain piece of a path'],
    ['the same variable twice', { path: '/v1/{a}/{a}' }, 'twice'],
    ['a body in the path', { path: '/v1/{a}', body: 'a' }, 'body: a is part of the path'],
    ['a request id in the path', { path: '/v1/{requestId}', requestId: KEYED }, 'requestId: requestId is part'],
    ['a request id without retention', { path: '/v1/x', requestId: { field: 'id' } }, 'requestId.retentionMs'],
    ['another way to start', { path: '/v1/x', httpMethod: 'GET' }, 'httpMethod'],
    ['a schema that is none', { path: '/v1/x', argumentsSchema: { type: 'nonsense' } }, 'argumentsSchema'],
  ])('a descriptor that is wrong says so at once: %s', (_, method, problem) => {
    const make = () => aip151({ methods: { tool: method as MethodDescriptor } });
    expect(make).toThrow('"tool" is not a method of aip-151');
    expect(make).toThrow(problem);
  });

  it('B2: over stdio, without a URL or with a broken header there is no such endpoint', async () => {
    await expect(connect({ kind: 'stdio', command: 'x', args: [] })).rejects.toBeInstanceOf(EndpointUnavailable);
    await expect(connect({ kind: 'http', url: 'ftp://localhost/' })).rejects.toThrow('not an http(s) URL');
    const broken = connect({ kind: 'http', url: 'http://localhost/', headers: { authorization: 'secret\n' } });
    await expect(broken).rejects.toThrow('not a valid HTTP header');
    await expect(broken).rejects.not.toThrow('secret');
  });

  it('openInput is not a thing here', async () => {
    const session = await connect(server.address());
    const events = { request: () => undefined, closed: () => undefined };
    expect(() => session.openInput({ taskId: 'operations/1', taskCreatedAt: null, tool: 'report' }, events)).toThrow(
      'no input',
    );
  });
});

describe('the request that starts an operation', () => {
  it('fills path, query and body by the rules of google.api.http', async () => {
    const args = { parent: 'projects/a b', thing: { size: 1 }, mask: ['x', 'y'], deep: { flag: true }, none: null };
    const session = await with_({
      httpMethod: 'PATCH',
      path: '/v1/{parent=projects/*}/things:change',
      body: 'thing',
      requestId: KEYED,
    });
    expect((await send(session, submission('tool', args))).outcome.kind).toBe('acknowledged');
    const [seen] = server.requests;
    expect(seen).toMatchObject({ method: 'PATCH', body: { size: 1 } });
    const [path, query] = (seen?.url ?? '').split('?');
    expect(path).toMatch(/\/v1\/projects\/a%20b\/things:change$/);
    expect([...new URLSearchParams(query)]).toEqual([
      ['mask', 'x'],
      ['mask', 'y'],
      ['deep.flag', 'true'],
      ['requestId', expect.any(String)],
    ]);
  });

  it('carries the credentials of the endpoint, and keeps the query of its URL', async () => {
    const { url } = server.address();
    const session = await connect({ kind: 'http', url: `${url}/?key=k`, headers: { Authorization: 'Bearer t' } });
    await send(session);
    expect(server.requests[0]).toMatchObject({
      url: expect.stringMatching(/\/v1\/projects\/tides\/reports:generate\?key=k$/),
      headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
      body: { depth: 3 },
    });
  });

  it('B4 AIP-155: the request id is a UUID of version 4 in form, the same for every attempt of one key', async () => {
    const session = await connect(server.address());
    const first = submission('keyed');
    await send(session, first);
    await send(session, { ...first, attempt: 2 });
    await send(session, submission('keyed'));
    const ids = server.requests.map(({ body }) => (body as { requestId: string }).requestId);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });
});
