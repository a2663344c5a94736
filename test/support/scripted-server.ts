/**
 * A real MCP server (revision 2025-11-25, on the official SDK's low-level `Server`) that does what a test tells it: by
 * the arguments of its tools (`script`), and by a control endpoint. Run by hand: see `scripted/main.ts`.
 *
 * Tools: `work` (tasks optional), `typed` (tasks required, output schema `{ answer: number }`), `sync` (no tasks).
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Endpoint } from '../../machines/operation-protocol.ts';
import type { Control, ScriptedLog, ScriptedOptions } from './scripted/options.ts';
import type { Task } from './scripted/world.ts';
import { type ScriptedProcess, scriptedCommand, scriptedControls, startScripted } from './scripted-process.ts';

export type { Control, Fault, Script, ScriptedLog, ScriptedOptions } from './scripted/options.ts';

const MAIN = fileURLToPath(new URL('./scripted/main.ts', import.meta.url));

export type ScriptedServer = ScriptedProcess<Control, ScriptedLog, Task>;

/** Starts a scripted server over HTTP in a process of its own. It ends with this process at the latest. */
export const startScriptedServer = (options: Partial<ScriptedOptions> = {}, port = 0): Promise<ScriptedServer> =>
  startScripted(MAIN, options, port);

/** The scripted server over stdio. With `controlPort` (see `freePort`) `controls(port)` talks to the running one. */
export const stdioCommand = (options: Partial<ScriptedOptions> = {}, controlPort?: number): Endpoint =>
  scriptedCommand(MAIN, options, controlPort);

/** The control endpoint of a scripted server on this port. */
export const controls = (port: number): Pick<ScriptedServer, 'control' | 'log' | 'tasks'> => scriptedControls(port);

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
