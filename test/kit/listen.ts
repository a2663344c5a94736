/** How the kit's servers start to listen: on loopback only, and refused with the system's words. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** As an argument of a program says it. */
const error = 'a port is a whole number from 0 to 65535';
export const Port = z.coerce.number({ error }).int({ error }).min(0, { error }).max(65_535, { error });

/** Gives the port; 0 asks for a free one. Rejects where it is not free (`EADDRINUSE`), or is none. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
