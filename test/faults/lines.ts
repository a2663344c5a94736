/** A scripted server behind a wire proxy, on either transport. */
import type { Endpoint } from '../../machines/index.ts';
import { freePort } from '../kit/free-port.ts';
import {
  controls,
  type ScriptedOptions,
  type ScriptedServer,
  startScriptedServer,
  stdioCommand,
} from '../kit/servers/mcp-2025-11-25.ts';
import { stdioProxy } from '../kit/wire/command.ts';
import { type WireControls, wireControls } from '../kit/wire/control.ts';
import { startHttpProxy } from '../kit/wire/http.ts';

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

/** Nothing runs until a client starts the command; nothing is left when it ends it. */
export async function openStdioLine(options: Partial<ScriptedOptions>): Promise<WireLine> {
  const [proxyPort, serverPort] = await Promise.all([freePort(), freePort()]);
  const behind = stdioCommand(options, serverPort);
  return {
    endpoint: stdioProxy(behind, proxyPort),
    server: controls(serverPort),
    wire: wireControls(proxyPort),
    close: async () => undefined,
  };
}
