/** A Redis, and server processes that adopted the half, started, killed and started again. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateTaskResultSchema,
  ElicitRequestSchema,
  GetTaskResultSchema,
  ResultSchema,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import { Redis } from 'ioredis';
import { digestOf, type Json } from '../../machines/digest.ts';
import { ExecutorProcess } from '../support/processes.ts';
import { startRedis } from '../support/redis.ts';
import { eventually } from '../support/rig.ts';
import type { ServerOrders } from './server-2025.ts';

const program2025 = fileURLToPath(new URL('./server-2025.ts', import.meta.url));

export interface ServerProcess {
  readonly url: string;
  signal(signal: NodeJS.Signals): void;
  kill(): Promise<void>;
}

export interface HalfRig {
  readonly redis: Redis;
  readonly redisUrl: string;
  /** The program is the server of 2025-11-25, unless told. */
  server(more?: Partial<ServerOrders>, program?: string): Promise<ServerProcess>;
  client(server: ServerProcess, principal?: string, options?: ClientOptions): Promise<HalfClient>;
  /** What the tools did, in `begun` or `done`. */
  count(list: 'begun' | 'done' | 'stopped', entry: string): Promise<number>;
  release(label: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface ClientOptions {
  /** Answers a question, or never. Default: never. */
  readonly elicit?: (message: string) => Promise<{ action: 'accept'; content: { word: string } }>;
}

export async function startHalfRig(): Promise<HalfRig> {
  const server = await startRedis();
  const redis = new Redis(server.url, { protocol: 2 });
  const processes: ExecutorProcess[] = [];
  const clients: HalfClient[] = [];
  return {
    redis,
    redisUrl: server.url,
    async server(more = {}, program = program2025) {
      const orders: ServerOrders = { redis: server.url, port: 0, heartbeatMs: 900, retentionMs: 60_000, ...more };
      const started = new ExecutorProcess(orders, program);
      processes.push(started);
      const { url } = await started.line((line) => typeof line.url === 'string');
      return { url: url as string, signal: (name) => started.signal(name), kill: () => started.kill() };
    },
    async client(at, principal = 'alice', options = {}) {
      const client = await HalfClient.connect(at.url, principal, options);
      clients.push(client);
      return client;
    },
    async count(list, entry) {
      return (await redis.lrange(list, 0, -1)).filter((line) => line === entry).length;
    },
    release: (label) => redis.set(`release:${label}`, '1'),
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await Promise.all(processes.map((started) => started.kill()));
      redis.disconnect();
      await server.stop();
    },
  };
}

/** A client of the official SDK, with the words of this project. */
export class HalfClient {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  readonly questions: string[] = [];

  static async connect(url: string, principal: string, options: ClientOptions): Promise<HalfClient> {
    const made = new HalfClient(url, principal, options);
    await made.client.connect(made.transport as Transport);
    return made;
  }

  constructor(url: string, principal: string, { elicit = () => new Promise(() => undefined) }: ClientOptions) {
    this.client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {} }, tasks: { requests: { elicitation: { create: {} } } } } },
    );
    this.client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      this.questions.push(params.message);
      return elicit(params.message);
    });
    this.transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${principal}` } },
    });
  }

  /** Submits a call as a task, under the key (if one is given) and for the request that the key's digest is about. */
  async submit(tool: string, args: Json, mark?: Mark): Promise<Task> {
    const params = { name: tool, arguments: args, task: {}, ...(mark === undefined ? {} : { _meta: metaOf(mark) }) };
    const { task } = await this.client.request(
      { method: 'tools/call', params: params as unknown as { name: string } },
      CreateTaskResultSchema,
    );
    return task;
  }

  call(tool: string, args: Json, mark: Mark): Promise<Record<string, unknown>> {
    const params = { name: tool, arguments: args, _meta: metaOf(mark) };
    return this.client.request({ method: 'tools/call', params: params as unknown as { name: string } }, ResultSchema);
  }

  lookup(mark: Mark): Promise<Record<string, unknown>> {
    const { key, attempt: throughAttempt, digest: requestDigest, principal } = mark;
    const params = { key, throughAttempt, requestDigest, principal };
    return this.request('dev.toolop/lookup', params);
  }

  request(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.client.request({ method, params } as unknown as { method: 'ping' }, ResultSchema);
  }

  get(taskId: string): Promise<Task> {
    return this.client.request({ method: 'tasks/get', params: { taskId } }, GetTaskResultSchema);
  }

  result(taskId: string): Promise<Record<string, unknown>> {
    return this.request('tasks/result', { taskId });
  }

  until(taskId: string, status: Task['status']): Promise<Task> {
    return eventually(async () => {
      const task = await this.get(taskId);
      return task.status === status ? task : null;
    });
  }

  async close(): Promise<void> {
    await this.client.close().catch(() => undefined);
  }
}

export interface Mark {
  readonly key: string;
  readonly attempt: number;
  readonly digest: string;
  readonly principal: string;
}

let marks = 0;
export function newMark(more: Partial<Mark> = {}): Mark {
  const key = digestOf(`${process.pid} ${marks++}`);
  return { key, attempt: 1, digest: digestOf('a request'), principal: 'node-1', ...more };
}

export function metaOf(mark: Mark): Record<string, unknown> {
  return {
    'dev.toolop/submission-key': mark.key,
    'dev.toolop/attempt': mark.attempt,
    'dev.toolop/request-digest': mark.digest,
    'dev.toolop/principal': mark.principal,
  };
}

export function textOf(result: Record<string, unknown>): string {
  const [first] = result.content as { text: string }[];
  return first?.text ?? '';
}
