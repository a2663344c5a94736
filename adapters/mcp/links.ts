import { type Endpoint, EndpointUnavailable } from '../../machines/operation-protocol.ts';
import type { Settings } from './options.ts';
import { errorCode } from './rpc/call.ts';
import { Connection } from './rpc/connection.ts';
import { BoundedStdioTransport } from './rpc/stdio-link.ts';

/** A connection before anything was said on it: what a revision says first is its own affair. */
export interface Link {
  readonly connection: Connection;
  close(): Promise<void>;
  /** How the server's process ended, in words; `null`: it lives, or is not ours. */
  ending(): Promise<string | null>;
}

/** A broken pipe can be seen before the end of the process that held it, ms. */
const ENDING_MS = 500;

/** What the system says of a command that it cannot start. */
const NOT_STARTED: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such command, or no such working directory',
  EACCES: 'the command may not be executed',
};

/** Starts the transport. Rejects with `EndpointUnavailable`: nothing was sent. */
export async function startLink(connection: Connection): Promise<void> {
  await connection.start().catch((error: unknown) => {
    const code = errorCode(error) ?? 'no code';
    const why = NOT_STARTED[code];
    throw new EndpointUnavailable(
      `the server's process cannot be started${why === undefined ? '' : `: ${why}`} (${code})`,
    );
  });
}

/** A server that lives and dies with this connection. `envelope`: see `Connection`. */
export function stdioLink(
  endpoint: Endpoint & { kind: 'stdio' },
  settings: Settings,
  envelope?: Readonly<Record<string, unknown>>,
): Link {
  const transport = new BoundedStdioTransport(
    {
      command: endpoint.command,
      args: [...endpoint.args],
      stderr: settings.stderr,
      ...(endpoint.env === undefined ? {} : { env: { ...endpoint.env } }),
      ...(endpoint.cwd === undefined ? {} : { cwd: endpoint.cwd }),
    },
    settings.maxMessageBytes,
    (requestId) => {
      if (requestId !== null) connection.oversized(requestId);
    },
  );
  const connection = new Connection(transport, { overHttp: false, graceMs: settings.resumeGraceMs, envelope });
  return { connection, close: () => connection.close(), ending: () => transport.ending(ENDING_MS) };
}

export function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new EndpointUnavailable('the endpoint is not a URL');
  return new URL(url);
}
