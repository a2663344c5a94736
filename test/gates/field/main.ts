/**
 * Scripted servers behind fronts, as one program: `--options JSON`, a list with one entry per server. Prints one line of
 * JSON, `[{"url","port","front"}, ...]`, and ends when its input ends.
 */
import { parseArgs } from 'node:util';
import { serveHttp } from '../../kit/servers/mcp-2025-11-25/http.ts';
import type { ScriptedOptions } from '../../kit/servers/mcp-2025-11-25/options.ts';
import { World } from '../../kit/servers/mcp-2025-11-25/world.ts';
import { Front } from './front.ts';

const { values } = parseArgs({ options: { options: { type: 'string', default: '[{}]' } } });
const servers: object[] = [];
for (const options of JSON.parse(values.options) as Partial<ScriptedOptions>[]) {
  const world = new World();
  world.options = { ...world.options, ...options };
  const port = await serveHttp(world, 0);
  const front = await new Front(world, port).listen();
  servers.push({ url: `http://127.0.0.1:${front}/mcp`, port, front });
}
process.stdout.write(`${JSON.stringify(servers)}\n`);
process.stdin.resume().on('end', () => process.exit(0));
