import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { META_SYNCHRONOUS_LIMIT, synchronous } from '../../../adapters/sync/index.ts';
import { EndpointUnavailable, type ProtocolSession } from '../../../machines/operation-protocol.ts';
import { type ScriptedServer, startScriptedServer, stdioCommand } from '../../kit/servers/mcp-2025-11-25.ts';
import { connect } from './helpers.ts';

const OPTIONS = { limits: {}, tasks: true, protocolVersion: null, lookup: false, dedup: false, retentionMs: null };

describe('negotiation of a synchronous call (B1)', () => {
  let server: ScriptedServer;
  let session: ProtocolSession | undefined;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterEach(async () => {
    await session?.close();
    session = undefined;
    await server.control({ op: 'clearFaults' });
    await server.control({ op: 'set', options: OPTIONS });
  });
  afterAll(() => server.stop());

  const negotiated = async (options: object, tool: string, args = {}) => {
    await server.control({ op: 'set', options });
    session = await connect(server.endpoint);
    return session.negotiate(tool, args);
  };

  it('has the id that stands in the record (B3)', () => {
    expect(synchronous().id).toBe('sync');
  });

  it('takes a tool that publishes its limit, with no cancel and no input', async () => {
    expect(await negotiated({ tasks: false, limits: { sync: 400 } }, 'sync')).toEqual({
      kind: 'supported',
      tool: { name: 'sync', version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      capabilities: {
        cancelSupported: false,
        cancelEvidence: 'terminal',
        lookup: 'none',
        deduplicates: false,
        input: 'none',
        inputRedelivery: false,
      },
      session: { sessionId: expect.any(String), protocolVersion: '2025-11-25' },
      keyRetentionMs: null,
    });
    expect((await server.log()).counts['tools/call']).toBeUndefined();
  });

  it('takes one that supports tasks, but can do without, and reads the declaration of submission keys', async () => {
    const options = { limits: { work: 400 }, lookup: true, dedup: true, retentionMs: 60_000 };
    expect(await negotiated(options, 'work')).toMatchObject({
      kind: 'supported',
      keyRetentionMs: 60_000,
      capabilities: { cancelSupported: false, lookup: 'closing', deduplicates: true },
    });
  });

  const noLimit = /publishes no \(usable\) synchronous limit and does not support tasks/;
  it.each([
    ['a tool without a limit', {}, 'sync', {}, noLimit, META_SYNCHRONOUS_LIMIT],
    ['a limit of nothing', { limits: { sync: 0 } }, 'sync', {}, noLimit, META_SYNCHRONOUS_LIMIT],
    ['a limit that is no integer', { limits: { sync: 1.5 } }, 'sync', {}, noLimit, META_SYNCHRONOUS_LIMIT],
    ['a limit that is no number', { limits: { sync: '400' } }, 'sync', {}, noLimit, META_SYNCHRONOUS_LIMIT],
    ['a limit of more than a day', { limits: { sync: 86_400_001 } }, 'sync', {}, noLimit, META_SYNCHRONOUS_LIMIT],
    ['a task tool without a limit', {}, 'work', {}, /it supports tasks/, 'use the adapter for tasks'],
    ['a tool that demands a task', { limits: { typed: 400 } }, 'typed', {}, /only be called as a task/, 'for tasks'],
    ['another revision', { protocolVersion: '2025-06-18' }, 'sync', {}, /speaks MCP 2025-06-18/, 'adapter'],
    ['a tool that is not there', {}, 'nowhere', {}, /no such tool/, 'tools/list'],
    ['arguments that do not fit', { limits: { sync: 400 } }, 'sync', { label: 3 }, /at \/label/, 'arguments'],
  ])('refuses %s, with a reason and a next step', async (_name, options, tool, args, reason, next) => {
    expect(await negotiated(options, tool, args)).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(reason),
      next: expect.stringContaining(next),
    });
    expect((await server.log()).executions).toBe(0);
  });

  it('B3: the limit is part of the version of the tool; a tool without one keeps its version', async () => {
    const versionOf = async (options: object, tool: string, adapter = synchronous()) => {
      await server.control({ op: 'set', options });
      const own = await adapter.connect(server.endpoint);
      const outcome = await own.negotiate(tool, {});
      await own.close();
      return outcome.kind === 'supported' ? outcome.tool.version : outcome.reason;
    };
    const plain = await versionOf({ limits: {} }, 'work', mcp20251125());
    expect(await versionOf({ limits: { sync: 1 } }, 'work', mcp20251125())).toBe(plain);
    expect(await versionOf({ limits: { work: 0 } }, 'work', mcp20251125())).toBe(plain);
    const [short, long] = [
      await versionOf({ limits: { work: 400 } }, 'work'),
      await versionOf({ limits: { work: 500 } }, 'work'),
    ];
    expect(new Set([plain, short, long]).size).toBe(3);
  });

  it('rejects with EndpointUnavailable when the list cannot be read: nothing is known, nothing was sent', async () => {
    session = await connect(server.endpoint);
    await server.control({ op: 'fault', method: 'tools/list', kind: 'http', status: 503 });
    await expect(session.negotiate('sync', {})).rejects.toThrow(EndpointUnavailable);
  });

  it('works over stdio', async () => {
    session = await connect(stdioCommand({ limits: { sync: 400 } }));
    expect(await session.negotiate('sync', {})).toMatchObject({ kind: 'supported', session: { sessionId: null } });
  });
});
