/** G1 in simulation: ways through the closed system until enough of them were distinct, on both cores. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { program } from '../../kit/program.ts';
import { beginnings } from '../../model/paths/plan-file.ts';
import { SETTINGS } from '../../model/system/contracts.ts';
import { type Matrix, Orderings } from '../../model/system/orderings.ts';
import type { Way } from '../../model/system/way.ts';
import { few, type Run, whole } from '../gate.ts';
import { missed, pairs, summed } from './matrix.ts';

export interface Batch {
  readonly hashes: readonly number[];
  readonly divergences: readonly { readonly way: string; readonly setting: string; readonly what: string }[];
  /** Of all that the walker walked so far. */
  readonly matrix: Matrix;
}

export interface Simulated {
  readonly walked: number;
  readonly distinct: number;
  readonly divergences: Batch['divergences'];
  readonly matrix: Matrix;
  readonly perSecond: number;
}

const WALKER = fileURLToPath(new URL('./walker.ts', import.meta.url));
const WALKERS = 2;
/** Ways that repeat earlier ones: so many more may be walked than are wanted. */
const PATIENCE = 10;

/** Until `distinct` different ways were walked; what diverges ends it at once. */
export async function simulate({ sizes, seed, signal, progress }: Run): Promise<Simulated> {
  const seen = new Set<number>();
  const matrices: Matrix[] = Array.from({ length: WALKERS }, () => ({}));
  const divergences: Batch['divergences'][number][] = [];
  let walked = 0;
  const began = performance.now();
  const took = () => (performance.now() - began) / 1_000;

  const enough = new AbortController();
  const over = AbortSignal.any([signal, enough.signal]);
  const walkers = Array.from({ length: WALKERS }, async (_, nth) => {
    const child = spawn(process.execPath, [...program(WALKER), String(seed + nth), String(WALKERS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    over.addEventListener('abort', kill);
    for await (const line of createInterface({ input: child.stdout })) {
      if (over.aborted) break;
      const batch = JSON.parse(line) as Batch;
      walked += batch.hashes.length;
      for (const hash of batch.hashes) if (seen.size < sizes.simulated) seen.add(hash);
      matrices[nth] = batch.matrix;
      divergences.push(...batch.divergences);
      progress(`simulated: ${whole(seen.size)} distinct of ${whole(walked)}, ${whole(walked / took())}/s`);
      if (seen.size >= sizes.simulated || walked > sizes.simulated * PATIENCE || divergences.length > 0) enough.abort();
    }
    process.off('exit', kill);
    if (!over.aborted) {
      enough.abort();
      throw new Error('a walker ended by itself');
    }
  });
  await Promise.all(walkers);
  signal.throwIfAborted();
  return {
    walked,
    distinct: seen.size,
    divergences,
    matrix: summed(matrices),
    perSecond: walked / took(),
  };
}

/** One way, step by step. */
export async function replay(
  way: Way,
): Promise<{ readonly steps: readonly string[]; readonly divergence: string | null }> {
  const steps: string[] = [];
  const { divergence } = await new Orderings(SETTINGS, beginnings()).walk(way, (label) => steps.push(label));
  return { steps, divergence };
}

export function simulatedNotes({ distinct, walked, matrix, divergences, perSecond }: Simulated): string[] {
  const never = missed(matrix);
  const [hit, possible] = [pairs(matrix).length - never.length, pairs(matrix).length];
  return [
    `simulated: ${whole(distinct)} distinct of ${whole(walked)} walked (${whole(perSecond)}/s)`,
    `${hit} of ${possible} possible pairs of state and fault hit: --matrix shows how often`,
    ...few(never).map((pair) => `possible, and never hit: ${pair}`),
    ...few(divergences.map(({ way, setting, what }) => `${setting}: ${what}; again: --walk ${way}`)),
  ];
}
