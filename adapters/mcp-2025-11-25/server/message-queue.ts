import type { QueuedMessage, TaskMessageQueue } from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js';
import { ErrorCode, type JSONRPCRequest, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../../machines/digest.ts';
import { META_RELATED_TASK } from '../../mcp/names.ts';
import { isTerminal } from '../../mcp/server/record.ts';
import type { ServerStore } from '../../mcp/server/store.ts';
import { currentVisit } from './visit.ts';

const MAX_WAITING = 1_000;
const PREFIX = 'toolop/';

/** A question of a task, as it is kept: a request without an id. */
export type StoredQuestion = { readonly method: string; readonly params: { readonly [key: string]: Json } };

/** Names a question on every connection: the answer may come on another one, to another process. */
export function questionId(taskId: string, key: string): string {
  return `${PREFIX}${taskId}/${key}`;
}

export function questionNamed(id: unknown): { readonly taskId: string; readonly key: string } | null {
  if (typeof id !== 'string' || !id.startsWith(PREFIX)) return null;
  const [taskId = '', key = ''] = id.slice(PREFIX.length).split('/');
  return { taskId, key };
}

/**
 * What is delivered on `tasks/result`. A question stays until it is answered and is written once to every reader, so that
 * one that was handed to a connection that died is asked again on the next one. Other messages are delivered once.
 */
export class RedisTaskMessageQueue implements TaskMessageQueue {
  readonly #store: ServerStore;

  constructor(store: ServerStore) {
    this.#store = store;
  }

  async enqueue(taskId: string, message: QueuedMessage, _sessionId?: string, maxSize = MAX_WAITING): Promise<void> {
    const sent = await this.#store.send(taskId, message as unknown as Json, maxSize);
    if (sent === 'full') throw new Error(`Task message queue overflow: more than ${maxSize} messages wait`);
    if (sent !== 'done') throw new McpError(ErrorCode.InvalidParams, 'Task not found');
  }

  async dequeue(taskId: string): Promise<QueuedMessage | undefined> {
    const { owner, handed } = currentVisit();
    const task = await this.#store.readFor(taskId, owner);
    if (task === null) return undefined;
    if (!isTerminal(task.status)) {
      const { asked, answers } = await this.#store.questions(taskId);
      const key = Object.keys(asked).find((candidate) => !Object.hasOwn(answers, candidate) && !handed.has(candidate));
      if (key !== undefined) {
        handed.add(key);
        return {
          type: 'request',
          timestamp: Date.now(),
          message: requestOf(taskId, key, asked[key] as StoredQuestion),
        };
      }
    }
    const [message] = await this.#store.receive(taskId, 1);
    return message as QueuedMessage | undefined;
  }

  /** Never rejects: the SDK clears a queue without waiting for it, so a Redis that is away would end the process. */
  async dequeueAll(taskId: string): Promise<QueuedMessage[]> {
    try {
      const task = await this.#store.readFor(taskId, currentVisit().owner);
      return task === null ? [] : ((await this.#store.receive(taskId, MAX_WAITING)) as QueuedMessage[]);
    } catch (error) {
      // What is left there goes with its task.
      this.#store.settings.onError(error as Error);
      return [];
    }
  }
}

function requestOf(taskId: string, key: string, { method, params }: StoredQuestion): JSONRPCRequest {
  const _meta = { ...(params._meta as object | undefined), [META_RELATED_TASK]: { taskId } };
  return { jsonrpc: '2.0', id: questionId(taskId, key), method, params: { ...params, _meta } };
}
