/**
 * A real MCP server (revision 2025-11-25, on the official SDK's low-level `Server`) that does what a test tells it: by
 * the arguments of its tools (`script`), and by a control endpoint. Run by hand: see `mcp-2025-11-25/main.ts`.
 *
 * Tools: `work` (tasks optional), `typed` (tasks required, output schema `{ answer: number }`), `sync` (no tasks).
 */
import { programBeside } from '../program.ts';
import type { Control, ScriptedLog, ScriptedOptions } from './mcp-2025-11-25/options.ts';
import { Options } from './mcp-2025-11-25/schema.ts';
import type { Task } from './mcp-2025-11-25/world.ts';
import {
  type Revision,
  type ScriptedProcess,
  type StdioEndpoint,
  scriptedCommand,
  scriptedControls,
  startScripted,
} from './process.ts';

export type { Control, Fault, Script, ScriptedLog, ScriptedOptions } from './mcp-2025-11-25/options.ts';

const REVISION: Revision = { main: programBeside(import.meta.url, './mcp-2025-11-25/main'), options: Options };

/** One that runs, of 2025-11-25, and what it is told by. */
export type ScriptedServer = ScriptedProcess<Control, ScriptedLog, Task>;

/**
 * Starts a scripted server over HTTP in a process of its own. It ends with this process at the latest. `port`: default a free one.
 * Rejects with the reason where an option is not known or the port is not free.
 */
export const startScriptedServer = (options: Partial<ScriptedOptions> = {}, port = 0): Promise<ScriptedServer> =>
  startScripted(REVISION, options, port);

/**
 * The scripted server over stdio. With `controlPort` (see `freePort`) `controls(port)` talks to the running one.
 * Throws for an unknown option.
 */
export const stdioCommand = (options: Partial<ScriptedOptions> = {}, controlPort?: number): StdioEndpoint =>
  scriptedCommand(REVISION, options, controlPort);

/** The control endpoint of a scripted server on this port. */
export const controls = (port: number): Pick<ScriptedServer, 'control' | 'log' | 'tasks'> => scriptedControls(port);
