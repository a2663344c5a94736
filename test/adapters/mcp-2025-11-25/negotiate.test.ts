import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { EndpointUnavailable, type ProtocolSession } from '../../../machines/operation-protocol.ts';
import { freePort } from '../../kit/free-port.ts';
import { type ScriptedServer, startScriptedServer, stdioCommand } from '../../kit/servers/mcp-2025-11-25.ts';
import { connect } from './helpers.ts';

describe('negotiation (B1)', () => {
  let server: ScriptedServer;
  let session: ProtocolSession | undefined;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterEach(async () => {
    await session?.close();
    session = undefined;
    await server.control({ op: 'clearFaults' });
    await server.control({
      op: 'set',
      options: {
        tasks: true,
        cancel: true,
        lookup: false,
        dedup: false,
        retentionMs: null,
        protocolVersion: null,
        describe: '',
        stateless: false,
      },
    });
  });
  afterAll(() => server.stop());

  it('has the id that stands in the record (B3)', () => {
    expect(mcp20251125().id).toBe('mcp-2025-11-25');
  });

  it('finds a task tool on a later page and reports what the server can do', async () => {
    session = await connect(server.endpoint);
    expect(await session.negotiate('typed', {})).toEqual({
      kind: 'supported',
      tool: { name: 'typed', version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      capabilities: {
        cancelSupported: true,
        cancelEvidence: 'terminal',
        lookup: 'none',
        deduplicates: false,
        input: 'channel',
        inputRedelivery: false,
      },
      session: { sessionId: expect.any(String), protocolVersion: '2025-11-25' },
      keyRetentionMs: null,
    });
    expect((await server.log()).counts['tools/call']).toBeUndefined();
  });

  it('reads the declaration of submission keys and of a missing cancel', async () => {
    await server.control({ op: 'set', options: { lookup: true, dedup: true, retentionMs: 60_000, cancel: false } });
    session = await connect(server.endpoint);
    const outcome = await session.negotiate('work', {});
    expect(outcome).toMatchObject({
      kind: 'supported',
      keyRetentionMs: 60_000,
      capabilities: { cancelSupported: false, lookup: 'closing', deduplicates: true },
    });
  });

  it('gives another tool version for another descriptor', async () => {
    session = await connect(server.endpoint);
    const first = await session.negotiate('work', {});
    await session.close();
    await server.control({ op: 'set', options: { describe: ' Changed.' } });
    session = await connect(server.endpoint);
    const second = await session.negotiate('work', {});
    if (first.kind !== 'supported' || second.kind !== 'supported') throw new Error('refused');
    expect(second.tool.version).not.toBe(first.tool.version);
  });

  it.each([
    ['a server without tasks', { tasks: false }, 'work', {}, /does not declare tasks/],
    ['a server of another revision', { protocolVersion: '2025-06-18' }, 'work', {}, /speaks MCP 2025-06-18/],
    ['a tool that forbids tasks', {}, 'sync', {}, /does not support tasks/],
    ['a tool that is not there', {}, 'nowhere', {}, /no such tool/],
    ['arguments of a wrong type', {}, 'work', { label: 3 }, /at \/label: must be string/],
    ['arguments of a wrong format', {}, 'work', { day: 'tomorrow' }, /at \/day: must match format "date"/],
    ['an argument that is unknown', {}, 'work', { extra: 1 }, /extra/],
    ['arguments that are no object', {}, 'work', [], /must be object/],
  ])('refuses %s, with a reason and a next step', async (_name, options, tool, args, reason) => {
    await server.control({ op: 'set', options });
    session = await connect(server.endpoint);
    const outcome = await session.negotiate(tool, args);
    expect(outcome).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(reason),
      next: expect.stringMatching(/./),
    });
    expect((await server.log()).executions).toBe(0);
  });

  it('bounds a list of tools that never ends', async () => {
    session = await connect(server.endpoint, { maxToolPages: 3 });
    for (const nextCursor of ['a', 'b', 'c', 'd', 'e'])
      await server.control({ op: 'fault', method: 'tools/list', kind: 'answer', result: { tools: [], nextCursor } });
    const before = (await server.log()).counts['tools/list'] ?? 0;
    expect(await session.negotiate('work', {})).toMatchObject({ kind: 'refused' });
    expect((await server.log()).counts['tools/list']).toBe(before + 3);
  });

  it('rejects with EndpointUnavailable when the list cannot be read: nothing is known, nothing was sent', async () => {
    session = await connect(server.endpoint);
    await server.control({ op: 'fault', method: 'tools/list', kind: 'http', status: 503 });
    await expect(session.negotiate('work', {})).rejects.toThrow(EndpointUnavailable);
    expect(await session.negotiate('work', {})).toMatchObject({ kind: 'supported' });
  });

  it('works over stdio and without session ids', async () => {
    session = await connect(stdioCommand());
    expect(await session.negotiate('work', {})).toMatchObject({ kind: 'supported', session: { sessionId: null } });
    await session.close();
    await server.control({ op: 'set', options: { stateless: true } });
    session = await connect(server.endpoint);
    expect(session).toBeDefined();
  });

  it('rejects endpoints that cannot be reached, without their credentials', async () => {
    const port = await freePort();
    const endpoint = {
      kind: 'http' as const,
      url: `http://me:secret@127.0.0.1:${port}/mcp?key=secret`,
      headers: { authorization: 'Bearer secret' },
    };
    const refused: unknown = await connect(endpoint).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EndpointUnavailable);
    expect(String(refused)).toMatch(/ECONNREFUSED/);
    expect(String(refused)).not.toMatch(/secret/);
    await expect(connect({ kind: 'stdio', command: '/does/not/exist', args: [] })).rejects.toThrow(EndpointUnavailable);
    await expect(connect({ kind: 'stdio', command: process.execPath, args: ['-e', '0'] })).rejects.toThrow(
      EndpointUnavailable,
    );
    await expect(connect({ kind: 'http', url: 'nonsense' })).rejects.toThrow(EndpointUnavailable);
  });

  it('says that refused credentials are no matter of trying again', async () => {
    await server.control({ op: 'fault', method: 'initialize', kind: 'http', status: 401 });
    await expect(connect(server.endpoint)).rejects.toMatchObject({ name: 'EndpointUnavailable', sessionLost: false });
  });
});
