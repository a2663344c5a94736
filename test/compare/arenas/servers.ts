/** The scripted servers of the two MCP revisions, as one kind of thing; kept from run to run, because a start takes a second. */
import { DEFAULT_OPTIONS as DEFAULTS_2025 } from '../../kit/servers/mcp-2025-11-25/options.ts';
import { startScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import { DEFAULT_OPTIONS as DEFAULTS_2026 } from '../../kit/servers/mcp-2026-07-28/options.ts';
import { startScriptedServer2026 } from '../../kit/servers/mcp-2026-07-28.ts';
import type { Protocol, ServerStatus } from '../history.ts';
import type { Script, Work } from '../script.ts';

export type McpProtocol = Exclude<Protocol, 'aip-151'>;

export interface ServerTask {
  readonly taskId: string;
  readonly status: Exclude<ServerStatus, 'none' | 'gone'>;
  readonly ending:
    | { readonly result: Readonly<Record<string, unknown>> }
    | { readonly error: { readonly code: number; readonly message: string } }
    | null;
}

export interface ServerLog {
  readonly counts: Readonly<Record<string, number>>;
  readonly executions: number;
  readonly created: readonly string[];
  readonly requests: readonly { readonly meta: Readonly<Record<string, unknown>> }[];
  readonly answers: readonly unknown[];
}

type Command = Readonly<Record<string, unknown>>;
interface Running {
  readonly url: string;
  readonly port: number;
  control(command: Command): Promise<void>;
  log(): Promise<ServerLog>;
  tasks(): Promise<readonly ServerTask[]>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const START = { 'mcp-2025-11-25': startScriptedServer, 'mcp-2026-07-28': startScriptedServer2026 };

/** Both kinds take commands and show tasks that differ in what no script looks at. */
const start = (protocol: McpProtocol, port = 0): Promise<Running> =>
  START[protocol]({}, port) as unknown as Promise<Running>;

export class McpServer {
  #running: Running;
  /** What earlier lives of this server saw. */
  #before: ServerLog | null = null;
  #options: Command = {};

  private constructor(
    readonly protocol: McpProtocol,
    running: Running,
  ) {
    this.#running = running;
  }

  static async start(protocol: McpProtocol): Promise<McpServer> {
    return new McpServer(protocol, await start(protocol));
  }

  get url(): string {
    return this.#running.url;
  }

  /** For the next script: knows nothing of the last one. */
  async prepare(script: Script): Promise<void> {
    const keyed = script.offers === 'look-up';
    const { work = {}, cancelIs = 'obeyed' } = script;
    const both = { lookup: keyed, dedup: keyed };
    this.#options =
      this.protocol === 'mcp-2025-11-25'
        ? // As JSON, a lost answer breaks its connection; questions need an event stream.
          { ...DEFAULTS_2025, ...both, json: work.questions === undefined }
        : { ...DEFAULTS_2026, ...both, cancel: cancelIs === 'heard' ? 'ignore' : 'obey' };
    this.#before = null;
    await this.#running.control({ op: 'set', options: this.#options });
    await this.#running.control({ op: 'reset' });
  }

  /** `arguments.script` of its tools. */
  script({ ms = 150, outcome = 'complete', questions = 0, ...work }: Work): Command {
    const outcomes = { complete: 'complete', hold: 'hold', 'tool-error': 'isError', 'rpc-error': 'rpcError' };
    const common = { ms, outcome: outcomes[outcome], ...(work.badSchema ? { variant: 'badSchema' } : {}) };
    const pace = work.pollIntervalMs ?? 50;
    if (this.protocol === 'mcp-2025-11-25') {
      return { ...common, ask: questions, pollInterval: pace, ...(work.atOnce ? { ignoreTask: true } : {}) };
    }
    return {
      ...common,
      pollIntervalMs: pace,
      marked: !work.unmarked,
      ...(questions > 0 ? { ask: Array.from({ length: questions }, (_, nth) => [`key-${nth + 1}`]) } : {}),
      ...(work.lagMs === undefined ? {} : { lagMs: work.lagMs }),
      ...(work.atOnce ? { immediate: true } : {}),
    };
  }

  control(command: Command): Promise<void> {
    return this.#running.control(command);
  }

  tasks(): Promise<readonly ServerTask[]> {
    return this.#running.tasks();
  }

  async log(): Promise<ServerLog> {
    const now = await this.#running.log();
    return this.#before === null ? now : together(this.#before, now);
  }

  /** Killed, and started again on its port with empty hands. */
  async restart(): Promise<void> {
    this.#before = await this.log();
    const { port } = this.#running;
    await this.#running.kill();
    this.#running = await start(this.protocol, port);
    await this.#running.control({ op: 'set', options: this.#options });
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }
}

function together(before: ServerLog, now: ServerLog): ServerLog {
  const methods = [...new Set([...Object.keys(before.counts), ...Object.keys(now.counts)])];
  return {
    counts: Object.fromEntries(methods.map((one) => [one, (before.counts[one] ?? 0) + (now.counts[one] ?? 0)])),
    executions: before.executions + now.executions,
    created: [...before.created, ...now.created],
    requests: [...before.requests, ...now.requests],
    answers: [...before.answers, ...now.answers],
  };
}

/** Servers that are free now; started as they are needed, each for one run at a time. */
export class ServerPool {
  readonly #free: McpServer[] = [];
  readonly #all: McpServer[] = [];

  async take(protocol: McpProtocol): Promise<McpServer> {
    const nth = this.#free.findIndex((server) => server.protocol === protocol);
    const [known] = nth < 0 ? [] : this.#free.splice(nth, 1);
    if (known) return known;
    const server = await McpServer.start(protocol);
    this.#all.push(server);
    return server;
  }

  give(server: McpServer): void {
    this.#free.push(server);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((server) => server.stop().catch(() => undefined)));
  }
}
