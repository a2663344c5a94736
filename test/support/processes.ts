/** Executor processes under the tests' control: started, read line by line, stopped, continued, killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { program } from '../kit/program.ts';
import type { ExecutorOrders } from './executor-process.ts';

const script = fileURLToPath(new URL('./executor-process.ts', import.meta.url));
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export type Line = Readonly<Record<string, unknown>>;

export class ExecutorProcess {
  readonly lines: Line[] = [];
  readonly #child: ChildProcess;
  readonly #waiters = new Set<() => void>();
  #errors = '';

  /** `module`: another one that takes its orders and prints its lines in the same way. */
  constructor(orders: ExecutorOrders | object, module = script) {
    this.#child = spawn(process.execPath, [...program(module), JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    alive.add(this.#child);
    this.#child.once('exit', () => {
      alive.delete(this.#child);
      this.#notify();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    if (this.#child.stdout) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        this.lines.push(JSON.parse(line) as Line);
        this.#notify();
      });
    }
  }

  get states(): readonly string[] {
    return this.lines.flatMap((line) => (typeof line.state === 'string' ? [line.state] : []));
  }

  /** The first line (also an earlier one) that fits. */
  async line(fits: (line: Line) => boolean, withinMs = 20_000): Promise<Line> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = this.lines.find(fits);
      if (found) return found;
      if (Date.now() > deadline || this.#child.exitCode !== null) {
        throw new Error(`no such line; got ${JSON.stringify(this.lines.slice(-12))} ${this.#errors.slice(-800)}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, 250);
        const waiters = this.#waiters;
        function done(): void {
          clearTimeout(timer);
          waiters.delete(done);
          resolve();
        }
        waiters.add(done);
      });
    }
  }

  frozen(): Promise<Line> {
    return this.line((line) => 'frozen' in line);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** `kill -9`, and gone. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGCONT');
    this.#child.kill('SIGTERM');
    await gone;
  }

  #notify(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }
}
