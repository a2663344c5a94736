/** `npm run build [DIRECTORY]`: what the package ships. Compiled modules, the ledger's scripts beside them, an executable command. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, process.argv[2] ?? 'dist');

/** The compiler that npm installed: the name of its file is in its package. */
function compiler(): string {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
  return join(dirname(manifest), bin.tsc);
}

rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [compiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', dist],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) process.exit(status ?? 1);
cpSync(join(root, 'persistence', 'scripts'), join(dist, 'persistence', 'scripts'), { recursive: true });
chmodSync(join(dist, 'visualizer', 'cli', 'main.js'), 0o755);
