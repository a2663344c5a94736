import { randomInt } from 'node:crypto';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { isJSONRPCErrorResponse, isJSONRPCRequest, isJSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';
import { jsonProblem } from '../../../machines/digest.ts';
import type { TraceContext } from '../../../machines/telemetry/trace-context.ts';
import { Call, type CallOptions, errorCode } from './call.ts';
import { currentExchange } from './exchange.ts';
import type { Reply } from './reply.ts';
import { requestOf } from './traced.ts';

/** How many answers that nobody waits for may be on their way at once: a server that asks faster than it reads gets none. */
const MAX_ANSWERS_UNDER_WAY = 64;
const ANSWER_MS = 10_000;

/** What a server asks of us. `false`: not ours, to be answered with "method not found". */
export interface PeerHandlers {
  request(request: JSONRPCRequest): boolean;
  cancelled(requestId: string | number): void;
  /** Any other notification. */
  notified?(method: string, params: Readonly<Record<string, unknown>>): void;
}

export interface ConnectionOptions {
  readonly overHttp: boolean;
  readonly graceMs: number;
  /** What every request says in its `_meta`, on a revision on which each speaks for itself. */
  readonly envelope?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * JSON-RPC over one of the SDK's transports, without the SDK's `Client`: that one answers a local timeout with
 * `notifications/cancelled` (B14), throws late answers away and cannot say whether a request was written.
 */
export class Connection {
  readonly #calls = new Map<number, Call>();
  readonly #transport: Transport;
  readonly #overHttp: boolean;
  readonly #graceMs: number;
  readonly #envelope: ConnectionOptions['envelope'];
  readonly #goneListeners: ((reason: string) => void)[] = [];
  /**
   * Executors resume one another's sessions, and a server keeps its requests apart by session and id: with small numbers an
   * answer would go to whoever asked last under the same one.
   */
  #nextId = randomInt(2 ** 47);
  #closed = false;
  #answersUnderWay = 0;
  #gone: string | null = null;
  #peer: PeerHandlers = { request: () => false, cancelled: () => undefined };

  constructor(transport: Transport, options: ConnectionOptions) {
    this.#transport = transport;
    this.#overHttp = options.overHttp;
    this.#graceMs = options.graceMs;
    this.#envelope = options.envelope;
    transport.onmessage = (message: JSONRPCMessage) => this.#receive(message);
    transport.onclose = () => this.#ended('the server ended the connection');
    transport.onerror = (error) => this.#failed(error);
  }

  async start(): Promise<void> {
    await this.#transport.start();
  }

  get overHttp(): boolean {
    return this.#overHttp;
  }

  get sessionId(): string | null {
    return this.#transport.sessionId ?? null;
  }

  set peer(handlers: PeerHandlers) {
    this.#peer = handlers;
  }

  speak(protocolVersion: string): void {
    this.#transport.setProtocolVersion?.(protocolVersion);
  }

  /** Sends a request once and says how it ended. Never throws. */
  request(method: string, params: object, options: CallOptions): Promise<Reply> {
    const id = this.#nextId++;
    const traced = requestOf(method, params, id, this.#overHttp);
    const call = new Call(options, this.#graceMs, () => this.#calls.delete(id));
    this.#calls.set(id, call);
    if (this.#closed || this.#gone !== null) {
      call.settle({ kind: 'notWritten', reason: this.#gone ?? 'the session is closed' });
    } else if (options.signal?.aborted) {
      call.giveUp('the caller stopped waiting');
    } else {
      this.#send(call, { jsonrpc: '2.0', id, method, params: this.#enveloped(params, traced.carried) });
    }
    if (traced.ended !== null) void call.reply.then(traced.ended);
    return call.reply;
  }

  #enveloped(params: object, carried: Partial<TraceContext>): Record<string, unknown> {
    if (this.#envelope === undefined && carried.traceparent === undefined) return { ...params };
    const meta: unknown = Reflect.get(params, '_meta');
    return { ...params, _meta: { ...carried, ...(typeof meta === 'object' ? meta : {}), ...this.#envelope } };
  }

  /** `notifications/initialized`. On HTTP the transport opens its standing stream from here: it belongs to no request. */
  async initialized(timeoutMs: number): Promise<void> {
    const sent = currentExchange.exit(() =>
      this.#transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    );
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    // If it did not get through, the next request tells.
    await Promise.race([sent.catch(() => undefined), bound]);
    clearTimeout(timer);
  }

  /** Answers a request of the server. `false`: it was provably not taken. Rejects when nobody can know. */
  async respond(
    id: string | number,
    answer: { readonly result: Record<string, unknown> } | { readonly error: { code: number; message: string } },
    timeoutMs: number,
  ): Promise<boolean> {
    if (this.#closed || this.#gone !== null) return false;
    const call = new Call({ timeoutMs, freshConnection: true }, this.#graceMs, () => undefined);
    this.#send(call, { jsonrpc: '2.0', id, ...answer }, () => call.settle({ kind: 'result', value: {} }));
    const reply = await call.reply;
    if (reply.kind === 'result') return true;
    if (reply.kind === 'notWritten') return false;
    if (reply.kind === 'http' && [401, 403, 404].includes(reply.status)) return false;
    throw new Error(`it cannot be known whether the answer was taken: ${describe(reply)}`);
  }

  /** The same for an answer that nobody waits for. */
  answer(id: string | number, answer: Parameters<Connection['respond']>[1]): void {
    if (this.#answersUnderWay >= MAX_ANSWERS_UNDER_WAY) return;
    this.#answersUnderWay++;
    const over = () => {
      this.#answersUnderWay--;
    };
    this.respond(id, answer, ANSWER_MS).then(over, over);
  }

  /** `listener` is called once, also when the server is gone already. */
  onGone(listener: (reason: string) => void): void {
    const reason = this.#gone;
    if (reason !== null) queueMicrotask(() => listener(reason));
    else this.#goneListeners.push(listener);
  }

  /** The size limit threw a line away; it answered this request. */
  oversized(requestId: number): void {
    this.#calls.get(requestId)?.settle({ kind: 'tooLarge', reason: 'the answer is over the size limit' });
  }

  /** Stops listening. No cancel, no end of the session: the tasks go on (B14). */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const call of [...this.#calls.values()]) call.drop('the session was closed here');
    await this.#transport.close();
  }

  #send(call: Call, message: JSONRPCMessage, done: () => void = () => call.sent()): void {
    if (!this.#overHttp) {
      // The transport writes inside `send`, so this is the last moment before the bytes go out.
      if (!call.mayWrite()) {
        call.settle({ kind: 'notWritten', reason: 'held back before writing' });
        return;
      }
      call.written = true;
    }
    currentExchange.run(call, () => {
      this.#transport.send(message).then(done, (error: unknown) => {
        // The stdio transport throws only when it has no process to write to.
        if (!this.#overHttp) call.written = false;
        call.sendFailed(error);
      });
    });
  }

  #receive(message: JSONRPCMessage): void {
    const problem = jsonProblem(message);
    if (problem !== null) {
      this.#refuse(message, problem);
    } else if (isJSONRPCResultResponse(message)) {
      this.#calls.get(Number(message.id))?.settle({ kind: 'result', value: message.result });
    } else if (isJSONRPCErrorResponse(message)) {
      const { code, message: text, data } = message.error;
      const reply: Reply = { kind: 'error', code, message: text, ...(data === undefined ? {} : { data }) };
      this.#calls.get(Number(message.id))?.settle(reply);
    } else if (isJSONRPCRequest(message)) {
      this.#answer(message);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      const requestId: unknown = message.params?.requestId;
      if (typeof requestId === 'string' || typeof requestId === 'number') this.#peer.cancelled(requestId);
    } else if ('method' in message) {
      this.#peer.notified?.(message.method, message.params ?? {});
    }
  }

  /** Nobody can work with it: no reader of it, no digest, no record. */
  #refuse(message: JSONRPCMessage, problem: string): void {
    if (isJSONRPCRequest(message)) {
      this.answer(message.id, { error: { code: -32600, message: `Invalid request: ${problem}` } });
    } else if ('id' in message) {
      this.#calls
        .get(Number(message.id))
        ?.settle({ kind: 'malformed', reason: `the answer cannot be read: ${problem}` });
    }
  }

  #answer(request: JSONRPCRequest): void {
    if (request.method !== 'ping' && this.#peer.request(request)) return;
    this.answer(
      request.id,
      request.method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'Method not found' } },
    );
  }

  #failed(error: Error): void {
    if (this.#overHttp) {
      // Unreadable text on an event stream; all else comes back through `send` and the body's end.
      const exchange = currentExchange.getStore();
      if (exchange?.head?.eventStream && (error instanceof SyntaxError || 'issues' in error)) exchange.unreadable();
    } else if (errorCode(error) === 'EPIPE') {
      this.#ended('the server no longer reads');
    }
    // An unreadable line on stdio is noise (servers do print there): the waits have their own bounds.
  }

  #ended(reason: string): void {
    if (this.#closed || this.#gone !== null) return;
    this.#gone = reason;
    for (const call of [...this.#calls.values()]) call.drop(reason);
    for (const listener of this.#goneListeners.splice(0)) listener(reason);
  }
}

/** A reply in words that hold no id, no credential and no text of the server. */
export function describe(reply: Reply): string {
  if (reply.kind === 'result') return 'an answer of another shape';
  if (reply.kind === 'error') return `JSON-RPC error ${reply.code}`;
  if (reply.kind === 'http') return `HTTP ${reply.status}`;
  return reply.reason;
}
