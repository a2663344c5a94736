import type { CreateTaskOptions, TaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js';
import { ErrorCode, McpError, type Request, type Result, type Task } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../../machines/digest.ts';
import { type Ending, isTerminal, type TaskRecord } from '../../mcp/server/record.ts';
import type { ServerStore } from '../../mcp/server/store.ts';
import type { Workers } from '../../mcp/server/workers.ts';
import { currentVisit } from './visit.ts';

/** A `Task` of 2025-11-25. */
export function wireTask(task: TaskRecord): Task {
  return {
    taskId: task.taskId,
    status: task.status,
    ...(task.message === null ? {} : { statusMessage: task.message }),
    createdAt: task.createdAt,
    lastUpdatedAt: task.updatedAt,
    ttl: task.ttlMs,
    pollInterval: task.pollMs,
  };
}

/**
 * The SDK's task store on Redis. A task is its principal's: any session of that principal may read it, for everybody else
 * it is unknown. The first end of a task stays: what a tool stores afterwards is noted and changes nothing.
 */
export class RedisTaskStore implements TaskStore {
  readonly #store: ServerStore;
  readonly #workers: Workers;
  readonly #isResumable: (tool: string) => boolean;

  constructor(store: ServerStore, workers: Workers, isResumable: (tool: string) => boolean) {
    this.#store = store;
    this.#workers = workers;
    this.#isResumable = isResumable;
  }

  async createTask(wishes: CreateTaskOptions, _requestId: unknown, request: Request): Promise<Task> {
    const current = currentVisit();
    const { reserved, owner } = current;
    if (reserved !== null) {
      current.reserved = null;
      // Made with its submission key already; only the tool knows how long its results are worth keeping.
      await this.#store.note(reserved, {
        ...(typeof wishes.ttl === 'number' ? { ttlMs: wishes.ttl } : {}),
        ...(wishes.pollInterval === undefined ? {} : { pollMs: wishes.pollInterval }),
      });
      return this.#owned(reserved.taskId);
    }
    const name: unknown = request.params?.name;
    const tool = typeof name === 'string' ? name : request.method;
    const made = await this.#store.submit(
      {
        ...{ owner, tool, request: request as unknown as Json, resumable: this.#isResumable(tool) },
        ttlMs: wishes.ttl ?? null,
        pollMs: wishes.pollInterval ?? null,
      },
      this.#workers.id,
      null,
    );
    if (made.kind !== 'created') throw new McpError(ErrorCode.InternalError, 'The task was taken over before it began');
    this.#workers.begin(made.task);
    return wireTask(made.task);
  }

  async getTask(taskId: string): Promise<Task | null> {
    const task = await this.#store.readFor(taskId, currentVisit().owner);
    return task === null ? null : wireTask(task);
  }

  async storeTaskResult(taskId: string, status: 'completed' | 'failed', result: Result): Promise<void> {
    const task = await this.#record(taskId);
    await this.#workers.end(this.#mine(task), status, null, { kind: 'result', value: result });
  }

  async getTaskResult(taskId: string): Promise<Result> {
    const task = await this.#record(taskId);
    return resultOf(task);
  }

  async updateTaskStatus(taskId: string, status: Task['status'], statusMessage?: string): Promise<void> {
    const task = await this.#record(taskId);
    if (status === 'cancelled') {
      const step = await this.#store.finish(task, null, 'cancelled', statusMessage ?? null, null);
      // B9: whoever comes second is refused, and reads what the task ended with.
      if (step !== 'done') throw new McpError(ErrorCode.InvalidParams, 'The task has ended already');
    } else if (isTerminal(status)) {
      await this.#workers.end(this.#mine(task), status, statusMessage ?? null, null);
    } else {
      await this.#store.note(this.#mine(task), {
        status,
        ...(statusMessage === undefined ? {} : { message: statusMessage }),
      });
    }
  }

  /** Not declared: whoever lost an id asks by submission key. */
  async listTasks(): Promise<never> {
    throw new Error('this server does not offer lists of tasks');
  }

  async #record(taskId: string): Promise<TaskRecord> {
    const task = await this.#store.readFor(taskId, currentVisit().owner);
    if (task === null) throw new McpError(ErrorCode.InvalidParams, 'Task not found');
    return task;
  }

  async #owned(taskId: string): Promise<Task> {
    return wireTask(await this.#record(taskId));
  }

  /** The run of this process; a process that was taken for dead must not speak for the one that took over. */
  #mine(task: TaskRecord): TaskRecord {
    return this.#workers.get(task.taskId)?.task ?? { ...task, worker: this.#workers.id };
  }
}

/** What `tasks/result` answers: the result, or the JSON-RPC error that the call ended with. */
export function resultOf(task: TaskRecord): Result {
  const ending: Ending | null = task.ending;
  if (ending?.kind === 'result') return ending.value as Result;
  const said = ending?.value ?? {
    code: ErrorCode.InternalError,
    message: `The task is ${task.status}: it has no result`,
  };
  throw Object.assign(new Error(said.message), { code: said.code, data: said.data });
}
