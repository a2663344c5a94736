/** Serves the low-level server of the SDK of 2026-07-28 over HTTP on loopback. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, type Server } from '@modelcontextprotocol/server';

/** Answers the address. */
export async function serve2026(createServer: () => Server, port: number): Promise<string> {
  const handler = createMcpHandler(() => createServer(), { legacy: 'reject', keepAliveMs: 0 });
  const server = http.createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  async function route(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    const body = Buffer.concat(chunks);
    const served = await handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: request.method ?? 'POST',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
        signal: gone.signal,
        ...(body.length === 0 ? {} : { body }),
      }),
    );
    response.writeHead(served.status, Object.fromEntries(served.headers.entries()));
    for await (const chunk of served.body ?? []) response.write(chunk);
    response.end();
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
