/**
 * An API with long-running operations (AIP-151, AIP-155) on `node:http`, in this process and under a test's control. An
 * operation waits until the test says what becomes of it. Everything before `/v1/` in a path is ignored, so each test can
 * have an address of its own.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, type Call, type Fault, Faults } from './aip-151/faults.ts';

/** What the server does, and what it does not know. */
export interface AipOptions {
  /** How long a request id is remembered, ms (AIP-155); default: it is not looked at. */
  readonly requestIdMs?: number;
  /** `heard`: acknowledged, and the operation goes on. `unimplemented`: 501. Default `obeyed`: it ends with code 1. */
  readonly cancel?: 'obeyed' | 'heard' | 'unimplemented';
  /** The answer to a start is `{ [wrap]: Operation }`. */
  readonly wrap?: string;
}

interface Operation {
  readonly name: string;
  metadata: unknown;
  done: boolean;
  error?: { readonly code: number; readonly message: string; readonly details?: readonly unknown[] };
  response?: Readonly<Record<string, unknown>>;
}

/** A request that reached the server, whatever became of its answer. */
export interface SeenRequest {
  /** A `GET`, a path that ends with `:cancel`, or else a start. */
  readonly call: Call;
  /** Of HTTP: `GET`, `POST`... */
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: http.IncomingHttpHeaders;
  /** Parsed JSON; `null`: it had none. */
  readonly body: unknown;
}

/** The server. `name` is by default that of the operation that was made last; what is to become of an unknown one throws. */
export class AipServer {
  /** In the order in which they came, since the start or the last `reset`. */
  readonly requests: SeenRequest[] = [];
  /** What the next requests meet. */
  readonly faults = new Faults();
  /** Operations that were ever made. */
  executions = 0;
  #operations = new Map<string, Operation>();
  #requestIds = new Map<string, { readonly name: string; readonly until: number }>();
  #last = '';
  #serial = 0;
  #addresses = 0;
  #server: http.Server | null = null;
  #port = 0;

  constructor(
    /** As they are now; a test may put others in their place. */
    public options: AipOptions,
  ) {}

