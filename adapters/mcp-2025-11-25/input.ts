import { ElicitRequestFormParamsSchema, type JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../machines/digest.ts';
import type {
  InputChannel,
  InputChannelEvents,
  InputReply,
  InputRequest,
  Payload,
  TaskRef,
} from '../../machines/operation-protocol.ts';
import { INVALID_PARAMS } from '../mcp/classify.ts';
import type { SessionContext } from '../mcp/context.ts';
import { META_RELATED_TASK } from '../mcp/names.ts';
import type { Settings } from '../mcp/options.ts';
import { readAs } from '../mcp/read-as.ts';
import { type Connection, describe } from '../mcp/rpc/connection.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { outcomeOf } from './result.ts';

/** A question is for a human, is kept in the ledger, and many may wait. */
const MAX_QUESTION_CHARS = 1_000_000;

/** A question that the server asked and nobody answered yet. Its id is good on this connection only. */
interface Prompt {
  readonly id: string | number;
  readonly taskId: string;
  readonly request: InputRequest;
}

interface OpenChannel {
  readonly events: InputChannelEvents;
  shown: Prompt | null;
  /** An answer is on its way: one question is answered at most once (B7). */
  delivering: boolean;
  end(reason: string | null, payload?: Payload): void;
}

/**
 * The questions of one session, sorted by task (B7; design sections 5 and 7). Servers deliver a question once and only
 * while `tasks/result` is open, so one that comes while nobody listens, or that was shown and not answered, is kept
 * for the next channel of its task.
 */
export class InputHub {
  readonly #context: SessionContext;
  readonly #connection: Connection;
  readonly #settings: Settings;
  readonly #channels = new Map<string, OpenChannel>();
  /** Tasks whose `tasks/result` is open, and who was the last to listen. */
  readonly #held = new Map<string, InputChannelEvents>();
  #prompts: Prompt[] = [];

  constructor(context: SessionContext) {
    const { connection, settings } = context;
    this.#context = context;
    this.#connection = connection;
    this.#settings = settings;
    connection.peer = { request: (request) => this.#asked(request), cancelled: (id) => this.#remove(id) };
  }

  open(task: TaskRef, events: InputChannelEvents): InputChannel {
    const { taskId } = task;
    this.#channels.get(taskId)?.end('another channel was opened for the task');
    const channel: OpenChannel = {
      events,
      shown: null,
      delivering: false,
      end: (reason, payload) => {
        if (this.#channels.get(taskId) !== channel) return;
        this.#channels.delete(taskId);
        if (reason !== null) events.closed(reason, payload);
      },
    };
    this.#channels.set(taskId, channel);
    const held = this.#held.has(taskId);
    this.#held.set(taskId, events);
    if (!held) void this.#hold(task);
    queueMicrotask(() => this.#show(taskId));
    return { deliver: (reply) => this.#deliver(taskId, channel, reply), close: () => channel.end(null) };
  }

  /**
   * Keeps `tasks/result` open until the task ends or the session is closed, also while no channel listens: the official
   * SDK's server goes on serving a request whose reader left, and would give it (and so nobody) the next question.
   * What it is answered with is the task's result, and may not be had a second time: it is told also to who left.
   */
  async #hold(task: TaskRef): Promise<void> {
    const { taskId } = task;
    const reply = await this.#connection.request('tasks/result', { taskId }, { timeoutMs: null });
    // The task is terminal or unknown: nobody waits for its questions any more. Another error may pass.
    if (reply.kind === 'result' || (reply.kind === 'error' && reply.code === INVALID_PARAMS)) {
      this.#prompts = this.#prompts.filter((prompt) => prompt.taskId !== taskId);
    }
    const { reason, payload } = await this.#ending(task, reply);
    const last = this.#held.get(taskId);
    this.#held.delete(taskId);
    const channel = this.#channels.get(taskId);
    if (channel !== undefined) channel.end(reason, payload);
    else if (payload !== undefined) last?.closed(reason, payload);
  }

  /** How the channel ended, and with what: taken as the result only under the rules of a fetched one (B11). */
  async #ending(task: TaskRef, reply: Reply): Promise<{ reason: string; payload?: Payload }> {
    if (reply.kind !== 'result' && reply.kind !== 'error') return { reason: describe(reply) };
    const said = reply.kind === 'result' ? 'the task has a result' : describe(reply);
    if (reply.kind === 'error' && reply.code === INVALID_PARAMS) return { reason: said };
    // An error is an outcome if the task failed: asked for as such, and so read a second time with its status.
    // What cannot be checked (nested too deep for it, say) is no payload, and no reason to leave the channel without its end.
    const outcome = await outcomeOf(this.#context, task, 'failed', reply).catch((error: Error) => ({
      kind: 'invalid' as const,
      reason: `it cannot be checked: ${error.message}`,
    }));
    if (outcome.kind === 'result') return { reason: said, payload: outcome.payload };
    return { reason: reply.kind === 'error' ? said : `${said}: ${outcome.reason}` };
  }

  #asked(request: JSONRPCRequest): boolean {
    if (request.method !== 'elicitation/create') return false;
    const meta = request.params?._meta;
    const related: unknown = meta?.[META_RELATED_TASK];
    const taskId: unknown =
      typeof related === 'object' && related !== null ? Reflect.get(related, 'taskId') : undefined;
    const form = readAs(ElicitRequestFormParamsSchema, request.params);
    if (typeof taskId !== 'string' || form === null) {
      this.#refuse(request.id, -32602, 'Only form elicitation that is related to a task is supported');
    } else if (JSON.stringify(request.params).length > MAX_QUESTION_CHARS) {
      this.#refuse(request.id, -32602, 'The question is too large');
    } else if (this.#prompts.some((prompt) => prompt.id === request.id)) {
      // A resumed stream may bring the same question again.
    } else if (this.#prompts.length >= this.#settings.maxQueuedPrompts) {
      this.#refuse(request.id, -32603, 'Too many open questions');
    } else {
      const schema = (request.params?.requestedSchema ?? {}) as Json;
      this.#prompts.push({ id: request.id, taskId, request: { message: form.message, schema } });
      this.#show(taskId);
    }
    return true;
  }

  /** Shows the oldest question of a task, if a channel is open and shows none. */
  #show(taskId: string): void {
    const channel = this.#channels.get(taskId);
    if (channel === undefined || channel.shown !== null) return;
    const prompt = this.#prompts.find((candidate) => candidate.taskId === taskId);
    if (prompt === undefined) return;
    channel.shown = prompt;
    channel.events.request(prompt.request);
  }

  async #deliver(taskId: string, channel: OpenChannel, reply: InputReply): Promise<boolean> {
    const prompt = channel.shown;
    const stale = this.#channels.get(taskId) !== channel || prompt === null || !this.#prompts.includes(prompt);
    if (stale || channel.delivering) return false;
    channel.delivering = true;
    const result = { ...reply, _meta: { [META_RELATED_TASK]: { taskId } } };
    // If this rejects, the question stays: it is shown again on the next channel, as "possibly a repeat".
    const taken = await this.#connection.respond(prompt.id, { result }, this.#settings.requestTimeoutMs).finally(() => {
      channel.delivering = false;
    });
    if (!taken) return false;
    this.#remove(prompt.id);
    return true;
  }

  #remove(id: string | number): void {
    const prompt = this.#prompts.find((candidate) => candidate.id === id);
    if (prompt === undefined) return;
    this.#prompts = this.#prompts.filter((candidate) => candidate !== prompt);
    const channel = this.#channels.get(prompt.taskId);
    if (channel?.shown === prompt) channel.shown = null;
    this.#show(prompt.taskId);
  }

  #refuse(id: string | number, code: number, message: string): void {
    this.#connection.answer(id, { error: { code, message } });
  }
}
