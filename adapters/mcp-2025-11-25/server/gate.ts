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
import { isTerminal, type TaskRecord } from '../../mcp/server/record.ts';
import type { ServerStore } from '../../mcp/server/store.ts';
import { lookupMark, type SubmissionMark, submissionMark } from '../../mcp/server/submission.ts';
import type { Workers } from '../../mcp/server/workers.ts';
import { questionNamed } from './message-queue.ts';
import { resultOf, wireTask } from './task-store.ts';
import { visit } from './visit.ts';

const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

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
    if (task !== undefined) await this.#settle(task, message as Response);
    await this.#inner.send(message, options).finally(() => {
      if (task === undefined) return;
      this.#calls.delete((message as Response).id as RequestId);
      this.#closeWhenIdle();
    });
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
      if (message.method === METHOD_LOOKUP) return this.#lookUp(message, owner);
      const mark = message.method === 'tools/call' ? submissionMark(message.params?._meta) : 'none';
      if (mark === 'malformed') return this.#refuse(message.id, INVALID_PARAMS, 'The submission key is incomplete');
      if (mark !== 'none') return this.#call(message, mark, owner, extra);
    } else if (message.method === 'notifications/cancelled' && this.#calls.has(idIn(message.params))) {
      // B14: who stops waiting for a call with a key does not cancel it; what it ends with is kept.
      return;
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
    const ended = await store.changes.until(taskId, async () => {
      const task = await store.readFor(taskId, owner);
      return task === null || isTerminal(task.status) ? { task } : null;
    });
    if (ended.task === null) return this.#refuse(id, INVALID_PARAMS, gone);
    return this.#answer(id, resultOf(ended.task));
  }

  async #lookUp({ id, params }: JSONRPCRequest, owner: string): Promise<void> {
    const mark = lookupMark(params);
    if (mark === null) return this.#refuse(id, INVALID_PARAMS, 'Not the parameters of a look-up');
    const looked = await this.#parts.store.lookup(mark, owner);
    switch (looked.kind) {
      case 'refused':
        return this.#refuse(id, INVALID_PARAMS, 'The submission key belongs to another call');
      case 'found':
        return this.#answer(id, { found: wireTask(looked.task) });
      case 'neverCreated':
        return this.#answer(id, { neverCreated: true, closedThroughAttempt: looked.closedThroughAttempt });
      case 'expiredWithReceipt': {
        const { taskId, createdAt, status } = looked;
        return this.#answer(id, { expiredWithReceipt: { taskId, createdAt, status } });
      }
    }
  }

  /** Keeps what a call was answered with, unless that is its task: then the answer is not the end. */
  async #settle(task: TaskRecord, response: Response): Promise<void> {
    const { store, workers } = this.#parts;
    if ('result' in response && field(response.result.task, 'taskId') === task.taskId) return;
    const now = await store.read(task.taskId).catch(() => task);
    if (now === null || isTerminal(now.status)) return;
    if ('error' in response) {
      const { code, message, data } = response.error;
      const value = { code, message, ...(data === undefined ? {} : { data }) };
      await workers.end(task, 'failed', null, { kind: 'error', value });
    } else {
      const status = response.result.isError === true ? 'failed' : 'completed';
      await workers.end(task, status, null, { kind: 'result', value: response.result });
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
    return this.#inner.send({ jsonrpc: '2.0', id, result });
  }

  #refuse(id: RequestId, code: number, message: string, data?: object): Promise<void> {
    return this.#inner.send({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }

  async #broken(message: JSONRPCMessage, error: Error): Promise<void> {
    this.onerror?.(error);
    if (!('method' in message) || !('id' in message)) return;
    const code: unknown = Reflect.get(error, 'code');
    const data: unknown = Reflect.get(error, 'data');
    await this.#refuse(
      message.id,
      Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
      error.message,
      typeof data === 'object' && data !== null ? data : undefined,
    ).catch(() => undefined);
  }

  /** The SDK stops every tool when its transport closes: it hears of that when no call with a key is left (B14). */
  #closeWhenIdle(): void {
    if (this.#isClosed && this.#calls.size === 0) this.onclose?.();
  }
}

function idIn(params: unknown): RequestId {
  const id = field(params, 'requestId');
  return typeof id === 'string' || typeof id === 'number' ? id : '';
}
