/**
 * A real MCP server (revision 2025-11-25, on the official SDK's low-level `Server`) that does what a test tells it: by
 * the arguments of its tools (`script`), and by a control endpoint. Run by hand: see `scripted/main.ts`.
 *
 * Tools: `work` (tasks optional), `typed` (tasks required, output schema `{ answer: number }`), `sync` (no tasks).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Endpoint } from '../../machines/operation-protocol.ts';
import { program } from './program.ts';
import type { Control, ScriptedLog, ScriptedOptions } from './scripted/options.ts';
import type { Task } from './scripted/world.ts';

export type { Control, Fault, Script, ScriptedLog, ScriptedOptions } from './scripted/options.ts';

const MAIN = fileURLToPath(new URL('./scripted/main.ts', import.meta.url));

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly endpoint: Endpoint;
  control(command: Control): Promise<void>;
  log(): Promise<ScriptedLog>;
  /** All that it knows now. */
  tasks(): Promise<readonly Task[]>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM, then waits for its end. */
  stop(): Promise<void>;
}

/** Starts a scripted server over Streamable HTTP in a process of its own. It ends with this process at the latest. */
export async function startScriptedServer(options: Partial<ScriptedOptions> = {}, port = 0): Promise<ScriptedServer> {
  const args = [...program(MAIN), '--http', String(port), '--with-parent', '--options', JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const first = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    ended.then(() => {
      throw new Error('the scripted server did not start');
    }),
  ]);
  const said = JSON.parse(line) as { url: string; port: number };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    url: said.url,
    port: said.port,
    pid: child.pid ?? 0,
    endpoint: { kind: 'http', url: said.url },
    ...controls(said.port),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

/** The scripted server over stdio. With `controlPort` (see `freePort`) `controls(port)` talks to the running one. */
export function stdioCommand(options: Partial<ScriptedOptions> = {}, controlPort?: number): Endpoint {
  const control = controlPort === undefined ? [] : ['--control', String(controlPort)];
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [...program(MAIN), '--stdio', '--options', JSON.stringify(options), ...control],
  };
}

/** The control endpoint of a scripted server on this port. */
export function controls(port: number): Pick<ScriptedServer, 'control' | 'log' | 'tasks'> {
  const base = `http://127.0.0.1:${port}/control`;
  const read = async (what: string): Promise<unknown> => (await fetch(`${base}/${what}`)).json();
  return {
    async control(command) {
      const response = await fetch(base, { method: 'POST', body: JSON.stringify(command) });
      const text = await response.text();
      if (!response.ok) throw new Error(`control: ${text}`);
    },
    log: async () => (await read('log')) as ScriptedLog,
    tasks: async () => (await read('tasks')) as readonly Task[],
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
