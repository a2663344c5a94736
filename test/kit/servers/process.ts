/** A scripted server of either revision as a process: started, controlled, read and ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Endpoint } from '../../../machines/operation-protocol.ts';
import { program } from '../program.ts';
import { jsonOf, understood } from '../told.ts';
import { Said } from './run-program.ts';

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

/** A revision's server: its program, and the schema of its options. */
export interface Revision {
  readonly main: string;
  readonly options: z.ZodType;
}

/** Starts it over HTTP in a process of its own. It ends with this process at the latest. */
export async function startScripted<C, L, T>(
  revision: Revision,
  options: object,
  port: number,
): Promise<ScriptedProcess<C, L, T>> {
  const args = [...program(revision.main), '--http', String(port), '--with-parent', ...optionsOf(revision, options)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const first = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    // Not `exit`: what it said last may still be on its way then.
    once(child, 'close').then(([code, signal]) => {
      throw new Error(`the scripted server ended (${signal ?? `code ${code}`}) and did not say why`);
    }),
  ]);
  const said = understood(Said, jsonOf(line));
  if ('error' in said) throw new Error(`the scripted server did not start: ${said.error}`);
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
export function scriptedCommand(revision: Revision, options: object, controlPort: number | undefined): StdioEndpoint {
  const control = controlPort === undefined ? [] : ['--control', String(controlPort)];
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [...program(revision.main), '--stdio', ...optionsOf(revision, options), ...control],
  };
}

/** As arguments. Throws at once where the server would refuse them. */
function optionsOf({ options: schema }: Revision, options: object): readonly string[] {
  const text = JSON.stringify(options);
  try {
    understood(schema, jsonOf(text));
  } catch (error) {
    throw new Error(`options of the scripted server: ${(error as Error).message}`);
  }
  return ['--options', text];
}

const Answer = z.strictObject({ error: z.string().optional() });

/** The control endpoint of a scripted server on this port. */
export function scriptedControls<C, L, T>(port: number): Controls<C, L, T> {
  const base = `http://127.0.0.1:${port}/control`;
  const ask = async (path: string, init?: RequestInit): Promise<Response> =>
    fetch(base + path, init).catch((error: unknown) => {
      throw new Error(`no scripted server answers on port ${port}`, { cause: error });
    });
  const read = async (what: string): Promise<unknown> => (await ask(`/${what}`)).json();
  return {
    async control(command) {
      const response = await ask('', { method: 'POST', body: JSON.stringify(command) });
      const { error } = Answer.parse(await response.json());
      if (error !== undefined) throw new Error(`control: ${error}`);
    },
    log: async () => (await read('log')) as L,
    tasks: async () => (await read('tasks')) as readonly T[],
  };
}
