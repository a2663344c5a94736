/**
 * Walks seeds FROM, FROM + STEP, ... through the closed system until its input ends. One line of JSON per batch: the hashes
 * of the ways; and what was hit so far, and what was possible.
 */
import { SETTINGS } from '../../model/system/contracts.ts';
import { Orderings } from '../../model/system/orderings.ts';
import type { Batch } from './simulated.ts';

const BATCH = 250;
const [from = 0, step = 1] = process.argv.slice(2).map(Number);
process.stdin.resume().on('end', () => process.exit(0));

const orderings = new Orderings(SETTINGS);
for (let seed = from; ; ) {
  const hashes: number[] = [];
  const divergences: { seed: number; setting: string; what: string }[] = [];
  for (let walked = 0; walked < BATCH; walked++, seed += step) {
    const { hash, setting, divergence } = await orderings.walk(seed);
    hashes.push(hash);
    if (divergence !== null) divergences.push({ seed, setting, what: divergence });
  }
  const batch: Batch = { hashes, divergences, matrix: orderings.matrix() };
  const drained = process.stdout.write(`${JSON.stringify(batch)}\n`);
  await new Promise<void>((resolve) => (drained ? setImmediate(resolve) : process.stdout.once('drain', resolve)));
}
