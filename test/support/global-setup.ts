/** Before the first test: a Redis server to test against. Installed where that is possible, asked for where it is not. */
import { spawnSync } from 'node:child_process';

const runs = (command: string, args: readonly string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

export default function setup(): void {
  if (runs('redis-server', ['--version'])) return;
  if (process.getuid?.() === 0 && runs('apt-get', ['--version'])) {
    console.log('redis-server is missing: installing it with apt-get');
    runs('apt-get', ['update', '-qq']);
    runs('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'redis-server']);
  }
  if (!runs('redis-server', ['--version'])) {
    throw new Error(
      'the tests need redis-server on the PATH (Debian: apt-get install redis-server); they start their own',
    );
  }
}
