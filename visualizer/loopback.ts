/** Servers for this machine only: bound to loopback, and asked by nobody but what they served themselves. */
import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const HOST = '127.0.0.1';

/** Answers the address. Rejects with the error of `listen` where the port is in use. 0: any that is free. */
export async function listenHere(server: Server, port: number): Promise<string> {
  server.listen(port, HOST);
  await once(server, 'listening');
  return `http://${HOST}:${portOf(server)}`;
}

/** Ends with what is open: streams, too. */
export function closeHere(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/** Another name that leads here is somebody else's page that was pointed at this port. */
export const isOurName = ({ host }: IncomingHttpHeaders, server: Server): boolean =>
  host === `${HOST}:${portOf(server)}` || host === `localhost:${portOf(server)}`;

/** What is asked for by a page was asked for by one of this server. */
export const isOurOrigin = ({ host, origin }: IncomingHttpHeaders): boolean =>
  origin === undefined || origin === `http://${host}`;

/** A host name of an address on this machine. */
export const isLoopback = (hostname: string): boolean => ['localhost', HOST, '[::1]'].includes(hostname);

/** A program, which names no origin, or a page that a server on this machine served. */
export function isLoopbackOrigin({ origin }: IncomingHttpHeaders): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return /^https?:$/.test(protocol) && isLoopback(hostname);
}

const portOf = (server: Server): number => (server.address() as AddressInfo | null)?.port ?? 0;
