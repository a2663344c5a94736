/** The official everything server: a real MCP server that nobody here wrote. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export const TOOL = 'simulate-research-query';

/** Its entry file, as npm installed it. */
export function everythingEntry(): string {
  return createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts it on Streamable HTTP, and waits until it listens. */
export async function startEverything(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.execPath, [everythingEntry(), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  endsWithDemo(child);
  const stop = () => ended(child);
  for (let tries = 0; tries < 100; tries += 1) {
    if (child.exitCode !== null) break;
    if (await listens(port)) return { url: `http://127.0.0.1:${port}/mcp`, stop };
    await delay(100);
  }
  await stop();
  throw new Error('the everything server did not begin to listen within ten seconds');
}

/** However the demo ends, this process does not outlive it. */
export function endsWithDemo(child: ChildProcess): void {
  process.once('exit', () => child.kill('SIGKILL'));
}

/** Kills a child process, and waits until it is gone. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const say = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => say(true)).once('error', () => say(false));
  });
}
