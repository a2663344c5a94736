/** The package as it is published, made in a directory of its own: the sources' `dist` is left alone. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const root = fileURLToPath(new URL('../..', import.meta.url));

interface Entry {
  readonly types: string;
  readonly default: string;
}
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Entry | string>>;
};

/** Entry points with their declarations, by what a user imports. */
export const entryPoints: readonly { readonly name: string; readonly types: string }[] = Object.entries(
  manifest.exports,
).flatMap(([path, entry]) =>
  typeof entry === 'string' ? [] : [{ name: manifest.name + path.slice(1), types: entry.types }],
);

/** Builds the package into a directory: `dist`, and the files that npm adds. */
export async function buildPackage(directory: string): Promise<void> {
  const build = join(root, 'visualizer', 'build.ts');
  await run(process.execPath, ['--import', import.meta.resolve('tsx'), build, join(directory, 'dist')], { cwd: root });
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(root, file), join(directory, file));
}
