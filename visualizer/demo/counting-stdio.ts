/**
 * Stands between executor and stdio server: `counting-stdio.ts COUNT_FILE COMMAND ARGS…`. Hands every byte on, and
 * writes one line into the file for each `tools/call` that passes.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , countFile = '', command = '', ...args] = process.argv;
const server = spawn(command, args, { stdio: ['pipe', 'inherit', 'ignore'] });
server.on('exit', (code) => process.exit(code ?? 1));
server.stdin.on('error', () => undefined);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (/"method"\s*:\s*"tools\/call"/.test(line)) appendFileSync(countFile, 'tools/call\n');
    server.stdin.write(`${line}\n`);
  })
  // A server that does not end with its input is asked to: nothing of the demo is to stay behind.
  .on('close', () => server.kill('SIGTERM'));
process.on('SIGTERM', () => server.kill('SIGTERM'));
