/** How a test starts one of the project's programs as a process: bundled under the test runner, as a source elsewhere. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundles = await bundleDirectory();

/** Arguments for `node`; `source` is the path of a module. */
export function program(source: string): readonly string[] {
  if (bundles === null) return ['--import', import.meta.resolve('tsx'), source];
  const bundle = `${bundles}/${relative(root, source).replace(/\.ts$/, '.js')}`;
  if (!existsSync(bundle))
    throw new Error(`${relative(root, source)} is not among the programs of test/support/bundle.ts`);
  return [bundle];
}

async function bundleDirectory(): Promise<string | null> {
  if (process.env.VITEST === undefined) return null;
  const { inject } = await import('vitest');
  return inject('bundles');
}
