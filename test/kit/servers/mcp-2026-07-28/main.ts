/**
 * The scripted MCP server of 2026-07-28 as a program:
 *
 *     node --import tsx test/kit/servers/mcp-2026-07-28/main.ts --http 0 [--options JSON] [--with-parent]
 *     node --import tsx test/kit/servers/mcp-2026-07-28/main.ts --stdio [--options JSON] [--control PORT]
 *
 * With `--http` it prints one line of JSON, `{"url","controlUrl","port"}`, or `{"error"}` and ends with code 1. `--with-parent`:
 * ends when its input ends.
 */
import { understood } from '../../told.ts';
import { runProgram } from '../run-program.ts';
import { Options } from './schema.ts';
import { World } from './world.ts';

await runProgram(async (told) => {
  const world = new World();
  world.options = { ...world.options, ...understood(Options, told) };
  const { serveHttp, serveOverStdio, Listens } = await parts();
  const listens = new Listens(world);
  return {
    serveHttp: (port) => serveHttp(world, listens, port),
    serveStdio: () => serveOverStdio(world, listens),
  };
});

/** What needs a package that is not installed with this one. */
async function parts() {
  try {
    return { ...(await import('./http.ts')), ...(await import('./stdio.ts')), ...(await import('./listens.ts')) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes('@modelcontextprotocol/server')) throw error;
    throw new Error(
      'this server needs a package that is not installed: npm install --save-dev @modelcontextprotocol/server@^2.4.0',
    );
  }
}
