import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/sdk/client/stdio.js';
import { deserializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { descendantsOf, endAll } from './process-tree.ts';

/**
 * Splits a stream into lines, each within a limit. A longer line is thrown away as it comes in and reported once,
 * with the id of the request it answered where its first or last bytes tell.
 */
export class BoundedLines {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: Buffer | null = null;
  #tail = Buffer.alloc(0);
  readonly #lines: Buffer[] = [];
  readonly #maxBytes: number;
  readonly #oversized: (requestId: number | null) => void;

  constructor(maxBytes: number, oversized: (requestId: number | null) => void) {
    this.#maxBytes = maxBytes;
    this.#oversized = oversized;
  }

  append(chunk: Buffer): void {
    let rest = chunk;
    for (let index = rest.indexOf(0x0a); index !== -1; index = rest.indexOf(0x0a)) {
      this.#take(rest.subarray(0, index));
      this.#endLine();
      rest = rest.subarray(index + 1);
    }
    this.#take(rest);
  }

  /** The SDK's transport asks until `null`; an unreadable line throws, and is reported as noise. */
  readMessage(): JSONRPCMessage | null {
    const line = this.#lines.shift();
    return line === undefined ? null : deserializeMessage(line.toString('utf8').replace(/\r$/, ''));
  }

  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = null;
    this.#lines.length = 0;
  }

  #take(part: Buffer): void {
    if (part.length === 0) return;
    if (this.#head === null && this.#bytes + part.length <= this.#maxBytes) {
      this.#chunks.push(part);
      this.#bytes += part.length;
      return;
    }
    if (this.#head === null) {
      this.#head = Buffer.concat([...this.#chunks, part.subarray(0, 128)]).subarray(0, 128);
      this.#chunks = [];
      this.#bytes = 0;
    }
    this.#tail = Buffer.concat([this.#tail, part.subarray(-128)]).subarray(-128);
  }

  #endLine(): void {
    if (this.#head === null) {
      this.#lines.push(Buffer.concat(this.#chunks));
    } else {
      const head = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d+),/.exec(this.#head.toString('latin1'));
      const tail = /,"id":(\d+)(?:,"jsonrpc":"2\.0")?\}\s*$/.exec(this.#tail.toString('latin1'));
      const id = head?.[1] ?? tail?.[1];
      this.#oversized(id === undefined ? null : Number(id));
    }
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = null;
    this.#tail = Buffer.alloc(0);
  }
}

export interface StdioServer extends Omit<StdioServerParameters, 'stderr'> {
  readonly stderr: 'ignore' | 'inherit' | ((chunk: Buffer) => void);
}

/** How long something that the server started may hold its stderr open once it has ended itself, ms. */
const STDERR_GRACE_MS = 200;

/**
 * The SDK's stdio transport with another reader: its own one joins the whole buffer again for every chunk, and kills
 * the server (and with it every task it holds) when one message is over the limit.
 */
export class BoundedStdioTransport extends StdioClientTransport {
  #process: ChildProcess | undefined;
  readonly #diagnostics: ((chunk: Buffer) => void) | null;

  constructor(server: StdioServer, maxBytes: number, oversized: (requestId: number | null) => void) {
    const { stderr } = server;
    super({ ...server, stderr: typeof stderr === 'function' ? 'pipe' : stderr });
    this.#diagnostics = typeof stderr === 'function' ? stderr : null;
    // A private field of the SDK's class; `limits.test.ts` fails when it is no longer there.
    Reflect.set(this, '_readBuffer', new BoundedLines(maxBytes, oversized));
  }

  override start(): Promise<void> {
    const started = super.start();
    // A private field of the SDK's class, set before `start` returns; `test/cli/server-start.test.ts` fails when it is gone.
    this.#process = Reflect.get(this, '_process') as ChildProcess | undefined;
    if (this.#diagnostics) {
      this.stderr?.on('data', this.#diagnostics);
      // The end of the server is its own end, and not that of a child which still holds this pipe.
      this.#process?.once('exit', () => setTimeout(() => this.#process?.stderr?.destroy(), STDERR_GRACE_MS).unref());
    }
    return started;
  }

  /** How the server's process ended, in words; `null`: it has not, also not within `graceMs`. */
  async ending(graceMs: number): Promise<string | null> {
    const child = this.#process;
    if (child === undefined || child.pid === undefined) return null;
    const over = () => child.exitCode !== null || child.signalCode !== null;
    if (!over()) await Promise.race([once(child, 'exit'), delay(graceMs, undefined, { ref: false })]);
    if (!over()) return null;
    return child.signalCode === null ? `ended with exit code ${child.exitCode}` : `was ended by ${child.signalCode}`;
  }

  /** The whole tree: a launcher that is ended leaves its server behind, which then keeps the pipes (and us) open. */
  override async close(): Promise<void> {
    const below = this.pid === null ? [] : await descendantsOf(this.pid);
    await super.close();
    endAll(below);
  }
}
