/**
 * The scripted MCP server as a program:
 *
 *     node --import tsx test/kit/servers/mcp-2025-11-25/main.ts --http 0 [--options JSON] [--with-parent]
 *     node --import tsx test/kit/servers/mcp-2025-11-25/main.ts --stdio [--options JSON] [--control PORT]
 *
 * With `--http` it prints one line of JSON, `{"url","controlUrl","port"}`, or `{"error"}` and ends with code 1. `--with-parent`:
 * ends when its input ends.
 */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { understood } from '../../told.ts';
import { runProgram } from '../run-program.ts';
import { connectLogged, serveHttp } from './http.ts';
import { Options } from './schema.ts';
import { World } from './world.ts';

await runProgram(async (told) => {
  const world = new World();
  world.options = { ...world.options, ...understood(Options, told) };
  return {
    serveHttp: (port) => serveHttp(world, port),
    serveStdio: () => connectLogged(world, new StdioServerTransport()),
  };
});
