import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResultResponse,
  MessageExtraInfo,
  RequestId,
  Result,
} from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../../machines/digest.ts';
import { INVALID_PARAMS } from '../../mcp/classify.ts';
import { field } from '../../mcp/fields.ts';
import { METHOD_LOOKUP } from '../../mcp/names.ts';
import { type Ending, INTERNAL_ERROR, isTerminal, type TaskRecord, type Terminal } from '../../mcp/server/record.ts';
import type { ServerStore } from '../../mcp/server/store.ts';
import { lookupMark, type SubmissionMark, submissionMark } from '../../mcp/server/submission.ts';
import type { Workers } from '../../mcp/server/workers.ts';
import { questionNamed } from './message-queue.ts';
import { resultOf, wireTask } from './task-store.ts';
import { visit } from './visit.ts';

const INVALID_REQUEST = -32600;

export interface GateParts {
  readonly store: ServerStore;
  readonly workers: Workers;
  readonly isResumable: (tool: string) => boolean;
  readonly principalOf: (request: MessageExtraInfo | undefined) => string;
}

type Received = (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
type Response = JSONRPCResultResponse | JSONRPCErrorResponse;

/**
 * Stands between a transport and the SDK's server. It says who is asking, makes the task of a call with a submission key
 * before the tool hears of it, answers look-ups, and takes the answers to questions that another connection asked.
 */
export class Gate implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Received;
  readonly #inner: Transport;
  readonly #parts: GateParts;
  /** Requests that are not answered yet: an answer is told by its id alone. */
  readonly #open = new Set<RequestId>();
  /** Calls with a submission key whose tool has not answered yet. */
  readonly #calls = new Map<RequestId, TaskRecord>();
  #isClosed = false;

  constructor(inner: Transport, parts: GateParts) {
    this.#inner = inner;
    this.#parts = parts;
    const { onclose, onerror } = inner;
    inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      this.#receive(message, extra).catch((error: Error) => this.#broken(message, error));
    };
    inner.onclose = () => {
      onclose?.();
      this.#isClosed = true;
      this.#closeWhenIdle();
    };
    inner.onerror = (error) => {
      onerror?.(error);
      this.onerror?.(error);
    };
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion = (version: string): void => this.#inner.setProtocolVersion?.(version);

  start(): Promise<void> {
    return this.#inner.start();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const task = 'method' in message ? undefined : this.#calls.get(message.id as RequestId);
    if (!('method' in message)) this.#open.delete(message.id as RequestId);
    if (task === undefined) return this.#inner.send(message, options);
    try {
      await this.#inner.send(await this.#settled(task, message as Response), options);
    } finally {
      this.#calls.delete((message as Response).id as RequestId);
      this.#closeWhenIdle();
    }
  }

  async #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): Promise<void> {
    const owner = this.#ownerOf(extra);
    if (owner === null) {
      if ('method' in message && 'id' in message)
        await this.#refuse(
          message.id,
          INVALID_REQUEST,
          'No principal: the server did not learn from credentials whose request this is',
        );
      return;
    }
    if (!('method' in message)) {
      if (await this.#answered(message as Response, owner)) return;
    } else if ('id' in message) {
      // With two of one id, a key would get what another request was answered with.
      if (this.#open.has(message.id)) {
        return this.#inner.send(errorTo(message.id, INVALID_REQUEST, 'The id of this request is in use'));
      }
      this.#open.add(message.id);
      if (message.method === METHOD_LOOKUP) return this.#lookUp(message, owner);
      const mark = message.method === 'tools/call' ? submissionMark(message.params?._meta) : 'none';
      if (mark === 'malformed') return this.#refuse(message.id, INVALID_PARAMS, 'The submission key is incomplete');
      if (mark !== 'none') return this.#call(message, mark, owner, extra);
    } else if (message.method === 'notifications/cancelled' && this.#calls.has(idIn(message.params))) {
      // B14: who stops waiting for a call with a key does not cancel it; what it ends with is kept.
      return;
    } else if (message.method === 'notifications/cancelled') {
      // Such a request is not answered any more.
      this.#open.delete(idIn(message.params));
    }
    this.#pass(message, extra, owner, null);
  }

  #pass(message: JSONRPCMessage, extra: MessageExtraInfo | undefined, owner: string, task: TaskRecord | null): void {
    visit(owner, task, () => this.onmessage?.(message, extra));
  }

  /** A call with a submission key (B4): one key, one task, however often it is sent. */
  async #call(
    request: JSONRPCRequest,
    mark: SubmissionMark,
    owner: string,
    extra: MessageExtraInfo | undefined,
  ): Promise<void> {
    const { store, workers, isResumable } = this.#parts;
    const params = request.params ?? {};
    const tool = String(params.name);
    const ttl = field(params.task, 'ttl');
    const submitted = await store.submit(
      {
        ...{ owner, tool, request: { method: request.method, params } as Json, resumable: isResumable(tool) },
        ...{ ttlMs: typeof ttl === 'number' ? ttl : null, pollMs: null },
      },
      workers.id,
      mark,
    );
    switch (submitted.kind) {
      case 'refused':
        return this.#refuse(request.id, INVALID_PARAMS, 'The submission key belongs to another call');
      case 'closed':
        return this.#refuse(request.id, INVALID_PARAMS, 'This attempt was closed by a look-up', {
          closedThroughAttempt: submitted.throughAttempt,
        });
      case 'exists':
        return this.#repeat(request.id, submitted.taskId, owner, params.task !== undefined);
      case 'created':
        workers.begin(submitted.task);
        this.#calls.set(request.id, submitted.task);
        this.#pass(request, extra, owner, submitted.task);
    }
  }

  /** The same call once more: what it made the first time is the answer. */
  async #repeat(id: RequestId, taskId: string, owner: string, asTask: boolean): Promise<void> {
    const { store } = this.#parts;
    const gone = 'The task of this submission key has expired';
    if (asTask) {
      const task = await store.readFor(taskId, owner);
      return task === null ? this.#refuse(id, INVALID_PARAMS, gone) : this.#answer(id, { task: wireTask(task) });
    }
    const ended = await this.#end(taskId);
    return ended === null ? this.#refuse(id, INVALID_PARAMS, gone) : this.#answer(id, resultOf(ended));
  }

  /** Waits for the end of a task; `null`: it is gone. */
  async #end(taskId: string): Promise<TaskRecord | null> {
    const { store } = this.#parts;
    const { task } = await store.changes.until(taskId, async () => {
      const now = await store.read(taskId);
      return now === null || isTerminal(now.status) ? { task: now } : null;
    });
    return task;
  }

  async #lookUp({ id, params }: JSONRPCRequest, owner: string): Promise<void> {
    const mark = lookupMark(params);
    if (mark === null) return this.#refuse(id, INVALID_PARAMS, 'Not the parameters of a look-up');
    const looked = await this.#parts.store.lookup(mark, owner);
    switch (looked.kind) {
      case 'refused':
        return this.#refuse(id, INVALID_PARAMS, 'The submission key belongs to another call');
      case 'found':
        return this.#answer(id, foundOf(looked.task));
      case 'neverCreated':
        return this.#answer(id, { neverCreated: true, closedThroughAttempt: looked.closedThroughAttempt });
      case 'expiredWithReceipt': {
        const { taskId, createdAt, status } = looked;
        return this.#answer(id, { expiredWithReceipt: { taskId, createdAt, status } });
      }
    }
  }

  /**
   * Keeps what a call was answered with, unless that is its task: then the answer is not the end. If the task has ended
   * otherwise, or is another run's by now, what is kept is the answer: one key never has two.
   */
  async #settled(task: TaskRecord, response: Response): Promise<Response> {
    const { store, workers } = this.#parts;
    if ('result' in response && field(response.result.task, 'taskId') === task.taskId) return response;
    const now = await store.read(task.taskId).catch(() => task);
    if (now === null || !isTerminal(now.status)) {
      const [status, ending] = endOf(response);
      if ((await workers.end(task, status, null, ending)) === 'done') return response;
    }
    const kept = await this.#end(task.taskId);
    const ownEnd = kept?.worker === task.worker && kept.run === task.run && kept.status !== 'cancelled';
    if (kept === null || ownEnd) return response;
    const { id } = response as { id: RequestId };
    try {
      return { jsonrpc: '2.0', id, result: resultOf(kept) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: errorOf(error as Error) };
    }
  }

  /** Is it the answer to a kept question? */
  async #answered(response: Response, owner: string): Promise<boolean> {
    const question = questionNamed(response.id);
    if (question === null) return false;
    const task = await this.#parts.store.readFor(question.taskId, owner);
    if (task !== null) {
      const answer = 'error' in response ? { error: response.error } : { result: response.result };
      await this.#parts.store.answer(task.taskId, question.key, answer as unknown as Json);
    }
    return true;
  }

  #ownerOf(extra: MessageExtraInfo | undefined): string | null {
    try {
      const owner = this.#parts.principalOf(extra);
      return typeof owner === 'string' && owner !== '' ? owner : null;
    } catch {
      return null;
    }
  }

  #answer(id: RequestId, result: Result): Promise<void> {
    return this.#respond({ jsonrpc: '2.0', id, result });
  }

  #refuse(id: RequestId, code: number, message: string, data?: object): Promise<void> {
    return this.#respond(errorTo(id, code, message, data));
  }

  /** What is answered here, and not by the SDK. */
  #respond(response: Response): Promise<void> {
    this.#open.delete(response.id as RequestId);
    return this.#inner.send(response);
  }

  async #broken(message: JSONRPCMessage, error: Error): Promise<void> {
    this.onerror?.(error);
    if (!('method' in message) || !('id' in message)) return;
    await this.#respond({ jsonrpc: '2.0', id: message.id, error: errorOf(error) }).catch(() => undefined);
  }

  /** The SDK stops every tool when its transport closes: it hears of that when no call with a key is left (B14). */
  #closeWhenIdle(): void {
    if (this.#isClosed && this.#calls.size === 0) this.onclose?.();
  }
}

