/**
 * How one of the kit's programs is started as a process: as it was built in the package, as a source elsewhere. This
 * project's own tests start bundles of the sources instead (`BUNDLES`), because a start of sources costs several times as much.
 */
import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Environment variable: the directory of the bundles, inside of the sources that were bundled. */
export const BUNDLES = 'TOOLOP_TEST_BUNDLES';

/** The path of a program whose module stands beside `base` (its `import.meta.url`), named without its ending. */
export const programBeside = (base: string, name: string): string =>
  fileURLToPath(new URL(name + (base.endsWith('.ts') ? '.ts' : '.js'), base));

/** Arguments for `node`; `source` is the path of a module. */
export function program(source: string): readonly string[] {
  if (!source.endsWith('.ts')) return [source];
  const bundles = process.env[BUNDLES];
  // A copy of the sources elsewhere (a mutant) is not what was bundled.
  if (bundles === undefined || !bundles.startsWith(root)) return ['--import', import.meta.resolve('tsx'), source];
  const path = relative(root, source).split(sep).join('/').replace(/\.ts$/, '.js');
  if (!existsSync(`${bundles}/${path}`))
    throw new Error(`${relative(root, source)} is not among the programs of test/support/bundle.ts`);
  return [`${bundles}/${path}`];
}
