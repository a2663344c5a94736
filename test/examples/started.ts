/** An example as its user starts it: a process with arguments, lines on stdout, and a terminal that is typed into. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { program } from '../kit/program.ts';
import { eventually } from '../support/rig.ts';

export interface Started {
  readonly lines: readonly string[];
  /** The first line, also an earlier one, that begins so. */
  line(begin: string): Promise<string>;
  type(text: string): void;
  /** SIGKILL by default, and gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Its exit code. */
  ended(): Promise<number | null>;
}

export function startExample(name: string, args: readonly string[], env: Readonly<Record<string, string>>): Started {
  const source = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [...program(source), ...args], { env: { ...process.env, ...env } });
  const gone = once(child, 'close');
  const lines: string[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    lines,
    line: (begin) =>
      eventually(async () => {
        const found = lines.find((line) => line.startsWith(begin));
        if (!found && child.exitCode !== null) throw new Error(`it ended without "${begin}": ${lines} ${errors}`);
        return found;
      }, 25_000),
    type: (text) => child.stdin.write(`${text}\n`),
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      await gone;
    },
    async ended() {
      await gone;
      if (errors.includes('Error')) throw new Error(errors);
      return child.exitCode;
    },
  };
}
