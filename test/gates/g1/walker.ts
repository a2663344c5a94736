/**
 * Walks seeds FROM, FROM + STEP, ... through the closed system until its input ends, and to each fault that was possible
 * somewhere and was not drawn. One line of JSON per batch: the hashes of the ways; and what was hit so far, and what was
 * possible.
 */
import { beginnings } from '../../model/paths/plan-file.ts';
import { SETTINGS } from '../../model/system/contracts.ts';
import { Orderings } from '../../model/system/orderings.ts';
import { type Way, wayText } from '../../model/system/way.ts';
import type { Batch } from './simulated.ts';

const BATCH = 250;
const [from = 0, step = 1] = process.argv.slice(2).map(Number);
process.stdin.resume().on('end', () => process.exit(0));

const orderings = new Orderings(SETTINGS, beginnings());
for (let seed = from; ; ) {
  const hashes: number[] = [];
  const divergences: Batch['divergences'][number][] = [];
  const walk = async (way: Way) => {
    const { hash, setting, divergence } = await orderings.walk(way);
    hashes.push(hash);
    if (divergence !== null) divergences.push({ way: wayText(way), setting, what: divergence });
  };
  for (let walked = 0; walked < BATCH; walked++, seed += step) await walk({ seed, turn: null });
  for (const way of orderings.unhit()) await walk(way);
  const batch: Batch = { hashes, divergences, matrix: orderings.matrix() };
  const drained = process.stdout.write(`${JSON.stringify(batch)}\n`);
  await new Promise<void>((resolve) => (drained ? setImmediate(resolve) : process.stdout.once('drain', resolve)));
}
