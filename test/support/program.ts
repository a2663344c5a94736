/** How a test starts one of the project's programs as a process: compiled under the test runner, as a source elsewhere. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiled = await compiledDirectory();

/** Arguments for `node`; `source` is the path of a module. */
export function program(source: string): readonly string[] {
  if (compiled === null) return ['--import', import.meta.resolve('tsx'), source];
  return [`${compiled}/${relative(root, source).replace(/\.ts$/, '.js')}`];
}

async function compiledDirectory(): Promise<string | null> {
  if (process.env.VITEST === undefined) return null;
  const { inject } = await import('vitest');
  return inject('compiled');
}
