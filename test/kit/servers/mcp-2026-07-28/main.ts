/**
 * The scripted MCP server of 2026-07-28 as a program:
 *
 *     node --import tsx test/kit/servers/mcp-2026-07-28/main.ts --http 0 [--options JSON] [--with-parent]
 *     node --import tsx test/kit/servers/mcp-2026-07-28/main.ts --stdio [--options JSON] [--control PORT]
 *
 * With `--http` it prints one line of JSON, `{"url","controlUrl","port"}`. `--with-parent`: ends when its input ends.
 */
import { parseArgs } from 'node:util';
import { serveHttp } from './http.ts';
import { Listens } from './listens.ts';
import type { ScriptedOptions } from './options.ts';
import { serveOverStdio } from './stdio.ts';
import { World } from './world.ts';

const { values } = parseArgs({
  options: {
    stdio: { type: 'boolean' },
    http: { type: 'string' },
    control: { type: 'string' },
    options: { type: 'string' },
    'with-parent': { type: 'boolean' },
  },
});

const world = new World();
const listens = new Listens(world);
const given = JSON.parse(values.options ?? '{}') as Partial<ScriptedOptions>;
world.options = { ...world.options, ...given };

if (values.stdio === true) {
  if (values.control !== undefined) await serveHttp(world, listens, Number(values.control));
  serveOverStdio(world, listens);
  process.stdin.on('end', () => process.exit(0));
} else {
  const port = await serveHttp(world, listens, Number(values.http ?? 0));
  const origin = `http://127.0.0.1:${port}`;
  process.stdout.write(`${JSON.stringify({ url: `${origin}/mcp`, controlUrl: `${origin}/control`, port })}\n`);
  if (values['with-parent'] === true) process.stdin.resume().on('end', () => process.exit(0));
}
