/** Part of the bench in a process of its own: its CPU and memory are its own, and it can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { program } from '../kit/program.ts';

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export class Child<Orders extends Record<string, (order: never) => unknown>> {
  private constructor(
    private readonly child: ChildProcess,
    private readonly gone: Promise<never>,
  ) {}

  /** @param module beside this one; it calls `obey` */
  static async start<Orders extends Record<string, (order: never) => unknown>>(module: string): Promise<Child<Orders>> {
    const source = fileURLToPath(new URL(module, import.meta.url));
    const child = spawn(process.execPath, ['--expose-gc', ...program(source)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    alive.add(child);
    child.once('exit', () => alive.delete(child));
    const gone = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process of the bench ended (${signal ?? code})`);
    });
    // Whoever asks hears of it.
    gone.catch(() => undefined);
    await Promise.race([once(child, 'message'), gone]);
    return new Child(child, gone);
  }

  /** One order at a time. Rejects with what the child said went wrong, or when it ends. */
  async ask<Name extends keyof Orders & string>(
    name: Name,
    order: Parameters<Orders[Name]>[0],
  ): Promise<Awaited<ReturnType<Orders[Name]>>> {
    const answered = once(this.child, 'message');
    this.child.send({ name, order });
    const [answer] = (await Promise.race([answered, this.gone])) as [{ done?: unknown; failed?: string }];
    if (answer.failed !== undefined) throw new Error(answer.failed);
    return answer.done as Awaited<ReturnType<Orders[Name]>>;
  }

  /** `kill -9`, and gone. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** The child's side: does what it is asked, one order at a time. */
export function obey<Orders extends Record<string, (order: never) => unknown>>(orders: Orders): void {
  process.on('message', ({ name, order }: { name: keyof Orders & string; order: never }) => {
    Promise.resolve()
      .then(() => (orders[name] as Orders[string])(order))
      .then(
        (done) => process.send?.({ done }),
        (error: Error) => process.send?.({ failed: error.stack ?? error.message }),
      );
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ ready: true });
}
