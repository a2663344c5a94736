/** `toolop` as a child process: started, read line by line, signalled, waited for. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Endpoint } from '../../machines/index.ts';
import { program } from '../kit/program.ts';

const MAIN = fileURLToPath(new URL('../../visualizer/cli/main.ts', import.meta.url));
const alive = new Set<ChildProcess>();
// Of the file that imports this: the process of a test worker is killed, and says no farewell.
afterAll(() => {
  for (const child of alive) child.kill('SIGKILL');
});

export const EVERYTHING: Endpoint = {
  kind: 'stdio',
  command: process.execPath,
  args: [createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
};

export type Line = Readonly<Record<string, unknown>>;
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of stdout, as JSON. */
  readonly last: Line;
}

export class Command {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [...program(MAIN), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ports come again: what one test saw of a Redis says nothing of another one.
      env: { ...process.env, TOOLOP_HISTORY: 'none', ...env },
    });
    alive.add(this.#child);
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.#ended = once(this.#child, 'close').then(() => alive.delete(this.#child));
  }

  get lines(): readonly Line[] {
    const complete = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return complete
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  }

  /** The first line of stdout that fits. */
  async line(fits: (line: Line) => boolean, withinMs = 60_000): Promise<Line> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = this.lines.find(fits);
      if (found) return found;
      if (Date.now() > deadline || this.#child.exitCode !== null) {
        throw new Error(`no such line\n${this.stdout.slice(-3_000)}\n${this.stderr.slice(-1_000)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  state(name: string): Promise<Line> {
    return this.line((line) => line.state === name);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(): Promise<Ended> {
    await this.#ended;
    const text = this.stdout.trim().split('\n').at(-1) ?? '';
    return {
      code: this.#child.exitCode,
      stdout: this.stdout,
      stderr: this.stderr,
      last: text.startsWith('{') ? (JSON.parse(text) as Line) : {},
    };
  }
}

export const toolop = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  new Command(args, env).end();

/** How `toolop run` names a server. */
export function serverArgs(endpoint: Endpoint): readonly string[] {
  return endpoint.kind === 'http' ? ['--url', endpoint.url] : ['--', endpoint.command, ...endpoint.args];
}

/** Waits for something that is to come. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 1_200) throw new Error('it never came to be');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