/** A call without a task has nothing that could be followed: once it has ended, what is kept of it is its receipt. */
function foundOf(task: TaskRecord): Result {
  const { taskId, createdAt, status, ending, request } = task;
  if (!isTerminal(status) || field(field(request, 'params'), 'task') !== undefined) return { found: wireTask(task) };
  const result = ending?.kind === 'result' ? { result: ending.value } : {};
  return { expiredWithReceipt: { taskId, createdAt, status, ...result } };
}

/** What an answer says of the end of its call. */
function endOf(response: Response): [Terminal, Ending] {
  if ('error' in response) {
    const { code, message, data } = response.error;
    return ['failed', { kind: 'error', value: { code, message, ...(data === undefined ? {} : { data }) } }];
  }
  const { result } = response;
  return [result.isError === true ? 'failed' : 'completed', { kind: 'result', value: result }];
}

function errorTo(id: RequestId, code: number, message: string, data?: object): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function errorOf(error: Error): JSONRPCErrorResponse['error'] {
  const code: unknown = Reflect.get(error, 'code');
  const data: unknown = Reflect.get(error, 'data');
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
    message: error.message,
    ...(typeof data === 'object' && data !== null ? { data } : {}),
  };
}

function idIn(params: unknown): RequestId {
  const id = field(params, 'requestId');
  return typeof id === 'string' || typeof id === 'number' ? id : '';
}
