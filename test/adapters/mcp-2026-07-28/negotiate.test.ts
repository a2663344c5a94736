import { describe, expect, it } from 'vitest';
import { EndpointUnavailable } from '../../../machines/operation-protocol.ts';
import { startScriptedServer, stdioCommand } from '../../kit/servers/mcp-2025-11-25.ts';
import { stdioCommand2026 } from '../../kit/servers/mcp-2026-07-28.ts';
import { connect, stage, TRANSPORTS } from './helpers.ts';

describe.each(TRANSPORTS)('negotiation over %s (B1)', (transport) => {
  const server = stage(transport, { lookup: true, retentionMs: 60_000 });

  it('reads server/discover and the descriptor, and tries nothing', async () => {
    await server.control({ op: 'reset' });
    const found = await server.session.negotiate('work', { script: {} });
    expect(found).toEqual({
      kind: 'supported',
      tool: { name: 'work', version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      capabilities: {
        cancelSupported: true,
        cancelEvidence: 'cooperative',
        lookup: 'closing',
        deduplicates: false,
        input: 'status',
        inputRedelivery: true,
      },
      session: { sessionId: null, protocolVersion: '2026-07-28' },
      keyRetentionMs: 60_000,
    });
    const { counts } = await server.log();
    expect(Object.keys(counts).sort()).toEqual(['server/discover', 'tools/list']);
  });

  it('asks the server anew each time, and pins a new descriptor', async () => {
    const before = await server.session.negotiate('work', {});
    await server.control({ op: 'set', options: { describe: ' Newer.' } });
    const after = await server.session.negotiate('work', {});
    await server.control({ op: 'set', options: { describe: '' } });
    if (before.kind !== 'supported' || after.kind !== 'supported') throw new Error('refused');
    expect(after.tool.version).not.toBe(before.tool.version);
  });

  it.each([
    ['another revision', { supportedVersions: ['2027-01-01'], capabilities: {} }, /2027-01-01, this adapter only/],
    ['no extension', { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }, /does not declare/],
    [
      'an extension that is no object',
      { supportedVersions: ['2026-07-28'], capabilities: { extensions: { 'io.modelcontextprotocol/tasks': true } } },
      /does not declare/,
    ],
    ['another shape', { supportedVersions: '2026-07-28', capabilities: {} }, /cannot be read/],
    ['no capabilities', { supportedVersions: ['2026-07-28'] }, /cannot be read/],
  ])('refuses %s, and says what to do', async (_name, result, reason) => {
    await server.fault({ method: 'server/discover', kind: 'answer', result });
    const refused = await server.session.negotiate('work', {});
    expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) });
    expect(refused.kind === 'refused' && refused.next.length).toBeGreaterThan(10);
  });

  it.each([
    [-32601, 404],
    [-32022, 400],
  ])('refuses a server that answers server/discover with %i', async (code, status) => {
    await server.fault({ method: 'server/discover', kind: 'rpc', code, status });
    const refused = await server.session.negotiate('work', {});
    expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringContaining(String(code)) });
  });

  it('cannot tell from an internal error: nothing was read', async () => {
    await server.fault({ method: 'server/discover', kind: 'rpc', code: -32603 });
    await expect(server.session.negotiate('work', {})).rejects.toThrow(EndpointUnavailable);
    await server.fault({ method: 'tools/list', kind: 'rpc', code: -32603 });
    await expect(server.session.negotiate('work', {})).rejects.toThrow(/tools\/list/);
  });

  it('refuses a tool that is not there, and arguments that do not fit', async () => {
    expect(await server.session.negotiate('nothing', {})).toMatchObject({ kind: 'refused' });
    expect(await server.session.negotiate('work', { script: 7 })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('input schema'),
    });
  });

  it('takes a tool with a wrong x-mcp-header as not callable over HTTP, and only there', async () => {
    const kind = (await server.session.negotiate('badly-marked', {})).kind;
    expect(kind).toBe(transport === 'http' ? 'refused' : 'supported');
  });
});

describe('servers of another revision, and none (B1, B2)', () => {
  it('refuses a server of 2025-11-25 over HTTP', async () => {
    const old = await startScriptedServer();
    const session = await connect(old.endpoint);
    expect(await session.negotiate('work', {})).toMatchObject({ kind: 'refused' });
    expect((await old.log()).counts).not.toHaveProperty('tools/call');
    await session.close();
    await old.stop();
    await expect((await connect(old.endpoint)).negotiate('work', {})).rejects.toThrow(EndpointUnavailable);
  });

  it('refuses a server of 2025-11-25 over stdio', async () => {
    const session = await connect(stdioCommand());
    expect(await session.negotiate('work', {})).toMatchObject({ kind: 'refused' });
    await session.close();
  });

  it('says how a process ended that is none', async () => {
    await expect(connect({ kind: 'stdio', command: '/nowhere/at-all', args: [] })).rejects.toThrow(/no such command/);
    const session = await connect({ kind: 'stdio', command: process.execPath, args: ['-e', 'process.exit(3)'] });
    await expect(session.negotiate('work', {})).rejects.toThrow(/ended with exit code 3 before it was ready/);
    await session.close();
  });

  it('declares what a server says of submission keys', async () => {
    const session = await connect(stdioCommand2026({ dedup: true }));
    expect(await session.negotiate('work', {})).toMatchObject({
      capabilities: { lookup: 'none', deduplicates: true },
      keyRetentionMs: null,
    });
    await session.close();
  });
});
