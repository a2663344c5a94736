/** A scripted server behind a wire proxy, on either transport. */
import { fileURLToPath } from 'node:url';
import type { Endpoint } from '../../machines/index.ts';
import { program } from '../support/program.ts';
import {
  controls,
  freePort,
  type ScriptedOptions,
  type ScriptedServer,
  startScriptedServer,
  stdioCommand,
} from '../support/scripted-server.ts';
import { type WireControls, wireControls } from './wire/control.ts';
import { startHttpProxy } from './wire/http.ts';

export type Transport = 'stdio' | 'http';

export interface WireLine {
  readonly endpoint: Endpoint;
  readonly server: Pick<ScriptedServer, 'control' | 'log'>;
  readonly wire: WireControls;
  close(): Promise<void>;
}

/** A server that stays while the proxies before it change: its start costs more than most tests. */
export interface HttpLine {
  /** A new proxy before the server, which forgets its faults and its log. */
  anew(options?: Partial<ScriptedOptions>): Promise<WireLine>;
  stop(): Promise<void>;
}

export async function openHttpLine(fixed: Partial<ScriptedOptions> = {}): Promise<HttpLine> {
  const server = await startScriptedServer(fixed);
  return {
    async anew(options = {}) {
      await server.control({ op: 'set', options: { lookup: false, dedup: false, ...fixed, ...options } });
      await server.control({ op: 'reset' });
      const { url, rules, log, close } = await startHttpProxy(server.url);
      return { endpoint: { kind: 'http', url }, server, wire: { rules, log }, close };
    },
    stop: () => server.stop(),
  };
}

const PROXY = fileURLToPath(new URL('./wire-proxy.ts', import.meta.url));

/** Nothing runs until a client starts the command; nothing is left when it ends it. */
export async function openStdioLine(options: Partial<ScriptedOptions>): Promise<WireLine> {
  const [proxyPort, serverPort] = await Promise.all([freePort(), freePort()]);
  const behind = stdioCommand(options, serverPort);
  if (behind.kind !== 'stdio') throw new Error('a stdio command is one');
  const command = [...program(PROXY), '--control', String(proxyPort), '--', behind.command, ...behind.args];
  return {
    endpoint: { kind: 'stdio', command: process.execPath, args: command },
    server: controls(serverPort),
    wire: wireControls(proxyPort),
    close: async () => undefined,
  };
}
