/** What can go wrong with one request to the AIP-151 test server, and how it is made to. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a request asks for: `start` (a `POST` that makes an operation), `get`, `cancel`. */
export type Call = 'start' | 'get' | 'cancel';

/** A fault that is met by the next requests of its kind. */
export type Fault = {
  readonly on: Call;
  /** How many requests of this kind; default 1. */
  readonly times?: number;
} /** The connection breaks before the work is done, or after it in place of the answer. */ & (
  | { readonly kind: 'resetBefore' | 'resetAfter' }
  /** Not answered until `release`; the work is done at once. */
  | { readonly kind: 'hold' }
  /** Answered instead of being worked on; `text` goes as it is. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly json?: unknown;
      readonly text?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Worked on, and the connection breaks in the middle of the answer. */
  | { readonly kind: 'truncate' }
  /** Worked on, and the answer is longer by so many blanks. */
  | { readonly kind: 'oversize'; readonly bytes: number }
);

/** The faults that are planned, and the answers that are held. Each request meets the first one of its kind. */
export class Faults {
  readonly #planned: { readonly fault: Fault; left: number }[] = [];
  #held: (() => void)[] = [];

  /** Behind those that are planned already. */
  add(fault: Fault): void {
    this.#planned.push({ fault, left: fault.times ?? 1 });
  }

  /** Nothing is planned any more; what is held is answered. */
  clear(): void {
    this.#planned.length = 0;
    this.release();
  }

  /** What is held is answered now. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  /** How many answers wait for `release`. */
  get held(): number {
    return this.#held.length;
  }

  /** Takes the fault that a request of this kind meets; `null`: none. */
  next(on: Call): Fault | null {
    const found = this.#planned.find(({ fault, left }) => fault.on === on && left > 0);
    if (found === undefined) return null;
    found.left -= 1;
    return found.fault;
  }

  /** Answers under a fault. `work`: what the server would have answered. */
  answer(fault: Fault | null, request: IncomingMessage, response: ServerResponse, work: () => Answer): void {
    switch (fault?.kind) {
      case undefined:
        send(response, work());
        break;
      case 'resetBefore':
        request.socket.resetAndDestroy();
        break;
      case 'resetAfter':
        work();
        request.socket.resetAndDestroy();
        break;
      case 'hold': {
        const answer = work();
        this.#held.push(() => send(response, answer));
        break;
      }
      case 'answer':
        send(response, fault);
        break;
      case 'truncate': {
        const text = JSON.stringify(work().json);
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
        response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
        break;
      }
      case 'oversize': {
        const { json } = work();
        send(response, { status: 200, text: `${JSON.stringify(json)}${' '.repeat(fault.bytes)}` });
        break;
      }
    }
  }
}

/** What the server answers. */
export interface Answer {
  /** Of HTTP. */
  readonly status: number;
  /** The body, as JSON; without it and `text`: an empty one. */
  readonly json?: unknown;
  /** The body as it is, in place of `json`. */
  readonly text?: string;
  /** Besides `content-type: application/json`, or in its place. */
  readonly headers?: Readonly<Record<string, string>>;
}

function send(response: ServerResponse, { status, json, text, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text ?? (json === undefined ? '' : JSON.stringify(json)));
}
