/**
 * Before the first test: a Redis server to test against (installed where that is possible, asked for where it is not), and
 * every program that tests start as a process, compiled once (a start of the sources costs twice the time, hundreds of times).
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { compiler } from '../../visualizer/compiler.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory of the compiled programs, laid out as the sources are. */
    readonly compiled: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const runs = (command: string, args: readonly string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

export default function setup(project: TestProject): () => void {
  ensureRedis();
  const compiled = compileAll();
  project.provide('compiled', compiled);
  return () => rmSync(compiled, { recursive: true, force: true });
}

function compileAll(): string {
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const out = mkdtempSync(join(cache, 'toolop-test-'));
  const { status } = spawnSync(
    process.execPath,
    [compiler(), '-p', join(root, 'tsconfig.json'), '--outDir', out, '--declaration', 'false', '--noCheck'],
    { stdio: 'inherit' },
  );
  if (status !== 0) throw new Error('the sources cannot be read: see above');
  cpSync(join(root, 'persistence', 'scripts'), join(out, 'persistence', 'scripts'), { recursive: true });
  return out;
}

function ensureRedis(): void {
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
