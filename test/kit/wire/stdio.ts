/** Stands in place of a stdio server: starts the real one and hands lines on, as the rules say. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import type { Lane, Side, Wire } from './wire.ts';

/** Ends with the server, and the server with it. */
export function runStdioProxy(wire: Wire, command: string, args: readonly string[]): void {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  server.stdin.on('error', () => undefined);
  process.stdout.on('error', () => undefined);
  process.on('exit', () => server.kill('SIGKILL'));
  process.on('SIGTERM', () => server.kill('SIGTERM'));
  server.on('exit', (code) => {
    // What was cut or passed last has to leave the pipe first.
    process.stdout.end(() => process.exit(code ?? 1));
  });

  const write = (to: Writable, text: string): boolean => {
    if (to.writable) to.write(`${text}\n`);
    return to.writable;
  };
  const lane = (from: Side): Lane => {
    const [back, to] = from === 'client' ? [process.stdout, server.stdin] : [server.stdin, process.stdout];
    return {
      from,
      conversation: 'stdio',
      pass: (text) => write(to, text),
      lose: () => undefined,
      cut(text) {
        to.write(text.slice(0, text.length / 2), () => server.kill('SIGTERM'));
      },
      reply: (text) => void write(back, text),
      // Refused when the rule was set.
      status: () => undefined,
    };
  };
  createInterface({ input: process.stdin })
    .on('line', (line) => void wire.meet(line, lane('client')))
    .on('close', () => server.stdin.end());
  createInterface({ input: server.stdout }).on('line', (line) => void wire.meet(line, lane('server')));
}
