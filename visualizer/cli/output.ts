/** Where the words of a command go: answers to stdout, everything about the way there to stderr. */
import pc from 'picocolors';
import type { LogEntry } from '../../machines/index.ts';
import { ExitCode } from './exit-codes.ts';
import type { CliFailure } from './failure.ts';
import { jsonLine, oneLine } from './text.ts';

export class Output {
  /** Colours of stderr; stdout has none, so that it can be piped. */
  readonly paint = pc.createColors(process.stderr.isTTY === true && pc.isColorSupported);
  #held: string[] | null = null;

  constructor(
    readonly json: boolean,
    private readonly verbose: boolean,
  ) {}

  /** A line for the user, on stderr; nothing with `--json`. */
  say(line = ''): void {
    if (!this.json) this.#toStderr(line);
  }

  /** An answer in words, on stdout; nothing with `--json`. */
  print(text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`);
  }

  /** An answer for a program, on stdout; nothing without `--json`. */
  emit(value: unknown): void {
    if (this.json) process.stdout.write(`${jsonLine(value)}\n`);
  }

  readonly log = (entry: LogEntry): void => {
    if (!this.verbose) return;
    const detail = entry.detail === undefined ? '' : ` ${jsonLine(entry.detail)}`;
    this.#toStderr(this.paint.dim(`[${entry.level}] ${entry.event}${oneLine(detail, 500)}`));
  };

  /** `help`: the command line that explains what was used wrongly. */
  fail(failure: CliFailure, help: string): void {
    this.release();
    const { message, next, exitCode, detail, notes } = failure;
    this.emit({ type: 'error', exitCode, message, next: next ?? null, ...detail });
    this.say(`${this.paint.red('toolop:')} ${oneLine(message, 2_000)}`);
    for (const note of notes) this.say(`  ${note}`);
    if (next !== undefined) this.say(`  next: ${oneLine(next, 2_000)}`);
    if (exitCode === ExitCode.usage) this.say(`  help: ${help}`);
    if (this.verbose)
      this.#toStderr(this.paint.dim(String((failure.cause as Error | undefined)?.stack ?? failure.stack)));
  }

  /** While a prompt is on the screen, lines wait. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const lines = this.#held;
    this.#held = null;
    for (const line of lines ?? []) this.#toStderr(line);
  }

  #toStderr(line: string): void {
    if (this.#held) this.#held.push(line);
    else process.stderr.write(`${line}\n`);
  }
}
