/** Random orderings of the closed system in a small fixed size (G1); the full one: `npm run gates`. */
import { describe, expect, it } from 'vitest';
import { SETTINGS } from './system/contracts.ts';
import { Orderings } from './system/orderings.ts';
import { HASTY, PLANTED } from './variants.ts';

const WALKS = 1_500;
/** Enough for the bugs that are planted, and quicker. */
const FEW = SETTINGS.filter(({ contract }) => ['plain', 'cooperative'].includes(contract.name));

/** The first divergence among this many walks, or `null`. */
async function firstDivergence(orderings: Orderings, walks: number): Promise<string | null> {
  for (let seed = 1; seed <= walks; seed++) {
    const { divergence, setting } = await orderings.walk(seed);
    if (divergence !== null) return `${setting}, seed ${seed}: ${divergence}`;
  }
  return null;
}

describe('random orderings', () => {
  it(`G1: ${WALKS} ways, zero divergence, most of them distinct; faults hit states of all kinds`, async () => {
    const orderings = new Orderings(SETTINGS);
    const hashes = new Set<number>();
    for (let seed = 1; seed <= WALKS; seed++) {
      const { hash, divergence } = await orderings.walk(seed);
      expect(divergence, `seed ${seed}`).toBeNull();
      hashes.add(hash);
    }
    expect(hashes.size).toBeGreaterThan(WALKS / 2);
    const hit = Object.values(orderings.matrix()).filter((faults) => Object.values(faults).some((count) => count > 0));
    expect(hit.length).toBeGreaterThan(15);
  }, 60_000);

  it('a seed walks the same way again, step by step', async () => {
    const told = async (seed: number) => {
      const steps: string[] = [];
      const { hash } = await new Orderings(SETTINGS).walk(seed, (label) => steps.push(label));
      return { hash, steps };
    };
    const once = await told(42);
    expect(once.steps.length).toBeGreaterThan(3);
    expect(await told(42)).toEqual(once);
    expect(await told(43)).not.toEqual(once);
  });

  it.each(Object.entries(PLANTED))('a planted bug is noticed: %s', { timeout: 60_000 }, async (_, machine) => {
    expect(await firstDivergence(new Orderings(FEW, machine()), 20_000)).not.toBeNull();
  });

  it('a planted bug is noticed: the effect is performed before its commit', { timeout: 60_000 }, async () => {
    expect(await firstDivergence(new Orderings(FEW, undefined, HASTY), 20_000)).toMatch(/before the record/);
  });
});
