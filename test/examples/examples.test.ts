/** The examples for agent runtimes, as processes against real servers, killed in the middle. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLedger } from '../../persistence/index.ts';
import { startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { startScriptedServer2026 } from '../kit/servers/mcp-2026-07-28.ts';
import { eventually } from '../support/rig.ts';
import { type Started, startExample } from './started.ts';

let directory = '';
const closers: (() => Promise<unknown> | unknown)[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'toolop-example-'));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(directory, { recursive: true, force: true });
});

function example(name: string, url: string, env: Readonly<Record<string, string>> = {}): Started {
  const started = startExample(name, [url, directory], { WORK_MS: '3600000', ...env });
  closers.push(() => started.kill());
  return started;
}

interface Frame {
  readonly type: string;
  readonly sessionId: string;
  readonly definition?: string;
  readonly snapshot?: { readonly value?: unknown };
}
interface Receiver {
  on(event: 'connection', told: (socket: { on(event: 'message', told: (data: Buffer) => void): void }) => void): void;
  once(event: 'listening', told: () => void): void;
  address(): AddressInfo;
  close(): void;
  readonly clients: Set<{ terminate(): void }>;
}
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  readonly WebSocketServer: new (options: { readonly port: number; readonly host: string }) => Receiver;
};

/** The receiving end of the Stately inspector's protocol. */
async function receiver(): Promise<{ readonly url: string; readonly frames: readonly Frame[] }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server as never, 'listening');
  const frames: Frame[] = [];
  server.on('connection', (socket) => socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame)));
  closers.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${server.address().port}`, frames };
}

it('an agent of three calls, two at once and one with a human, is killed twice: three operations, three receipts', async () => {
  const server = await startScriptedServer2026();
  closers.push(() => server.stop());
  const { url, frames } = await receiver();

  const first = example('agent', server.url, { INSPECT: url });
  await eventually(async () => (await server.tasks()).length === 2);
  await first.line('kept: {"researching":{"tides":"calling","weather":"calling"}}');
  const definitions = () =>
    frames.flatMap(({ type, definition }) => (type === '@xstate.actor' ? [definition ?? ''] : []));
  const charts = () => definitions().filter((text) => text.includes('SUBMISSION_UNKNOWN'));
  await eventually(async () => charts().length === 2);
  await eventually(async () => frames.filter(({ snapshot }) => 'WORKING' in Object(snapshot?.value)).length >= 2);
  expect(definitions().some((text) => text.includes('"researching"'))).toBe(true);
  await first.kill();
  expect((await server.tasks()).map(({ status }) => status)).toEqual(['working', 'working']);

  for (const { taskId } of await server.tasks()) await server.control({ op: 'complete', taskId });
  const second = example('agent', server.url);
  expect(await second.line('goes on')).toBe('goes on');
  await second.line('receipt: tides completed');
  await second.line('receipt: weather completed');
  await second.line('asked: ');
  await second.line('kept: "publishing"');
  await second.kill();

  const third = example('agent', server.url);
  expect(await third.line('asked: ')).toContain('round 1');
  third.type('yes');
  const receipts = JSON.parse((await third.line('over: ')).slice('over: '.length)) as Record<string, string>;
  expect(await third.ended()).toBe(0);
  expect(third.lines.filter((line) => line.startsWith('receipt: '))).toEqual([
    `receipt: publish completed ${receipts.publish}`,
  ]);

  expect(Object.keys(receipts).sort()).toEqual(['publish', 'tides', 'weather']);
  expect(new Set(Object.values(receipts)).size).toBe(3);
  const { counts, executions, effects } = await server.log();
  expect({ calls: counts['tools/call'], executions, effects }).toEqual({ calls: 3, executions: 3, effects: 3 });
  const ledger = await openLedger(join(directory, 'ledger.db'), { namespace: 'agent' });
  closers.push(() => ledger.close());
  expect((await ledger.list({ limit: 10 })).operations.map(({ state }) => state)).toEqual(Array(3).fill('ACCEPTED'));
  expect(await ledger.audit()).toEqual([]);
}, 90_000);

it('a promise is left waiting, then killed, then gives the one receipt, as often as it is asked (B4, B14)', async () => {
  const server = await startScriptedServer();
  closers.push(() => server.stop());

  const left = example('promise', server.url);
  await left.line('step: WORKING');
  await eventually(async () => (await server.tasks()).length === 1);
  await left.kill('SIGINT');
  expect(left.lines.at(-1)).toBe('left: left waiting; start again to go on');
  const killed = example('promise', server.url);
  await killed.line('step: WORKING');
  await killed.kill();
  expect((await server.log()).counts['tasks/cancel'] ?? 0).toBe(0);

  await server.control({ op: 'complete', taskId: 'last' });
  const lines = [];
  for (const again of [example('promise', server.url), example('promise', server.url)]) {
    lines.push(await again.line('answer: 42 '));
    expect(await again.ended()).toBe(0);
  }
  expect(new Set(lines).size).toBe(1);
  expect((await server.log()).counts['tools/call']).toBe(1);
}, 90_000);
