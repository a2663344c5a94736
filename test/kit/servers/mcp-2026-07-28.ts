/**
 * A real MCP server of 2026-07-28 with the tasks extension (on the official SDK's low-level `Server`, which checks headers
 * and envelopes of what it is sent) that does what a test tells it: by the arguments of its tools (`script`, see
 * `mcp-2026-07-28/options.ts`), and by a control endpoint.
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
import { programBeside } from '../program.ts';
import type { Control, ScriptedLog, ScriptedOptions } from './mcp-2026-07-28/options.ts';
import { Options } from './mcp-2026-07-28/schema.ts';
import type { Task } from './mcp-2026-07-28/world.ts';
import {
  type Revision,
  type ScriptedProcess,
  type StdioEndpoint,
  scriptedCommand,
  scriptedControls,
  startScripted,
} from './process.ts';

export type { Control, Fault, Script, ScriptedLog, ScriptedOptions, Status } from './mcp-2026-07-28/options.ts';

const REVISION: Revision = { main: programBeside(import.meta.url, './mcp-2026-07-28/main'), options: Options };

/** One that runs, of 2026-07-28, and what it is told by. */
export type ScriptedServer2026 = ScriptedProcess<Control, ScriptedLog, Task>;

/**
 * Starts a scripted server over HTTP in a process of its own. It ends with this process at the latest. `port`: default a free one.
 * Rejects with the reason where an option is not known, the port is not free, or its SDK is not installed.
 */
export const startScriptedServer2026 = (
  options: Partial<ScriptedOptions> = {},
  port = 0,
): Promise<ScriptedServer2026> => startScripted(REVISION, options, port);

/**
 * The scripted server over stdio. With `controlPort` (see `freePort`) `controls2026(port)` talks to the running one.
 * Throws for an unknown option.
 */
export const stdioCommand2026 = (options: Partial<ScriptedOptions> = {}, controlPort?: number): StdioEndpoint =>
  scriptedCommand(REVISION, options, controlPort);

/** The control endpoint of a scripted server on this port. */
export const controls2026 = (port: number): Pick<ScriptedServer2026, 'control' | 'log' | 'tasks'> =>
  scriptedControls(port);
