/** Random orderings of the closed system in a small fixed size (G1); the full one: `npm run gates`. */
import { describe, expect, it } from 'vitest';
import { missed } from '../gates/g1/matrix.ts';
import { beginnings, readPlan } from './paths/plan-file.ts';
import { SETTINGS } from './system/contracts.ts';
import { Orderings } from './system/orderings.ts';
import { readWay, type Way, wayText } from './system/way.ts';
import { HASTY, PLANTED } from './variants.ts';

const WALKS = 1_500;
/** Nothing can hit what is over. */
const FINAL = ['ACCEPTED', 'CANCELLED_ACCEPTED', 'GIVEN_UP', 'NOT_SUBMITTED'];
/** Enough for the bugs that are planted, and quicker. */
const FEW = SETTINGS.filter(({ contract }) => ['plain', 'cooperative'].includes(contract.name));
const ASKING = SETTINGS.filter(({ contract }) => contract.name === 'asking-twice-by-status');

/** The first divergence among this many walks, or `null`. */
async function firstDivergence(orderings: Orderings, walks: number): Promise<string | null> {
  for (let seed = 1; seed <= walks; seed++) {
    const { divergence, setting } = await orderings.walk({ seed, turn: null });
    if (divergence !== null) return `${setting}, seed ${seed}: ${divergence}`;
  }
  return null;
}

describe('random orderings', () => {
  it(`G1: ${WALKS} ways, zero divergence, most of them distinct; every fault that is possible in a state hits it`, async () => {
    const orderings = new Orderings(SETTINGS, beginnings());
    const hashes = new Set<number>();
    const walk = async (way: Way) => {
      const { hash, divergence } = await orderings.walk(way);
      expect(divergence, wayText(way)).toBeNull();
      hashes.add(hash);
    };
    for (let seed = 1; seed <= WALKS; seed++) await walk({ seed, turn: null });
    expect(hashes.size).toBeGreaterThan(WALKS / 2);
    const missedByChance = missed(orderings.matrix());
    expect(missedByChance).not.toEqual([]);
    for (const way of orderings.unhit()) await walk(way);
    expect(missed(orderings.matrix())).toEqual([]);
    const hit = Object.keys(orderings.matrix());
    expect(readPlan().states.filter((state) => !hit.includes(state))).toEqual(FINAL);
  }, 60_000);

  it('a way is walked the same again, step by step, and turns off where it is told to', async () => {
    const told = async (text: string) => {
      const steps: string[] = [];
      const { hash } = await new Orderings(SETTINGS, beginnings()).walk(readWay(text) as Way, (label) =>
        steps.push(label),
      );
      return { hash, steps };
    };
    const once = await told('42');
    expect(once.steps.length).toBeGreaterThan(3);
    expect(await told('42')).toEqual(once);
    expect(await told('43')).not.toEqual(once);
    const turned = await told('42@2.1');
    expect(turned.steps.slice(0, 2)).toEqual(once.steps.slice(0, 2));
    expect(turned.steps[2]).not.toBe(once.steps[2]);
    expect(await told('42@2.1')).toEqual(turned);
  });

  it('a way that turns off where nothing is to be taken is refused: too far on, or a number too high', async () => {
    const orderings = new Orderings(SETTINGS, beginnings());
    for (const text of ['42@9999.0', '42@2.999'])
      await expect(orderings.walk(readWay(text) as Way)).rejects.toThrow(
        `${text} turns off where nothing is to be taken`,
      );
  });

  it('what is no way is told apart', () => {
    for (const text of ['', '7@', '7@1', '@1.2', '7@1.2.3', '-7', '7 ', 'seven']) expect(readWay(text)).toBeNull();
    for (const text of ['7', '7@12.3']) expect(wayText(readWay(text) as Way)).toBe(text);
  });

  it.each(Object.entries(PLANTED))('a planted bug is noticed: %s', { timeout: 60_000 }, async (bug, machine) => {
    const chosen = bug === 'a question that was answered is asked again' ? ASKING : FEW;
    const known = chosen === ASKING ? beginnings().filter(({ setting }) => setting === 'asking-twice-by-status') : [];
    expect(await firstDivergence(new Orderings(chosen, known, { machine: machine() }), 20_000)).not.toBeNull();
  });

  it('a planted bug is noticed: the effect is performed before its commit', { timeout: 60_000 }, async () => {
    expect(await firstDivergence(new Orderings(FEW, [], { effects: HASTY }), 20_000)).toMatch(/before the record/);
  });
});
