/**
 * An API with long-running operations (AIP-151, AIP-155) on `node:http`, in this process and under a test's control. An
 * operation waits until the test says what becomes of it. Everything before `/v1/` in a path is ignored, so each test can
 * have an address of its own.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, type Call, type Fault, Faults } from './aip-151/faults.ts';

export interface AipOptions {
  /** How long a request id is remembered, ms (AIP-155); default: it is not looked at. */
  readonly requestIdMs?: number;
  /** `heard`: acknowledged, and the operation goes on. Default `obeyed`: it ends with code 1. */
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

export interface SeenRequest {
  readonly call: Call;
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: unknown;
}

export class AipServer {
  readonly requests: SeenRequest[] = [];
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

  constructor(public options: AipOptions) {}

  async listen(): Promise<this> {
    const server = http.createServer((request, response) => void this.#handle(request, response));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  get port(): number {
    return this.#port;
  }

  /** An address that nobody else got. */
  address(): { readonly kind: 'http'; readonly url: string } {
    this.#addresses += 1;
    return { kind: 'http', url: `http://127.0.0.1:${this.#port}/${this.#addresses}` };
  }

  count(call: Call): number {
    return this.requests.filter((request) => request.call === call).length;
  }

  /** The name of the operation that was made last. */
  get last(): string {
    return this.#last;
  }

  fault(fault: Fault): void {
    this.faults.add(fault);
  }

  progress(metadata: unknown, name = this.#last): void {
    this.#of(name).metadata = metadata;
  }

  complete(response: Readonly<Record<string, unknown>> = REPORT, name = this.#last): void {
    Object.assign(this.#of(name), { done: true, response });
  }

  fail(code: number, message: string, details: readonly unknown[] = [], name = this.#last): void {
    Object.assign(this.#of(name), { done: true, error: { code, message, details } });
  }

  /** Done, with neither a response nor an error. */
  finishEmpty(name = this.#last): void {
    this.#of(name).done = true;
  }

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

  async restart(keep: boolean): Promise<void> {
    await this.crash();
    if (!keep) {
      this.#operations = new Map();
      this.#requestIds = new Map();
    }
    await this.listen();
  }

  /** For the next test. */
  reset(options: AipOptions = {}): void {
    this.options = options;
    this.requests.length = 0;
    this.executions = 0;
    this.faults.clear();
  }

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

export const REPORT = { '@type': 'type.googleapis.com/test.v1.Report', text: 'the tide is out' } as const;

/** The JSON error of AIP-193. */
export function rpcError(status: number, name: string): Answer {
  return { status, json: { error: { code: status, message: 'no', status: name } } };
}

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
