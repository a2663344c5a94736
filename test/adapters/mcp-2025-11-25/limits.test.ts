import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../adapters/mcp/rpc/http-fetch.ts';
import { BoundedLines } from '../../../adapters/mcp/rpc/stdio-link.ts';
import { compileSchema } from '../../../adapters/mcp/schema.ts';
import { taskViewOf } from '../../../adapters/mcp-2025-11-25/task-view.ts';
import { type ScriptedServer, startScriptedServer, stdioCommand } from '../../kit/servers/mcp-2025-11-25.ts';
import { connect, startTask, until } from './helpers.ts';

describe('size limits: an answer that is too large is a fact, and the server lives on', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(() => server.stop());

  it.each([
    ['http, event stream', false],
    ['http, JSON', true],
  ])(
    '50 MB over %s',
    async (_name, json) => {
      await server.control({ op: 'set', options: { json } });
      const session = await connect(server.endpoint, { resultTimeoutMs: 20_000 });
      const task = await startTask(session, { variant: 'huge' });
      await until(session, task, 'completed');
      expect(await session.result(task, 'completed')).toEqual({
        kind: 'invalid',
        reason: 'the answer is over the size limit',
      });
      expect(await session.status(task)).toMatchObject({ kind: 'status' });
      await session.close();
    },
    30_000,
  );

  it('50 MB over stdio', async () => {
    const session = await connect(stdioCommand(), { resultTimeoutMs: 20_000 });
    const task = await startTask(session, { variant: 'huge' });
    await until(session, task, 'completed');
    expect(await session.result(task, 'completed')).toEqual({
      kind: 'invalid',
      reason: 'the answer is over the size limit',
    });
    expect(await session.status(task)).toMatchObject({ kind: 'status' });
    await session.close();
  }, 30_000);

  it('what is under the limit passes, whole', async () => {
    for (const endpoint of [server.endpoint, stdioCommand()]) {
      const session = await connect(endpoint, { resultTimeoutMs: 20_000 });
      const task = await startTask(session, { variant: 'huge', bytes: 4_000_000 });
      await until(session, task, 'completed');
      const outcome = await session.result(task, 'completed');
      expect(JSON.stringify(outcome).length).toBeGreaterThan(4_000_000);
      await session.close();
    }
  });
});

describe('parts', () => {
  it('reads lines in any pieces, and throws long ones away', () => {
    const oversized: (number | null)[] = [];
    const lines = new BoundedLines(200, (id) => oversized.push(id));
    const message = (id: number, text: string): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id, result: { text } })}\n`;
    const last = `${JSON.stringify({ result: { text: 'y'.repeat(500) }, jsonrpc: '2.0', id: 9 })}\n`;
    const all = Buffer.from(
      [message(1, 'é'), message(2, 'x'.repeat(500)), last, message(3, 'ok'), 'z'.repeat(300), '\n'].join(''),
    );
    for (let at = 0; at < all.length; at += 7) lines.append(all.subarray(at, at + 7));
    expect(lines.readMessage()).toMatchObject({ id: 1, result: { text: 'é' } });
    expect(lines.readMessage()).toMatchObject({ id: 3 });
    expect(lines.readMessage()).toBeNull();
    expect(oversized).toEqual([2, 9, null]);
  });

  it('reads Retry-After in both forms and bounds it', () => {
    expect(retryAfterMs('3')).toBe(3_000);
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:10 GMT', 4_000)).toBe(6_000);
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:10 GMT', 40_000)).toBe(0);
    expect(retryAfterMs('999999999999')).toBe(86_400_000);
    expect(retryAfterMs('soon')).toBeUndefined();
    expect(retryAfterMs(undefined)).toBeUndefined();
  });

  it('checks both drafts, and refuses what it cannot check', () => {
    const tuple = { type: 'array', prefixItems: [{ type: 'number' }] };
    expect(misfit(tuple, ['x'])).toMatch(/at \/0/);
    const draft07 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [{ type: 'number' }],
    };
    expect(misfit(draft07, ['x'])).toMatch(/at \/0/);
    for (const bad of [
      { $ref: 'https://example.org/other.json' },
      { $async: true, type: 'object' },
      { type: 'nonsense' },
      { type: 'string', pattern: '(?=a)b' },
    ])
      expect(compileSchema(bad).kind).toBe('unusable');
  });

  it('takes what is usable of a task', () => {
    expect(taskViewOf({ taskId: 't', status: 'working' })).toMatchObject({
      ttlMs: null,
      remainingTtlMs: null,
      pollIntervalMs: null,
      taskCreatedAt: null,
    });
    const aged = {
      taskId: 't',
      status: 'completed',
      createdAt: '2026-01-01T00:00:00Z',
      lastUpdatedAt: '2026-01-01T00:00:04Z',
      ttl: 3_000,
      pollInterval: -1,
    };
    expect(taskViewOf(aged)).toMatchObject({ ttlMs: 3_000, remainingTtlMs: 0, pollIntervalMs: null });
    for (const bad of [
      null,
      {},
      { taskId: '', status: 'working' },
      { taskId: 't', status: 'done' },
      { taskId: 't'.repeat(600), status: 'working' },
    ])
      expect(taskViewOf(bad)).toBeNull();
  });
});

function misfit(schema: object, value: unknown): string | null {
  const compiled = compileSchema(schema);
  if (compiled.kind === 'unusable') throw new Error(compiled.problem);
  return compiled.check(value);
}
