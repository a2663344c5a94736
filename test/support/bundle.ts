/**
 * Every program that tests start as a process, each as one file: a start of the sources, or of a thousand modules, costs
 * several times as much, and there are hundreds of starts.
 */
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const PROGRAMS = [
  'visualizer/cli/main.ts',
  'test/support/executor-process.ts',
  'test/support/parent-process.ts',
  'test/kit/servers/mcp-2025-11-25/main.ts',
  'test/kit/servers/mcp-2026-07-28/main.ts',
  'test/examples/agent.ts',
  'test/examples/promise.ts',
  'test/kit/wire/main.ts',
  'test/persistence/writer.ts',
  'test/chaos/worker.ts',
  'test/inspect/app.ts',
  'test/gates/field/main.ts',
  'test/gates/g1/walker.ts',
  'test/servers-half/server-2025.ts',
  'test/servers-half/server-2026.ts',
];
/** Common code that needs what an ES module does not have. */
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

/** Where a module finds the files beside it stays where its source is. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }));
  },
};

/** The directory of the bundles, laid out as the sources are. */
export async function bundlePrograms(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'toolop-test-'));
  await build({
    absWorkingDir: root,
    entryPoints: PROGRAMS,
    outbase: '.',
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // These find their other parts beside themselves.
    external: ['libsql', 'esbuild'],
    banner: { js: REQUIRE },
    plugins: [ownPlaces],
  });
  return outdir;
}
