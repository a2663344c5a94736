/** What each mode does to a connection, before a real HTTP server. */
import http from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/rig.ts';
import { startProxy, type TcpProxy } from './index.ts';
import { listen } from './listen.ts';

const seen: string[] = [];
const server = http.createServer((request, response) => {
  seen.push(request.url ?? '');
  response.end('here');
});
let proxy: TcpProxy;
beforeAll(async () => {
  proxy = await startProxy(await listen(server, 0));
});
afterAll(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  await proxy.setMode({ kind: 'pass' });
  seen.length = 0;
});

/** On a connection of its own; how it failed is its code. */
const get = (path: string, signal?: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    http
      .get(`http://127.0.0.1:${proxy.port}${path}`, { agent: false, ...(signal && { signal }) }, (response) => {
        response.on('data', (chunk) => resolve(String(chunk)));
      })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });

it('passes everything, and says where it is', async () => {
  expect(proxy.url).toBe(`http://127.0.0.1:${proxy.port}/mcp`);
  expect(await get('/pass')).toBe('here');
  expect(proxy.log.at(-1)).toBe('open');
});

it('cuts after a request that matches: it was seen, and its answer never comes', async () => {
  await proxy.setMode({ kind: 'cutAfterRequest', matches: /\/cut/, times: 2 });
  expect(await get('/other')).toBe('here');
  expect(await get('/cut')).toBe('ECONNRESET');
  expect(proxy.log.at(-1)).toBe('cut');
  expect(await get('/cut')).toBe('ECONNRESET');
  expect(await get('/cut')).toBe('here');
  await proxy.setMode({ kind: 'cutAfterRequest', matches: 'GET /once' });
  expect(await get('/once')).toBe('ECONNRESET');
  expect(await get('/once')).toBe('here');
  expect(seen).toEqual(['/other', '/cut', '/cut', '/cut', '/once', '/once']);
});

it('refuses, and listens on the same port again', async () => {
  const { port } = proxy;
  await proxy.setMode({ kind: 'refuse' });
  expect(await get('/refused')).toBe('ECONNREFUSED');
  expect(proxy.log.at(-1)).toBe('refused');
  await proxy.setMode({ kind: 'pass' });
  expect(proxy.port).toBe(port);
  expect(await get('/again')).toBe('here');
  expect(seen).toEqual(['/again']);
});

it('takes connections and passes nothing on', async () => {
  await proxy.setMode({ kind: 'blackhole' });
  const opened = proxy.log.length;
  const patience = new AbortController();
  const swallowed = get('/swallowed', patience.signal);
  await eventually(async () => proxy.log.length > opened);
  await proxy.setMode({ kind: 'pass' });
  expect(await get('/passed')).toBe('here');
  patience.abort();
  expect(await swallowed).toBe('ABORT_ERR');
  expect(seen).toEqual(['/passed']);
});

it('delays each way', async () => {
  await proxy.setMode({ kind: 'delay', ms: 60 });
  const before = performance.now();
  expect(await get('/late')).toBe('here');
  expect(performance.now() - before).toBeGreaterThanOrEqual(115);
});
