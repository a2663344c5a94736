/**
 * A real MCP server of 2026-07-28 with the tasks extension (on the official SDK's low-level `Server`, which checks headers
 * and envelopes of what it is sent) that does what a test tells it: by the arguments of its tools (`script`, see
 * `scripted-2026/options.ts`), and by a control endpoint.
 *
 *     const server = await startScriptedServer2026({ lookup: true });       // HTTP; `server.endpoint`
 *     const endpoint = stdioCommand2026({}, port); const { control, log } = controls2026(port);
 *     arguments: { script: { ms, outcome, ask: [['a', 'b'], ['c']], before: [['x']], immediate, terminalSeed, ttlMs } }
 *     await server.control({ op: 'fault', method: 'tasks/get', kind: 'http', status: 503, retryAfter: '2' });
 *     await server.control({ op: 'set', options: { cancel: 'ignore' } });
 *     await server.control({ op: 'complete' | 'fail' | 'forget' | 'expire' | 'ask' | ..., taskId: 'last' });
 *     (await server.log()).counts['tools/call'], .executions, .effects, .answers, .ignored, .disconnects, .requests
 *
 * Every question asks `question <key>` with the schema `{ word: string }`, required. Beside the SDK, because it cannot say
 * it: `subscriptions/listen` for tasks (`listens.ts`), and answers that no honest server gives (`entry.ts`).
 *
 * Tools: `work`, `typed` (output schema `{ answer: number }`), `größe` (a name that a header cannot carry),
 * `badly-marked` (an `x-mcp-header` that is not allowed).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Endpoint } from '../../machines/operation-protocol.ts';
import { program } from './program.ts';
import type { Control, ScriptedLog, ScriptedOptions } from './scripted-2026/options.ts';
import type { Task } from './scripted-2026/world.ts';

export type { Control, Fault, Script, ScriptedLog, ScriptedOptions, Status } from './scripted-2026/options.ts';

const MAIN = fileURLToPath(new URL('./scripted-2026/main.ts', import.meta.url));

export interface ScriptedServer2026 {
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

/** Starts a scripted server over HTTP in a process of its own. It ends with this process at the latest. */
export async function startScriptedServer2026(
  options: Partial<ScriptedOptions> = {},
  port = 0,
): Promise<ScriptedServer2026> {
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
    ...controls2026(said.port),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

/** The scripted server over stdio. With `controlPort` (see `freePort`) `controls2026(port)` talks to the running one. */
export function stdioCommand2026(options: Partial<ScriptedOptions> = {}, controlPort?: number): Endpoint {
  const control = controlPort === undefined ? [] : ['--control', String(controlPort)];
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [...program(MAIN), '--stdio', '--options', JSON.stringify(options), ...control],
  };
}

/** The control endpoint of a scripted server on this port. */
export function controls2026(port: number): Pick<ScriptedServer2026, 'control' | 'log' | 'tasks'> {
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
