/** A scripted server as a program: what it is started with, and how it says that it did not start. */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Port } from '../listen.ts';
import { jsonOf, understood } from '../told.ts';

/** What the program says over HTTP, on one line of JSON: where it listens, or why it does not. */
export const Said = z.union([
  z.strictObject({ url: z.string(), controlUrl: z.string(), port: z.number() }),
  z.strictObject({ error: z.string() }),
]);

/** A server that was given its options. */
export interface Program {
  /** Gives the port. */
  serveHttp(port: number): Promise<number>;
  serveStdio(): Promise<void> | void;
}

const args = {
  stdio: { type: 'boolean' },
  http: { type: 'string' },
  control: { type: 'string' },
  options: { type: 'string' },
  'with-parent': { type: 'boolean' },
} as const;

/** `open` gets what `--options` says, parsed, and throws what is wrong with it. */
export async function runProgram(open: (options: unknown) => Promise<Program>): Promise<void> {
  const stdio = process.argv.includes('--stdio');
  try {
    const { values } = parseArgs({ options: args });
    const { serveHttp, serveStdio } = await open(jsonOf(values.options ?? '{}'));
    if (stdio) {
      if (values.control !== undefined) await serveHttp(understood(Port, values.control));
      await serveStdio();
      process.stdin.on('end', () => process.exit(0));
      return;
    }
    const port = await serveHttp(understood(Port, values.http ?? 0));
    const origin = `http://127.0.0.1:${port}`;
    say(process.stdout, JSON.stringify({ url: `${origin}/mcp`, controlUrl: `${origin}/control`, port }));
    if (values['with-parent'] === true) process.stdin.resume().on('end', () => process.exit(0));
  } catch (error) {
    const { message } = error as Error;
    // Over stdio, what goes to the output belongs to the protocol.
    if (stdio) say(process.stderr, message, () => process.exit(1));
    else say(process.stdout, JSON.stringify({ error: message }), () => process.exit(1));
  }
}

const say = (to: NodeJS.WriteStream, text: string, then?: () => void): void => void to.write(`${text}\n`, then);
