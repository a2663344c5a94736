/** What the AIP-151 server does when it is told, seen by a plain client; the adapter's tests show the faults. */
import { afterEach, expect, it } from 'vitest';
import { type AipServer, REPORT, startAipServer } from './index.ts';

let server: AipServer;
afterEach(() => server.stop());

const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${server.address().url}/v1/${path}`, {
    method,
    // None that a crash has broken is taken again.
    headers: { connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, said: await response.json() };
};
const start = (requestId = 'one') => ask('POST', 'reports', { requestId });

it('an operation waits until the test says what becomes of it', async () => {
  server = await startAipServer();
  await start();
  const { last } = server;
  expect(await ask('GET', last)).toEqual({ status: 200, said: { name: last } });
  server.progress({ percent: 50 });
  expect((await ask('GET', last)).said).toEqual({ name: last, metadata: { percent: 50 } });
  server.complete();
  expect((await ask('GET', last)).said).toMatchObject({ done: true, response: REPORT });
  await start();
  server.fail(9, 'no');
  expect((await ask('GET', server.last)).said).toMatchObject({ done: true, error: { code: 9, message: 'no' } });
  server.forget(last);
  expect((await ask('GET', last)).status).toBe(404);
  expect(() => server.complete(REPORT, last)).toThrow(`no operation ${last}`);
  expect([server.executions, server.count('start'), server.count('get')]).toEqual([2, 2, 5]);
});

it('a cancel ends it; where it is only heard, or not known, the operation goes on', async () => {
  server = await startAipServer({ wrap: 'operation' });
  expect((await start()).said).toEqual({ operation: { name: server.last } });
  expect((await ask('POST', `${server.last}:cancel`)).status).toBe(200);
  expect((await ask('GET', server.last)).said).toMatchObject({ done: true, error: { code: 1 } });
  for (const [cancel, status] of [['heard', 200] as const, ['unimplemented', 501] as const]) {
    server.reset({ cancel });
    await start();
    expect((await ask('POST', `${server.last}:cancel`)).status).toBe(status);
    expect((await ask('GET', server.last)).said).not.toHaveProperty('done');
    expect(server.requests.map(({ call }) => call)).toEqual(['start', 'cancel', 'get']);
  }
});

it('a request id makes one operation, as long as it is remembered; a restart may forget it', async () => {
  server = await startAipServer({ requestIdMs: 60_000 });
  const first = (await start()).said;
  expect((await start()).said).toEqual(first);
  const { port } = server;
  await server.restart(true);
  expect((await start()).said).toEqual(first);
  await server.restart(false);
  expect((await start()).said).not.toEqual(first);
  expect([server.port, server.executions]).toEqual([port, 2]);
});
