/** A scripted server of either revision as a process: started, controlled, read and ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Endpoint } from '../../../machines/operation-protocol.ts';
import { program } from '../program.ts';

/** A server that a client starts itself. */
export type StdioEndpoint = Extract<Endpoint, { kind: 'stdio' }>;

/** What a revision's server is told, and what it tells. */
export interface Controls<C, L, T> {
  /** Done when it resolves. Rejects with what is wrong, and nothing was done then. */
  control(command: C): Promise<void>;
  /** What it saw, since its start or the last `{ op: 'reset' }`. */
  log(): Promise<L>;
  /** All that it knows now, as JSON. */
  tasks(): Promise<readonly T[]>;
}

/** A scripted server that runs. `C`: its commands, `L`: its log, `T`: its tasks. */
export interface ScriptedProcess<C, L, T> extends Controls<C, L, T> {
  /** `http://127.0.0.1:port/mcp` */
  readonly url: string;
  /** Of the server and of its controls. */
  readonly port: number;
  /** Its process. */
  readonly pid: number;
  /** For the `endpoint` of a call. */
  readonly endpoint: Endpoint;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM, then waits for its end. */
  stop(): Promise<void>;
}

/** Starts it over HTTP in a process of its own. It ends with this process at the latest. */
export async function startScripted<C, L, T>(
  main: string,
  options: object,
  port: number,
): Promise<ScriptedProcess<C, L, T>> {
  const args = [...program(main), '--http', String(port), '--with-parent', '--options', JSON.stringify(options)];
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
    ...scriptedControls<C, L, T>(said.port),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

/** The same over stdio. With `controlPort` (see `freePort`) its controls talk to the running one. */
export function scriptedCommand(main: string, options: object, controlPort: number | undefined): StdioEndpoint {
  const control = controlPort === undefined ? [] : ['--control', String(controlPort)];
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [...program(main), '--stdio', '--options', JSON.stringify(options), ...control],
  };
}

/** The control endpoint of a scripted server on this port. */
export function scriptedControls<C, L, T>(port: number): Controls<C, L, T> {
  const base = `http://127.0.0.1:${port}/control`;
  const read = async (what: string): Promise<unknown> => (await fetch(`${base}/${what}`)).json();
  return {
    async control(command) {
      const response = await fetch(base, { method: 'POST', body: JSON.stringify(command) });
      const text = await response.text();
      if (!response.ok) throw new Error(`control: ${text}`);
    },
    log: async () => (await read('log')) as L,
    tasks: async () => (await read('tasks')) as readonly T[],
  };
}
