import type { Endpoint } from '../../machines/operation-protocol.ts';
import { type Link, parseUrl, startLink, stdioLink } from '../mcp/links.ts';
import type { Settings } from '../mcp/options.ts';
import { Connection } from '../mcp/rpc/connection.ts';
import { createHttpLink } from '../mcp/rpc/http-fetch.ts';
import { PostTransport } from '../mcp/rpc/post-transport.ts';
import { standardHeaders } from './headers.ts';
import { envelopeOf } from './names.ts';

/** After the last byte of a stream, the time that its reader gets to hand over what it read, ms. Nothing is resumed here. */
const DRAIN_MS = 100;

/** Opens a connection. On this revision there is nothing to say first: no `initialize`, no session, no standing stream. */
export async function open(endpoint: Endpoint, settings: Settings): Promise<Link> {
  const envelope = envelopeOf(settings);
  const link =
    endpoint.kind === 'http' ? httpLink(endpoint, settings, envelope) : stdioLink(endpoint, settings, envelope);
  try {
    await startLink(link.connection);
  } catch (error) {
    await link.close();
    throw error;
  }
  return link;
}

function httpLink(
  endpoint: Endpoint & { kind: 'http' },
  settings: Settings,
  envelope: Readonly<Record<string, unknown>>,
): Link {
  const url = parseUrl(endpoint.url);
  const link = createHttpLink(settings.maxMessageBytes);
  const transport = new PostTransport(url, {
    fetch: link.fetch,
    headers: { ...endpoint.headers },
    headersOf: standardHeaders,
  });
  const connection = new Connection(transport, { overHttp: true, graceMs: DRAIN_MS, envelope });
  return {
    connection,
    async close() {
      await connection.close();
      link.close();
    },
    ending: async () => null,
  };
}
