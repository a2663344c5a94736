/**
 * The servers' half of the contract for MCP 2026-07-28 with the tasks extension (design section 6): tools whose calls are
 * tasks in Redis, submission keys, a look-up that closes what it calls "never created". For the low-level `Server` of
 * `@modelcontextprotocol/server`, which brings no tasks of its own.
 */
import type { Server, ServerCapabilities, ServerContext } from '@modelcontextprotocol/server';
import { CAPABILITY_SUBMISSION_KEY } from '../../mcp/names.ts';
import { compileSchema } from '../../mcp/schema.ts';
import { demandPrincipalOf, type HalfOptions, halfSettings } from '../../mcp/server/options.ts';
import { ServerStore } from '../../mcp/server/store.ts';
import { Workers } from '../../mcp/server/workers.ts';
import { PROTOCOL_VERSION } from '../names.ts';
import { Calls } from './calls.ts';
import { installMethods } from './methods.ts';
import { TASKS_EXTENSION } from './names.ts';
import { demandTool, type Tool, type ToolConfig, type Work } from './tool.ts';

export { RedisNotDurable, RedisUnreachable } from '../../mcp/server/connections.ts';
export type { HalfOptions } from '../../mcp/server/options.ts';
export type { InputQuestion } from './answers.ts';
export type { CallContext, ToolConfig } from './tool.ts';

/** What the half is told by whoever writes the server. */
export interface Half20260728Options extends HalfOptions {
  /**
   * Whose request this is: from the credentials or the headers, never from what the request says of itself. A task is
   * seen by its principal only. What it throws, or an empty text, refuses the request.
   */
  readonly principalOf: (context: ServerContext) => string;
}

/** The tools of a server of this revision, and their tasks (design section 6). */
export interface ServersHalf20260728 {
  /** For the options of the server: what `server/discover` declares. */
  readonly capabilities: ServerCapabilities;
  /** Before `install`. */
  tool(name: string, config: ToolConfig, work: Work): ServersHalf20260728;
  /** Adds the methods to a server: `tools/list`, `tools/call`, `tasks/*` and the look-up. Answers the server. */
  install(server: Server): Server;
  /**
   * Before the first request: rejects with `RedisUnreachable` or `RedisNotDurable`, which otherwise meet the first call.
   * A client is told nothing of either but an error.
   */
  ready(): Promise<void>;
  /** Looks after the tasks of dead processes now; it also happens by itself. Answers how many there were. */
  reap(): Promise<number>;
  /**
   * Stops looking after tasks, and leaves Redis. Work that goes on here cannot end its task any more: another process looks
   * after that when this one counts as dead.
   */
  close(): Promise<void>;
}

/**
 * Makes the half of one server. Throws a `TypeError` that names each option that cannot be used; of a Redis that cannot be
 * used, `ready` tells.
 */
export function serversHalf20260728(options: Half20260728Options): ServersHalf20260728 {
  const settings = halfSettings(options);
  demandPrincipalOf(options.principalOf);
  const tools = new Map<string, Tool>();
  const store = new ServerStore(options.redis, settings, PROTOCOL_VERSION);
  const workers = new Workers(store, (name) => {
    const tool = tools.get(name);
    return tool?.config.resumable === true ? (run) => calls.resume(tool, run) : undefined;
  });
  const calls = new Calls(store, workers);
  const half: ServersHalf20260728 = {
    capabilities: {
      tools: {},
      extensions: {
        [TASKS_EXTENSION]: {},
        [CAPABILITY_SUBMISSION_KEY]: { lookup: true, deduplicates: true, retentionMs: settings.retentionMs },
      },
    },
    tool(name, config, work) {
      demandTool(name, config, work);
      const schema = compileSchema(config.inputSchema);
      if (schema.kind === 'unusable') throw new Error(`the input schema of ${name} cannot be used: ${schema.problem}`);
      tools.set(name, { name, config, work, misfit: schema.check });
      return half;
    },
    install(server) {
      installMethods(server, { store, calls, tools, principalOf: options.principalOf });
      return server;
    },
    ready: () => store.ready(),
    reap: () => workers.reap(),
    async close() {
      await workers.close();
      await store.close();
    },
  };
  return half;
}
