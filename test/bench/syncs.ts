/** How often a process syncs a file to the disk: Redis does not say, `strace` does, where there is one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long it may take until every thread is watched, ms. */
const ATTACH_MS = 10_000;

/** Counts the syncs of `pid` while `work` goes on; `null` where nobody may watch. The work is slower meanwhile. */
export async function countSyncs(pid: number, work: () => Promise<void>): Promise<number | null> {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-strace-'));
  const file = join(directory, 'syncs');
  const tracer = spawn('strace', ['-f', '-e', 'trace=fdatasync,fsync', '-o', file, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const ended = once(tracer, 'exit').catch(() => undefined);
    if (!(await attached(tracer))) return null;
    await work();
    tracer.kill('SIGINT');
    await ended;
    return syncsIn(readFileSync(file, 'utf8'));
  } finally {
    tracer.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A call that another thread interrupts in the listing has two lines: only the one that begins it counts. */
export const syncsIn = (listing: string): number => listing.match(/\bf(data)?sync\(/g)?.length ?? 0;

function attached(tracer: ReturnType<typeof spawn>): Promise<boolean> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(false), ATTACH_MS);
    const answer = (is: boolean) => {
      clearTimeout(limit);
      resolve(is);
    };
    tracer.once('error', () => answer(false));
    tracer.once('exit', () => answer(false));
    tracer.stderr?.on('data', (data: Buffer) => {
      if (data.includes('attached')) answer(true);
    });
  });
}
