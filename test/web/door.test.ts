/** Who is let in: only the page itself, on this machine. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { useWeb } from './stage.ts';

interface Given {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(
  url: string,
  { path, method = 'GET', headers = {}, body }: Given,
): Promise<[status: number, said: string]> {
  const { port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: path ?? pathname, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve([response.statusCode ?? 0, Buffer.concat(chunks).toString()]));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

describe('the door of the page', () => {
  const web = useWeb('embedded');

  it('lets nobody in without the token, under another name, or from another origin', async () => {
    const { url } = await web().site();
    expect((await ask(url, {}))[0]).toBe(200);
    expect((await ask(url, { path: '/' }))[0]).toBe(403);
    expect((await ask(url, { path: '/wrong/' }))[0]).toBe(403);
    expect((await ask(url, { headers: { host: 'attacker.example' } }))[0]).toBe(403);
    expect((await ask(url, { headers: { origin: 'https://attacker.example' } }))[0]).toBe(403);
    expect((await ask(url, { headers: { origin: 'null' } }))[0]).toBe(403);
  });

  it('takes a command only with the token in a header and the origin, and says what is wrong with it', async () => {
    const { url, token } = await web().site(true);
    const path = `${new URL(url).pathname}api/act`;
    const { origin } = new URL(url);
    const post = (headers: Readonly<Record<string, string>>, body: string) =>
      ask(url, { path, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
    expect((await post({ origin }, '{}'))[0]).toBe(403);
    expect((await post({ 'x-toolop-token': token }, '{}'))[0]).toBe(403);
    const own = { origin, 'x-toolop-token': token };
    expect((await post(own, 'no JSON'))[0]).toBe(400);
    expect(await post(own, '{"verb":"destroy"}')).toEqual([400, expect.stringContaining('verb')]);
    expect((await post({ ...own, 'content-type': 'text/plain' }, '{}'))[0]).toBe(415);
    const nobody = { verb: 'cancel', operationId: `p00.${'0'.repeat(64)}`, reason: null };
    expect((await post(own, JSON.stringify(nobody)))[0]).toBe(404);
  });
});
