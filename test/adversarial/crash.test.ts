import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('an HTTP status beyond 599 does not end the process', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 700 X\r\ncontent-length: 0\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const adapter = new URL('../../adapters/mcp-2025-11-25/index.ts', import.meta.url).href;
  const file = join(mkdtempSync(join(tmpdir(), 'toolop-')), 'client.mts');
  writeFileSync(
    file,
    `import { mcp20251125 } from '${adapter}';
     await mcp20251125().connect({ kind: 'http', url: '${url}' }).catch((error) => console.log(error.name));`,
  );
  const said = await new Promise<string>((resolve) =>
    execFile(process.execPath, ['--import', import.meta.resolve('tsx'), file], (error, out) =>
      resolve(`${error?.code ?? 0} ${out.trim()}`),
    ),
  );
  server.close();
  expect(said).toBe('0 EndpointUnavailable');
});
