/**
 * The servers' half of the contract for MCP 2025-11-25 (design section 6): tasks that survive a restart, submission keys,
 * a look-up that closes what it calls "never created". An `McpServer` of the official SDK adopts it in a few lines.
 */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type ShapeOutput, safeParse, type ZodRawShapeCompat } from '@modelcontextprotocol/sdk/server/zod-compat.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  ErrorCode,
  McpError,
  type MessageExtraInfo,
  type ServerCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import { CAPABILITY_SUBMISSION_KEY } from '../../mcp/names.ts';
import { demandPrincipalOf, type HalfOptions, halfSettings } from '../../mcp/server/options.ts';
import { ServerStore } from '../../mcp/server/store.ts';
import { Workers } from '../../mcp/server/workers.ts';
import { PROTOCOL_VERSION } from '../names.ts';
import { Gate, type GateParts } from './gate.ts';
import { RedisTaskMessageQueue, type StoredQuestion } from './message-queue.ts';
import { askRequestor } from './questions.ts';
import { RedisTaskStore } from './task-store.ts';
import { type TaskRun, type TaskTool, type TaskToolConfig, taskTool } from './tools.ts';

export { RedisNotDurable, RedisUnreachable } from '../../mcp/server/connections.ts';
export type { HalfOptions } from '../../mcp/server/options.ts';
export type { TaskRun, TaskToolConfig } from './tools.ts';

/** What the half is told by whoever writes the server. */
export interface Half20251125Options extends HalfOptions {
  /**
   * Whose request this is: from the credentials (`authInfo`) or the headers, never from what the request says of itself.
   * A task is seen by its principal only. What it throws, or an empty text, refuses the request.
   */
  readonly principalOf: (request: MessageExtraInfo | undefined) => string;
}

/** What the official SDK's server of this revision lacks (design section 6). */
export interface ServersHalf20251125 {
  /** For the options of the server. */
  readonly taskStore: RedisTaskStore;
  /** For the options of the server, too. A question stands in it until it is answered, whoever is connected. */
  readonly taskMessageQueue: RedisTaskMessageQueue;
  /** To be merged into what the server declares. */
  readonly capabilities: ServerCapabilities;
  /** A tool whose calls are tasks; before `install`. The SDK's own `registerToolTask` works too, without resuming. */
  taskTool<Shape extends ZodRawShapeCompat>(
    name: string,
    config: TaskToolConfig<Shape>,
    work: (args: ShapeOutput<Shape>, run: TaskRun) => Promise<CallToolResult>,
  ): void;
  /** Before `server.connect`, for each server (each session has one). */
  install(server: McpServer | Server): void;
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
export function serversHalf20251125(options: Half20251125Options): ServersHalf20251125 {
  const settings = halfSettings(options);
  demandPrincipalOf(options.principalOf);
  const tools = new Map<string, TaskTool>();
  const isResumable = (tool: string): boolean => tools.get(tool)?.resumable === true;
  const store = new ServerStore(options.redis, settings, PROTOCOL_VERSION);
  const workers = new Workers(store, (tool) => (isResumable(tool) ? tools.get(tool)?.resume : undefined));
  const parts: GateParts = { store, workers, isResumable, principalOf: options.principalOf };
  return {
    taskStore: new RedisTaskStore(store, workers, isResumable),
    taskMessageQueue: new RedisTaskMessageQueue(store),
    capabilities: {
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
      experimental: {
        [CAPABILITY_SUBMISSION_KEY]: { lookup: true, deduplicates: true, retentionMs: settings.retentionMs },
      },
    },
    taskTool(name, config, work) {
      tools.set(name, taskTool(name, config, work, { store, workers }));
    },
    install(server) {
      const isHighLevel = 'server' in server;
      if (!isHighLevel && tools.size > 0) throw new Error('taskTool needs an McpServer');
      if (isHighLevel) for (const tool of tools.values()) tool.register(server);
      adopt(isHighLevel ? server.server : server, parts);
    },
    ready: () => store.ready(),
    reap: () => workers.reap(),
    async close() {
      await workers.close();
      await store.close();
    },
  };
}

/** What has to be between the SDK's server and its transport; all of it through what the SDK lets a subclass do. */
function adopt(server: Server, parts: GateParts): void {
  const connect = server.connect.bind(server);
  const request = server.request.bind(server);
  const notification = server.notification.bind(server);

  server.connect = (transport: Transport) => connect(new Gate(transport, parts));

  // The SDK waits for the answer on the connection that asked, and that may be gone when the answer comes.
  const askOrRequest: Server['request'] = async (asked, schema, options) => {
    const taskId = options?.relatedTask?.taskId;
    if (taskId === undefined) return request(asked, schema, options);
    const run = parts.workers.get(taskId);
    if (run === undefined) throw new McpError(ErrorCode.InternalError, 'Task cancelled or completed');
    const { timeout, signal } = options ?? {};
    const answer = await askRequestor(run, asked as unknown as StoredQuestion, { timeout, signal });
    const read = safeParse(schema, answer);
    if (!read.success) throw read.error;
    return read.data;
  };
  server.request = askOrRequest;

  // Work goes on without a connection: that nobody hears of it is no reason to fail.
  server.notification = async (said, options) => {
    if (said.method === 'notifications/tasks/status' && server.transport === undefined) return;
    await notification(said, options);
  };
}
