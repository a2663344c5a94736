import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A stdio server may have been started by a launcher (`npx`, a shell) that goes without it: everything below a process. */
export async function descendantsOf(pid: number): Promise<readonly number[]> {
  const listing = await run('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => null);
  if (listing === null) return [];
  const children = new Map<number, number[]>();
  for (const line of listing.stdout.split('\n')) {
    const [child, parent] = line.trim().split(/\s+/).map(Number);
    if (child === undefined || parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const found: number[] = [];
  for (let queue = children.get(pid) ?? []; queue.length > 0; queue = queue.flatMap((one) => children.get(one) ?? [])) {
    found.push(...queue);
  }
  return found;
}

/** Ends what is left of a process tree; what is gone already is no matter. */
export function endAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It is gone.
    }
  }
}
