/**
 * A proxy on the wire between an MCP client and its server, which does to single JSON-RPC messages what `wire/rules.ts`
 * knows: drop, delay, duplicate, reorder, truncate, replace. As a program:
 *
 *     node --import tsx test/kit/wire/main.ts [--control PORT] [--rules JSON] -- COMMAND ARGS...
 *     node --import tsx test/kit/wire/main.ts --http URL [--control PORT] [--rules JSON]
 *
 * The first form takes the place of a stdio server. The second listens on `--control` (default: a free port) and prints
 * one line of JSON, `{"url","port"}`. Both end with code 1, and say why, when they cannot start.
 */
import { parseArgs } from 'node:util';
import { Port } from '../listen.ts';
import { jsonOf, understood } from '../told.ts';
import { readRules, serveControl } from './control.ts';
import { startHttpProxy } from './http.ts';
import { runStdioProxy } from './stdio.ts';
import { Wire } from './wire.ts';

const { values, positionals } = parseArgs({
  options: { http: { type: 'string' }, control: { type: 'string' }, rules: { type: 'string' } },
  allowPositionals: true,
});
const [command, ...args] = positionals;

try {
  const told = { rules: jsonOf(values.rules ?? '[]') };
  const rules = readRules(told, values.http === undefined ? 'stdio' : 'http');
  const port = understood(Port, values.control ?? 0);
  if (values.http !== undefined) {
    const proxy = await startHttpProxy(values.http, rules, port);
    process.stdout.write(`${JSON.stringify({ url: proxy.url, port: proxy.port })}\n`);
  } else if (command === undefined) {
    throw new Error('say which server to start: -- COMMAND ARGS...');
  } else {
    const wire = new Wire();
    wire.setRules(rules);
    if (values.control !== undefined) await serveControl(wire, port);
    runStdioProxy(wire, command, args);
  }
} catch (error) {
  process.stderr.write(`the wire proxy did not start: ${(error as Error).message}\n`, () => process.exit(1));
}
