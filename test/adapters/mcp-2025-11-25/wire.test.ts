import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it } from 'vitest';
import { Connection } from '../../../adapters/mcp/rpc/connection.ts';
import { createHttpLink } from '../../../adapters/mcp/rpc/http-fetch.ts';
import { startProxy, type TcpProxy } from '../../kit/tcp-proxy.ts';
import { eventually, sleep } from './helpers.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function connectionTo(url: string): Promise<Connection> {
  const link = createHttpLink(1_000_000);
  const connection = new Connection(new StreamableHTTPClientTransport(new URL(url), { fetch: link.fetch }), {
    overHttp: true,
    graceMs: 200,
  });
  await connection.start();
  cleanUp.push(() => connection.close().then(() => link.close()));
  return connection;
}

async function blackHole(): Promise<TcpProxy> {
  const proxy = await startProxy(1);
  await proxy.setMode({ kind: 'blackhole' });
  cleanUp.push(() => proxy.close());
  return proxy;
}

describe('what was written, and what was not', () => {
  it('giving up while the connection is still being made proves that nothing was sent, and nothing goes out later', async () => {
    const proxy = await blackHole();
    const connection = await connectionTo(`https://127.0.0.1:${proxy.port}/mcp`);
    let asked = 0;
    const mayWrite = (): boolean => {
      asked += 1;
      return true;
    };
    const reply = await connection.request(
      'tools/call',
      {},
      { timeoutMs: 100, mayWrite, late: () => undefined, freshConnection: true },
    );
    expect(reply).toMatchObject({ kind: 'notWritten' });
    expect(asked).toBe(0);
  });

  it('mayWrite is asked when the connection stands, not when the call is made', async () => {
    const order: string[] = [];
    const server = http.createServer((_request, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => void server.close());
    server.on('connection', () => order.push('connected'));
    const connection = await connectionTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    const pending = connection.request('x', {}, { timeoutMs: 1_000, mayWrite: () => order.push('asked') > 0 });
    expect(order).toEqual([]);
    expect(await pending).toEqual({ kind: 'http', status: 503 });
    expect([...order].sort()).toEqual(['asked', 'connected']);
  });

  it('a plain server behind an https address is provably not sent', async () => {
    const server = http.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => void server.close());
    const connection = await connectionTo(`https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    expect(await connection.request('x', {}, { timeoutMs: 2_000 })).toMatchObject({ kind: 'notWritten' });
  });

  it('closing ends every wait at once, and sends nothing', async () => {
    const bodies: string[] = [];
    const server = http.createServer((request) => request.on('data', (chunk: Buffer) => bodies.push(String(chunk))));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => void server.close());
    const connection = await connectionTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    const late: unknown[] = [];
    const pending = connection.request('x', {}, { timeoutMs: null, late: (reply) => void late.push(reply) });
    await eventually(() => bodies.length === 1);
    await connection.close();
    expect(await pending).toMatchObject({ kind: 'lost' });
    expect(await connection.request('x', {}, { timeoutMs: null })).toMatchObject({ kind: 'notWritten' });
    await sleep(50);
    expect(bodies).toHaveLength(1);
    expect(late).toEqual([]);
    server.closeAllConnections();
  });
});
