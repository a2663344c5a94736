/** An adapter over stdio: the production transport, connection and session, with the pipes of a server's process played. */
import type { ChildProcess } from 'node:child_process';
import fc from 'fast-check';
import { settingsOf } from '../../../adapters/mcp/options.ts';
import { Connection } from '../../../adapters/mcp/rpc/connection.ts';
import { type BoundedLines, BoundedStdioTransport } from '../../../adapters/mcp/rpc/stdio-link.ts';
import { createSession } from '../../../adapters/mcp-2025-11-25/session.ts';
import { answerTo, type Message, unasked, wireOf } from '../messages.ts';
import { callMethod, type Method } from '../methods.ts';
import { INITIALIZED } from '../recorded.ts';
import { situation } from '../situations.ts';
import { target } from '../target.ts';

interface Input {
  readonly method: Method;
  readonly situation: number;
  /** What the server says to each request in turn; after the last it is gone. */
  readonly turns: readonly { readonly before: readonly Message[]; readonly answer: Message }[];
  readonly end: string;
  readonly chunk: number;
}

/** The methods that compile a schema take their time, so they come less often. */
const method = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Method>('negotiate', 'result') },
  { weight: 4, arbitrary: fc.constantFrom<Method>('submit', 'status', 'cancel', 'lookup', 'input') },
);
const inputs: fc.Arbitrary<Input> = method.chain((name) =>
  fc.record({
    method: fc.constant(name),
    situation: fc.nat(100),
    turns: fc.array(fc.record({ before: fc.array(unasked, { maxLength: 2 }), answer: answerTo(name) }), {
      minLength: 1,
      maxLength: 3,
    }),
    end: fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n', '\r', ''),
    chunk: fc.constantFrom(1_000_000, 1_000_000, 64, 7),
  }),
);

/** The SDK's transport with our reader, on pipes that are played. */
class PlayedStdio extends BoundedStdioTransport {
  #listening = false;

  constructor(private readonly asked: (id: number) => void) {
    super({ command: 'played', args: [], stderr: 'ignore' }, 200_000, () => undefined);
  }

  override async start(): Promise<void> {
    const stdin = { write: (line: string) => this.#heard(line), once: () => undefined, end: () => undefined };
    const process = { stdin, exitCode: 0, once: (_: string, listener: () => void) => queueMicrotask(listener) };
    Reflect.set(this, '_process', process as unknown as ChildProcess);
    this.#listening = true;
  }

  #heard(line: string): boolean {
    const { id, method } = JSON.parse(line) as { id?: number; method?: string };
    if (method !== undefined && id !== undefined) queueMicrotask(() => this.asked(id));
    return true;
  }

  say(bytes: Buffer, chunk: number): void {
    const lines = Reflect.get(this, '_readBuffer') as BoundedLines;
    for (let at = 0; at < bytes.length; at += chunk) {
      lines.append(bytes.subarray(at, at + chunk));
      (Reflect.get(this, 'processReadBuffer') as () => void).call(this);
    }
  }

  end(): void {
    if (!this.#listening) return;
    this.#listening = false;
    Reflect.set(this, '_process', undefined);
    this.onclose?.();
  }
}

export const stdio = target<Input>({
  name: 'stdio',
  about: 'answers, notifications and requests of a stdio server, to every method',
  share: 80,
  batch: 1_000,
  open: () => ({
    inputs,
    async feed({ method, situation: at, turns, end, chunk }) {
      const rest = [...turns];
      const transport = new PlayedStdio((id) => {
        const said = rest.shift();
        if (said === undefined) return transport.end();
        for (const message of [...said.before, said.answer]) {
          transport.say(Buffer.concat([wireOf(message, id), Buffer.from(end)]), chunk);
        }
        // What was no answer leaves its request open: the server is gone then.
        setImmediate(() => transport.end());
      });
      const connection = new Connection(transport, { overHttp: false, graceMs: 10 });
      await connection.start();
      const opened = {
        connection,
        initialized: INITIALIZED,
        listen: () => undefined,
        close: () => connection.close(),
      };
      const session = createSession(opened, undefined, settingsOf({ maxMessageBytes: 200_000 }));
      try {
        return await callMethod(session, method, situation(at), async () => transport.end());
      } finally {
        await session.close();
      }
    },
  }),
});
