import { synchronous } from '../../../adapters/sync/index.ts';
import type { Endpoint, ProtocolSession, ResumeState } from '../../../machines/operation-protocol.ts';
import { freePort } from '../../kit/free-port.ts';
import {
  controls,
  type ScriptedOptions,
  type ScriptedServer,
  startScriptedServer,
  stdioCommand,
} from '../../kit/servers/mcp-2025-11-25.ts';

/** Short waits, so that no test is slow because of a default. */
export const protocol = (more: Parameters<typeof synchronous>[0] = {}) =>
  synchronous({ connectTimeoutMs: 5_000, requestTimeoutMs: 3_000, resumeGraceMs: 3_000, limitGraceMs: 200, ...more });

export const connect = (endpoint: Endpoint, resume?: ResumeState): Promise<ProtocolSession> =>
  protocol().connect(endpoint, resume);

export const TRANSPORTS = ['http', 'stdio'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface Target extends Pick<ScriptedServer, 'control' | 'log'> {
  readonly endpoint: Endpoint;
  /** Ends the server in the middle of whatever it does. */
  die(): Promise<void>;
  stop(): Promise<void>;
}

/** A scripted server of this transport. One over stdio runs once somebody connects to its endpoint. */
export async function startTarget(transport: Transport, options: Partial<ScriptedOptions>): Promise<Target> {
  if (transport === 'http') {
    const server = await startScriptedServer(options);
    return { ...server, die: () => server.kill() };
  }
  const port = await freePort();
  const { control, log } = controls(port);
  return {
    endpoint: stdioCommand(options, port),
    control,
    log,
    die: () => control({ op: 'exit' }),
    stop: async () => undefined,
  };
}
