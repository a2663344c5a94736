/**
 * A proxy on the wire between an MCP client and its server, which does to single JSON-RPC messages what `wire/rules.ts`
 * knows: drop, delay, duplicate, reorder, truncate, replace. As a program:
 *
 *     node --import tsx test/kit/wire/main.ts [--control PORT] [--rules JSON] -- COMMAND ARGS...
 *     node --import tsx test/kit/wire/main.ts --http URL [--control PORT] [--rules JSON]
 *
 * The first form takes the place of a stdio server. The second listens on `--control` (default: a free port) and prints
 * one line of JSON, `{"url","port"}`.
 */
import { parseArgs } from 'node:util';
import { readRules, serveControl } from './control.ts';
import { startHttpProxy } from './http.ts';
import { runStdioProxy } from './stdio.ts';
import { Wire } from './wire.ts';

const { values, positionals } = parseArgs({
  options: { http: { type: 'string' }, control: { type: 'string' }, rules: { type: 'string' } },
  allowPositionals: true,
});
const rules = readRules({ rules: JSON.parse(values.rules ?? '[]') }, values.http === undefined ? 'stdio' : 'http');
const [command, ...args] = positionals;

if (values.http !== undefined) {
  const { url, port } = await startHttpProxy(values.http, rules, Number(values.control ?? 0));
  process.stdout.write(`${JSON.stringify({ url, port })}\n`);
} else if (command === undefined) {
  throw new Error('say which server to start: -- COMMAND ARGS...');
} else {
  const wire = new Wire();
  wire.setRules(rules);
  if (values.control !== undefined) await serveControl(wire, Number(values.control));
  runStdioProxy(wire, command, args);
}
