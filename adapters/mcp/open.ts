import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Endpoint, EndpointUnavailable, type ResumeState } from '../../machines/operation-protocol.ts';
import { type Link, parseUrl, startLink, stdioLink } from './links.ts';
import type { Settings } from './options.ts';
import { Connection, describe } from './rpc/connection.ts';
import { currentExchange } from './rpc/exchange.ts';
import { createHttpLink } from './rpc/http-fetch.ts';
import type { Reply } from './rpc/reply.ts';

export interface OpenedConnection {
  readonly connection: Connection;
  /** What `initialize` answered; `null`: an earlier session was taken up again, and it was not asked. */
  readonly initialized: {
    readonly protocolVersion: string;
    readonly capabilities: Readonly<Record<string, unknown>>;
  } | null;
  /** Opens the standing stream of a session that was taken up again: a question may also come there. */
  listen(): void;
  close(): Promise<void>;
}

interface Opening extends Link {
  listen(): void;
}

/** How soon and how late a broken stream is opened again, ms. */
const MIN_RESUME_MS = 250;
const MAX_RESUME_MS = 60_000;

/** Opens a connection and initializes it, or takes up an earlier HTTP session (B1; design section 5, "resuming needs"). */
export async function open(
  endpoint: Endpoint,
  resume: ResumeState | undefined,
  settings: Settings,
  protocolVersion: string,
): Promise<OpenedConnection> {
  const sessionId = endpoint.kind === 'http' ? (resume?.sessionId ?? null) : null;
  const { connection, listen, close, ending } =
    endpoint.kind === 'http'
      ? httpConnection(endpoint, sessionId, settings)
      : { ...stdioLink(endpoint, settings), listen: () => undefined };
  try {
    await startLink(connection);
    if (sessionId !== null) {
      connection.speak(resume?.protocolVersion ?? protocolVersion);
      await takeUp(connection, settings);
      return { connection, initialized: null, listen, close };
    }
    const initialized = await initialize(connection, settings, protocolVersion).catch(async (error: unknown) => {
      const how = await ending();
      throw how === null ? error : new EndpointUnavailable(`the server's process ${how} before it was ready`);
    });
    return { connection, initialized, listen: () => undefined, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A server names the time after which a stream is opened again (`retry:`), and may end each at once: not sooner than
 * we would, and not later than a question may wait. A private field of the SDK's class; `test/fuzz/findings.test.ts`
 * fails when it is gone.
 */
function boundRetry(transport: StreamableHTTPClientTransport): void {
  let retryMs: number | undefined;
  Object.defineProperty(transport, '_serverRetryMs', {
    get: () => retryMs,
    set: (ms: number) => {
      retryMs = Math.min(Math.max(ms, MIN_RESUME_MS), MAX_RESUME_MS);
    },
  });
}

function httpConnection(endpoint: Endpoint & { kind: 'http' }, sessionId: string | null, settings: Settings): Opening {
  const link = createHttpLink(settings.maxMessageBytes);
  const transport = new StreamableHTTPClientTransport(parseUrl(endpoint.url), {
    fetch: link.fetch,
    ...(sessionId === null ? {} : { sessionId }),
    ...(endpoint.headers === undefined ? {} : { requestInit: { headers: { ...endpoint.headers } } }),
    reconnectionOptions: {
      initialReconnectionDelay: MIN_RESUME_MS,
      maxReconnectionDelay: 2_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 3,
    },
  });
  boundRetry(transport);
  const connection = new Connection(transport, { overHttp: true, graceMs: settings.resumeGraceMs });
  return {
    connection,
    listen() {
      // 405 and 409 are ordinary answers here: no such stream, or the old one is still open.
      currentExchange.exit(() => void transport.resumeStream('').catch(() => undefined));
    },
    async close() {
      await connection.close();
      link.close();
    },
    ending: async () => null,
  };
}

async function initialize(
  connection: Connection,
  settings: Settings,
  protocolVersion: string,
): Promise<OpenedConnection['initialized']> {
  const reply = await connection.request(
    'initialize',
    {
      protocolVersion,
      capabilities: { elicitation: { form: {} } },
      clientInfo: settings.clientInfo,
    },
    { timeoutMs: settings.connectTimeoutMs },
  );
  const version = reply.kind === 'result' ? reply.value.protocolVersion : undefined;
  if (reply.kind !== 'result' || typeof version !== 'string') throw unavailable('initialize', reply, false);
  connection.speak(version);
  await connection.initialized(settings.connectTimeoutMs);
  const capabilities: unknown = reply.value.capabilities;
  return {
    protocolVersion: version,
    capabilities: typeof capabilities === 'object' && capabilities !== null ? { ...capabilities } : {},
  };
}

/** Asks the earlier session for a sign of life, so that a lost one is told apart from a lost task (B13). */
async function takeUp(connection: Connection, settings: Settings): Promise<void> {
  const reply = await connection.request('ping', {}, { timeoutMs: settings.connectTimeoutMs });
  if (reply.kind !== 'result' && reply.kind !== 'error') throw unavailable('the earlier session', reply, true);
}

function unavailable(what: string, reply: Reply, resumed: boolean): EndpointUnavailable {
  const refused = reply.kind === 'http' && resumed && reply.status === 404;
  return new EndpointUnavailable(`${what}: ${describe(reply)}`, refused);
}