  /** Listens on 127.0.0.1: on a free port, and after a crash on the same one again. `startAipServer` has done it. */
  async listen(): Promise<this> {
    const server = http.createServer((request, response) => void this.#handle(request, response));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  /** 0 before it listens. */
  get port(): number {
    return this.#port;
  }

  /** An address that nobody else got. */
  address(): { readonly kind: 'http'; readonly url: string } {
    this.#addresses += 1;
    return { kind: 'http', url: `http://127.0.0.1:${this.#port}/${this.#addresses}` };
  }

  /** How many requests of this kind came, since the start or the last `reset`. */
  count(call: Call): number {
    return this.requests.filter((request) => request.call === call).length;
  }

  /** The name of the operation that was made last; empty before the first one. */
  get last(): string {
    return this.#last;
  }

  /** Planned, for the next requests of its kind; see `faults` for the rest. */
  fault(fault: Fault): void {
    this.faults.add(fault);
  }

  /** Its `metadata` from now on; `null`: none. */
  progress(metadata: unknown, name = this.#last): void {
    this.#of(name).metadata = metadata;
  }

  /** Done, with this `response`. */
  complete(response: Readonly<Record<string, unknown>> = REPORT, name = this.#last): void {
    Object.assign(this.#of(name), { done: true, response });
  }

  /** Done, with this `error`: a code of google.rpc, not of HTTP. */
  fail(code: number, message: string, details: readonly unknown[] = [], name = this.#last): void {
    Object.assign(this.#of(name), { done: true, error: { code, message, details } });
  }

  /** Done, with neither a response nor an error. */
  finishEmpty(name = this.#last): void {
    this.#of(name).done = true;
  }

  /** From now on it is unknown: 404. */
  forget(name = this.#last): void {
    this.#operations.delete(name);
  }

  /** The process ends: connections break, and without `keep` nothing is known afterwards. */
  async crash(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /** Crashes and listens again, on the same port. `keep`: operations and request ids are known afterwards. */
  async restart(keep: boolean): Promise<void> {
    await this.crash();
    if (!keep) {
      this.#operations = new Map();
      this.#requestIds = new Map();
    }
    await this.listen();
  }

  /** For the next test: these options, no faults, no requests, no runs. Operations stay. */
  reset(options: AipOptions = {}): void {
    this.options = options;
    this.requests.length = 0;
    this.executions = 0;
    this.faults.clear();
  }

  /** Answers what is held, breaks what is open, and no longer listens. */
  async stop(): Promise<void> {
    this.faults.clear();
    await this.crash();
  }

  #of(name: string): Operation {
    const operation = this.#operations.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return operation;
  }

  async #handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const text = await bodyOf(request).catch(() => null);
    if (text === null) return;
    const url = request.url ?? '';
    const path = decodeURIComponent(url.slice(url.indexOf('/v1/') + 4).split('?', 1)[0] ?? '');
    const call: Call = request.method === 'GET' ? 'get' : path.endsWith(':cancel') ? 'cancel' : 'start';
    const body: unknown = text === '' ? null : JSON.parse(text);
    this.requests.push({ call, method: request.method ?? '', url, headers: request.headers, body });
    this.faults.answer(this.faults.next(call), request, response, () => {
      if (call === 'get') return this.#get(path);
      if (call === 'cancel') return this.#cancel(path.slice(0, -':cancel'.length));
      return this.#start(url, body);
    });
  }

  #start(url: string, body: unknown): Answer {
    const fields = typeof body === 'object' && body !== null ? body : {};
    const given: unknown =
      Reflect.get(fields, 'requestId') ?? new URL(url, 'http://localhost').searchParams.get('requestId');
    const { requestIdMs, wrap } = this.options;
    const known = typeof given === 'string' ? this.#requestIds.get(given) : undefined;
    let operation = known !== undefined && Date.now() <= known.until ? this.#operations.get(known.name) : undefined;
    if (operation === undefined) {
      this.#serial += 1;
      operation = { name: `operations/op-${process.pid}-${this.#serial}`, metadata: null, done: false };
      this.#operations.set(operation.name, operation);
      this.#last = operation.name;
      this.executions += 1;
      if (requestIdMs !== undefined && typeof given === 'string') {
        this.#requestIds.set(given, { name: operation.name, until: Date.now() + requestIdMs });
      }
    }
    const shown = wireOf(operation);
    return { status: 200, json: wrap === undefined ? shown : { [wrap]: shown } };
  }

  #get(name: string): Answer {
    const operation = this.#operations.get(name);
    return operation === undefined ? rpcError(404, 'NOT_FOUND') : { status: 200, json: wireOf(operation) };
  }

  #cancel(name: string): Answer {
    const { cancel = 'obeyed' } = this.options;
    if (cancel === 'unimplemented') return rpcError(501, 'UNIMPLEMENTED');
    const operation = this.#operations.get(name);
    if (operation === undefined) return rpcError(404, 'NOT_FOUND');
    if (cancel === 'obeyed' && !operation.done) this.fail(1, 'cancelled', [], name);
    return { status: 200, json: {} };
  }
}

/** What an operation completes with where a test does not say what: a message with its `@type`. */
export const REPORT = { '@type': 'type.googleapis.com/test.v1.Report', text: 'the tide is out' } as const;

/** An HTTP status with the JSON error of AIP-193; `name` is that of the code: `NOT_FOUND`. */
export function rpcError(status: number, name: string): Answer {
  return { status, json: { error: { code: status, message: 'no', status: name } } };
}

/** Starts it in this process, on a free port of 127.0.0.1. */
export function startAipServer(options: AipOptions = {}): Promise<AipServer> {
  return new AipServer(options).listen();
}

/** As a server writes it: what is unset is left out. */
function wireOf({ name, metadata, done, error, response }: Operation): object {
  return {
    name,
    ...(metadata === null ? {} : { metadata }),
    ...(done ? { done } : {}),
    ...(error === undefined ? {} : { error }),
    ...(response === undefined ? {} : { response }),
  };
}

async function bodyOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
