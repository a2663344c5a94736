/** The Stately inspector's protocol, seen from its receiving end: a WebSocket that hears what a viewer would hear. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { Inspection } from '../../visualizer/inspect/inspection.ts';
import { toolop } from '../cli/command.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { accepted, eventually, type Rig, startRig, workCall } from '../support/rig.ts';

interface Frame {
  readonly type: string;
  readonly sessionId: string;
  readonly definition?: string;
  readonly event?: { readonly type: string; readonly refused?: readonly string[] };
  readonly snapshot?: { readonly value?: unknown; readonly context?: Readonly<Record<string, unknown>> };
}

let rig: Rig;
let server: ScriptedServer;
const closers: (() => unknown)[] = [];
beforeAll(async () => {
  rig = await startRig('embedded');
  server = await startScriptedServer();
}, 60_000);
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await server.stop();
  await rig.close();
});

async function viewer(url: string, origin?: string): Promise<readonly string[]> {
  const socket = new WebSocket(url.replace('http:', 'ws:'), origin === undefined ? {} : { origin });
  const frames: string[] = [];
  socket.on('message', (data) => frames.push(String(data)));
  closers.push(() => socket.terminate());
  await once(socket, 'open');
  return frames;
}
const parsed = (frames: readonly string[]): readonly Frame[] => frames.map((text) => JSON.parse(text) as Frame);

/** A call that is followed to its end, and what stands in its record that nobody else is to see. */
async function inspected(full: boolean) {
  const executor = await rig.executor();
  const failures: unknown[] = [];
  const inspection = await Inspection.open({
    ...{ ledger: executor.env.ledger, at: 0, full },
    failed: (error) => failures.push(error),
  });
  closers.push(() => inspection.close());
  const early = await viewer(inspection.url);
  const call = workCall(server.endpoint, { ms: 100, pollInterval: 20, note: 'argument-of-the-caller' } as never);
  const operationId = await accepted(executor, call);
  let taskId = '';
  for await (const opened of executor.follow(operationId)) {
    inspection.tell(opened);
    taskId = opened.snapshot.context.taskId ?? taskId;
  }
  await eventually(async () => early.some((text) => text.includes('"value":"ACCEPTED"')) || null);
  expect(failures).toEqual([]);
  const secrets = [operationId, taskId, call.callNodeId, new URL(server.url).host, 'argument-of-the-caller'];
  return { inspection, early, secrets };
}

describe('a followed operation in the Stately inspector', { timeout: 60_000 }, () => {
  it('is an actor with the definition of the chart, its events and its states, and nothing that identifies it', async () => {
    const { early, secrets } = await inspected(false);
    const frames = parsed(early);
    expect(frames[0]).toMatchObject({ type: '@xstate.actor', sessionId: 'toolOperation' });
    expect(JSON.parse(frames[0]?.definition ?? '')).toMatchObject({ id: 'toolOperation', initial: 'SUBMITTING' });
    const events = frames.filter(({ type }) => type === '@xstate.event').map(({ event }) => event?.type);
    expect(events).toEqual(expect.arrayContaining(['created', 'submit.acknowledged', 'terminal.accept']));
    const values = frames.filter(({ type }) => type === '@xstate.snapshot').map(({ snapshot }) => snapshot?.value);
    expect(values).toContainEqual('ACCEPTED');
    for (const secret of secrets) for (const text of early) expect(text).not.toContain(secret);
  });

  it('is there for who comes late, with its definition, and shows the record where that was asked for', async () => {
    const { inspection, secrets } = await inspected(true);
    const late = await viewer(inspection.url);
    await eventually(async () => (late.length >= 2 ? true : null));
    const [actor, last] = parsed(late);
    expect(actor?.definition).toContain('SUBMISSION_UNKNOWN');
    expect(last?.snapshot?.value).toBe('ACCEPTED');
    expect(JSON.stringify(last)).toContain(secrets[0]);
  });

  it('is shown to this machine only, and to no page of another origin', async () => {
    const { inspection } = await inspected(false);
    await expect(viewer(inspection.url, 'https://attacker.example')).rejects.toThrow('403');
    await expect(viewer(inspection.url, new URL(inspection.url).origin)).resolves.toBeDefined();
    const wrongName = await fetch(inspection.url, { headers: { origin: 'https://attacker.example' } });
    expect(wrongName.status).toBe(403);
    const page = await fetch(inspection.url);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('a port in use is said at once', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    closers.push(() => taken.close());
    const { port } = taken.address() as { readonly port: number };
    const ledger = await rig.ledger();
    await expect(Inspection.open({ ledger, at: port, full: false, failed: () => undefined })).rejects.toThrow(
      'EADDRINUSE',
    );
  });

  it('toolop run --inspect says where it is shown, and ends as without', async () => {
    const args = ['--tool', 'work', '--args', '{"script":{"ms":50,"pollInterval":20}}', '--url', server.url];
    const run = await toolop(['run', '--ledger', rig.address, '--namespace', 'test', '--inspect', '--json', ...args]);
    expect(run.code).toBe(0);
    const lines = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toContainEqual({ type: 'inspector', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/) });
  });

  it('an address where nothing receives, or that is not on this machine, is said before anything is sent', async () => {
    const run = (address: string) =>
      toolop(['run', '--ledger', rig.address, '--inspect', address, '--tool', 'work', '--url', server.url]);
    const { port } = await freePort();
    const nobody = await run(`ws://127.0.0.1:${port}`);
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain('nothing receives at ws://127.0.0.1');
    expect(nobody.stderr).toContain('toolop inspect');
    for (const address of ['ws://attacker.example', 'http://127.0.0.1:8080', 'ws:']) {
      const refused = await run(address);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('an address on this machine');
    }
  });

  it('a receiver that goes away in the middle disturbs nothing', async () => {
    const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(sockets, 'listening');
    closers.push(() => sockets.close());
    sockets.on('connection', (socket) => socket.once('message', () => socket.terminate()));
    const { port } = sockets.address() as { readonly port: number };
    const executor = await rig.executor();
    const failures: unknown[] = [];
    const inspection = await Inspection.open({
      ...{ ledger: executor.env.ledger, at: `ws://127.0.0.1:${port}`, full: false },
      failed: (error) => failures.push(error),
    });
    const operationId = await accepted(executor, workCall(server.endpoint, { ms: 100, pollInterval: 20 }));
    for await (const opened of executor.follow(operationId)) inspection.tell(opened);
    await eventually(async () => failures.length === 1);
    await inspection.close();
    expect(String(failures[0])).toContain('has ended');
    expect((await executor.wait(operationId)).receipt.outcome).toBe('completed');
  });
});

async function freePort(): Promise<{ readonly port: number }> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address() as { readonly port: number };
  taken.close();
  await once(taken, 'close');
  return address;
}
