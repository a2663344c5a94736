/**
 * Before the first test: a Redis server and a browser to test with (installed where that is possible, asked for where it is
 * not), and every program that tests start as a process, bundled once.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { BUNDLES } from '../kit/program.ts';
import { bundlePrograms } from './bundle.ts';

const runs = (command: string, args: readonly string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

export default async function setup(): Promise<() => void> {
  ensure('redis-server');
  ensure('chromium');
  const bundles = await bundlePrograms();
  process.env[BUNDLES] = bundles;
  return () => rmSync(bundles, { recursive: true, force: true });
}

/** Debian's package of the same name, where it is missing and can be installed. */
function ensure(program: 'redis-server' | 'chromium'): void {
  if (runs(program, ['--version'])) return;
  if (process.getuid?.() === 0 && runs('apt-get', ['--version'])) {
    console.log(`${program} is missing: installing it with apt-get`);
    runs('apt-get', ['update', '-qq']);
    runs('apt-get', ['install', '-y', '-qq', '--no-install-recommends', program]);
  }
  if (!runs(program, ['--version'])) {
    throw new Error(`the tests need ${program} on the PATH (Debian: apt-get install ${program}); they start their own`);
  }
}
