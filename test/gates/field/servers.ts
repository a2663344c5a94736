/** The servers of one gate, in a process of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { program } from '../../kit/program.ts';
import type { Control, ScriptedLog, ScriptedOptions } from '../../kit/servers/mcp-2025-11-25/options.ts';
import type { Task } from '../../kit/servers/mcp-2025-11-25/world.ts';
import { controls } from '../../kit/servers/mcp-2025-11-25.ts';
import type { GateScript } from './deeds.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

export interface GateServer {
  /** Where clients go: the front. */
  readonly url: string;
  /** Where the control endpoint is. */
  readonly port: number;
  control(command: Control): Promise<void>;
  log(): Promise<ScriptedLog>;
  tasks(): Promise<readonly (Task & { readonly script: GateScript })[]>;
  /** What happened to each operation, in order. */
  lines(): Promise<Readonly<Record<string, readonly string[]>>>;
  /** No deed meets a request any more. */
  calm(): Promise<void>;
}

export interface GateServers {
  readonly servers: readonly GateServer[];
  close(): Promise<void>;
}

export async function startServers(options: readonly Partial<ScriptedOptions>[]): Promise<GateServers> {
  const child = spawn(process.execPath, [...program(MAIN), '--options', JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('the servers did not start'))),
  ])) as [string];
  const said = JSON.parse(line) as { url: string; port: number; front: number }[];
  return {
    servers: said.map(({ url, port, front }) => ({
      url,
      port,
      ...controls(port),
      tasks: async () => (await controls(port).tasks()) as never,
      lines: async () => (await (await fetch(`http://127.0.0.1:${front}/front/log`)).json()) as never,
      calm: async () => void (await (await fetch(`http://127.0.0.1:${front}/front/calm`)).text()),
    })),
    async close() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
