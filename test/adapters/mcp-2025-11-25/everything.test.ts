import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../machines/operation-protocol.ts';
import { freePort } from '../../kit/free-port.ts';
import { connect, eventually, send, sleep, submission, until } from './helpers.ts';

const MAIN = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const TOOL = 'simulate-research-query';
const ARGS = { topic: 'python', ambiguous: true };

describe('the official everything server', () => {
  let child: ChildProcess;
  let http: Endpoint;
  const stdio: Endpoint = { kind: 'stdio', command: process.execPath, args: [MAIN, 'stdio'] };
  beforeAll(async () => {
    const port = await freePort();
    child = spawn(process.execPath, [MAIN, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    });
    http = { kind: 'http', url: `http://127.0.0.1:${port}/mcp` };
    await eventually(
      () =>
        fetch(`http://127.0.0.1:${port}/`).then(
          () => true,
          () => false,
        ),
      10_000,
    );
  });
  afterAll(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });

  it.concurrent.each([['http'], ['stdio']])(
    'a task with a question, from beginning to end, over %s',
    async (kind) => {
      const session = await connect(kind === 'http' ? http : stdio);
      const negotiated = await session.negotiate(TOOL, ARGS);
      expect(negotiated).toMatchObject({
        kind: 'supported',
        capabilities: { cancelSupported: true, lookup: 'none', deduplicates: false },
      });
      const { outcome } = await send(session, submission(TOOL, null, { arguments: ARGS }));
      if (outcome.kind !== 'acknowledged') throw new Error(JSON.stringify(outcome));
      const task = { ...outcome.task, tool: TOOL };
      await until(session, task, 'input_required');
      const questions: string[] = [];
      const closed: string[] = [];
      const channel = session.openInput(task, {
        request: ({ message }) => void questions.push(message),
        closed: (reason) => void closed.push(reason),
      });
      await eventually(() => questions.length === 1);
      expect(await channel.deliver({ action: 'accept', content: { interpretation: 'snake' } })).toBe(true);
      await eventually(() => closed.length === 1, 5_000);
      expect(await session.status(task)).toMatchObject({ task: { status: 'completed' } });
      const result = await session.result(task, 'completed');
      expect(JSON.stringify(result)).toMatch(/python \(snake\)/);
      await session.close();
    },
    20_000,
  );

  it.concurrent('a cancel is confirmed; a task is reached again with its session, and not without (HTTP)', async () => {
    const first = await connect(http);
    const negotiated = await first.negotiate(TOOL, { topic: 'x' });
    if (negotiated.kind !== 'supported') throw new Error('refused');
    const { outcome } = await send(first, submission(TOOL, null, { arguments: { topic: 'x' } }));
    if (outcome.kind !== 'acknowledged') throw new Error('no task');
    const task = { ...outcome.task, tool: TOOL };
    await first.close();
    const stranger = await connect(http);
    expect(await stranger.status(task)).toMatchObject({ kind: 'notFound' });
    await stranger.close();
    const again = await connect(http, {}, { ...negotiated.session, tool: negotiated.tool });
    expect(await again.status(task)).toMatchObject({ kind: 'status', task: { status: 'working' } });
    expect(await again.cancel(task)).toMatchObject({ kind: 'confirmed' });
    expect(await again.cancel(task)).toMatchObject({ kind: 'refused' });
    expect(await again.result(task, 'cancelled')).toMatchObject({ kind: 'unknown' });
    await again.close();
    await sleep(10);
  }, 20_000);
});
