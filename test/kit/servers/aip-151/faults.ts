/** What can go wrong with one request to the AIP-151 test server, and how it is made to. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Call = 'start' | 'get' | 'cancel';

export type Fault = {
  readonly on: Call;
  /** How many requests of this kind; default 1. */
  readonly times?: number;
} & (
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
  /** Worked on, and the answer is only as long as half of itself, or far too long. */
  | { readonly kind: 'truncate' }
  | { readonly kind: 'oversize'; readonly bytes: number }
);

export class Faults {
  readonly #planned: { readonly fault: Fault; left: number }[] = [];
  #held: (() => void)[] = [];

  add(fault: Fault): void {
    this.#planned.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#planned.length = 0;
    this.release();
  }

  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  get held(): number {
    return this.#held.length;
  }

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

export interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(response: ServerResponse, { status, json, text, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text ?? (json === undefined ? '' : JSON.stringify(json)));
}
