import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { EndpointUnavailable, type ProtocolSession } from '../../../machines/operation-protocol.ts';
import { type Fault, type ScriptedServer, startScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import { startProxy, type TcpProxy } from '../../kit/tcp-proxy.ts';
import { connect, NOTHING, startTask, until } from './helpers.ts';

let server: ScriptedServer;
let proxy: TcpProxy;
let session: ProtocolSession;
beforeAll(async () => {
  server = await startScriptedServer();
  proxy = await startProxy(server.port);
});
beforeEach(async () => {
  session = await connect({ kind: 'http', url: proxy.url });
});
afterEach(async () => {
  await session.close();
  await proxy.setMode({ kind: 'pass' });
  await server.control({ op: 'clearFaults' });
  await server.control({ op: 'set', options: { cancel: true, describe: '' } });
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

describe('cancel (B9)', () => {
  it('confirms, refuses, only hears, and says when there is none', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    expect(await session.cancel(task)).toMatchObject({
      kind: 'confirmed',
      task: { taskId: task.taskId, status: 'cancelled' },
    });
    expect(await session.cancel(task)).toMatchObject({ kind: 'refused' });
    const other = await startTask(session, { outcome: 'hold' });
    for (const result of [{ ...other, status: 'working' }, { ...other, status: 'completed' }, {}]) {
      await server.control({ op: 'fault', method: 'tasks/cancel', kind: 'answer', result });
      expect(await session.cancel(other)).toEqual({ kind: 'acknowledged' });
    }
    await server.control({
      op: 'fault',
      method: 'tasks/cancel',
      kind: 'answer',
      result: { taskId: 'another', status: 'cancelled' },
    });
    expect(await session.cancel(other)).toMatchObject({ kind: 'unknown' });
    await server.control({ op: 'set', options: { cancel: false } });
    expect(await session.cancel(other)).toMatchObject({ kind: 'unsupported' });
  });

  it.each(NOTHING)('%s: unknown', async (_name, fault, more) => {
    const task = await startTask(session, { outcome: 'hold' });
    await server.control({ op: 'fault', method: 'tasks/cancel', ...fault } as { op: 'fault' } & Fault);
    expect(await session.cancel(task)).toMatchObject({ kind: 'unknown', ...more });
  });

  it('F5: the acknowledgement is lost: unknown, and the status tells', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    await proxy.setMode({ kind: 'cutAfterRequest', matches: 'tasks/cancel' });
    expect(await session.cancel(task)).toMatchObject({ kind: 'unknown' });
    await proxy.setMode({ kind: 'pass' });
    expect(await session.status(task)).toMatchObject({ kind: 'status', task: { status: 'cancelled' } });
  });

  it('a server that confirms the cancel of a completed task is passed on: the machine sees the contradiction', async () => {
    const task = await startTask(session, {});
    await until(session, task, 'completed');
    await server.control({ op: 'lyingCancel', on: true });
    expect(await session.cancel(task)).toMatchObject({ kind: 'confirmed' });
    await server.control({ op: 'lyingCancel', on: false });
  });
});

describe('taking up an earlier session', () => {
  it('reaches its tasks without initialize, and verifies against the pinned descriptor', async () => {
    const negotiated = await session.negotiate('typed', {});
    if (negotiated.kind !== 'supported') throw new Error('refused');
    const task = await startTask(session, {}, 'typed');
    const bad = await startTask(session, { variant: 'badSchema' }, 'typed');
    await until(session, bad, 'completed');
    await session.close();
    const before = (await server.log()).counts.initialize;
    const resume = { ...negotiated.session, tool: negotiated.tool };
    session = await connect(server.endpoint, {}, resume);
    expect(await session.status(task)).toMatchObject({ kind: 'status' });
    expect(await session.result(task, 'completed')).toMatchObject({ kind: 'result' });
    expect(await session.result(bad, 'completed')).toMatchObject({ kind: 'invalid' });
    expect(await session.negotiate('typed', {})).toMatchObject({ kind: 'refused' });
    expect((await server.log()).counts.initialize).toBe(before);
    await session.close();
    await server.control({ op: 'set', options: { describe: ' New.' } });
    session = await connect(server.endpoint, {}, resume);
    expect(await session.result(task, 'completed')).toMatchObject({
      kind: 'invalid',
      reason: expect.stringMatching(/descriptor changed/),
    });
  });

  it('says when the session is gone, and when only the server is away', async () => {
    const sessionId = 'never-there';
    const resume = { sessionId, protocolVersion: '2025-11-25', tool: { name: 'work', version: '0'.repeat(64) } };
    const lost: unknown = await mcp20251125()
      .connect(server.endpoint, resume)
      .catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(EndpointUnavailable);
    expect(lost).toMatchObject({ sessionLost: true });
    expect(String(lost)).not.toContain(sessionId);
    await proxy.setMode({ kind: 'refuse' });
    await expect(mcp20251125().connect({ kind: 'http', url: proxy.url }, resume)).rejects.toMatchObject({
      sessionLost: false,
    });
  });

  it('a session that is lost while it is used', async () => {
    const task = await startTask(session, { outcome: 'hold' });
    await server.control({ op: 'dropSessions' });
    expect(await session.status(task)).toMatchObject({ kind: 'unknown', sessionLost: true });
    const fresh = await connect(server.endpoint);
    expect(await fresh.status(task)).toMatchObject({ kind: 'status' });
    await fresh.close();
  });
});
