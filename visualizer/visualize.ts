/**
 * `npm run visualize`: the local page on a ledger of its own, on which a real MCP server is called again and again. With
 * arguments it is `toolop web`: `npm run visualize -- --ledger redis://127.0.0.1:6379`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCalls } from './demo/calls.ts';
import { openDemo } from './demo/open.ts';
import { openSite } from './web/site.ts';

if (process.argv.length > 2) {
  process.argv.splice(2, 0, 'web');
  await import('./cli/main.ts');
} else {
  await demonstrate();
}

async function demonstrate(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const directory = mkdtempSync(join(tmpdir(), 'toolop-visualize-'));
  const path = join(directory, 'ledger.db');
  const { ledger, executor } = await openDemo(path);
  const site = await openSite({
    ...{ ledger, executor, namespace: 'demo', name: path, port: 0, allowActions: true, by: 'web:demo' },
    hint: (command, operationId, rest = []) =>
      ['toolop', command, operationId, ...rest, '--ledger', path, '--namespace', 'demo'].join(' '),
  });
  process.stdout.write(`${site.url}\n`);
  process.stderr.write('a real server is called every few seconds; some calls ask for you. Ctrl-C ends all of it\n');
  try {
    await makeCalls(executor, stop.signal);
  } finally {
    await site.close();
    await executor.stop();
    await ledger.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
