/** `npm run build [DIRECTORY]`: what the package ships. Compiled modules, the scripts of Redis beside them, an executable command. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiler } from './compiler.ts';
import { writePages } from './web/page-build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, process.argv[2] ?? 'dist');

rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [compiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', dist],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) process.exit(status ?? 1);
for (const scripts of [join('persistence', 'scripts'), join('adapters', 'mcp', 'server', 'scripts')]) {
  cpSync(join(root, scripts), join(dist, scripts), { recursive: true });
}
await writePages(join(dist, 'visualizer', 'web', 'page'));
chmodSync(join(dist, 'visualizer', 'cli', 'main.js'), 0o755);
