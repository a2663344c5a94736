/**
 * A small exploration of every setting, complete within its bounds, and the bugs that it has to notice. The sizes that count
 * are those of `npm run explore`.
 */
import { describe, expect, it } from 'vitest';
import { SETTINGS, type Setting } from './system/contracts.ts';
import { explore } from './system/explore.ts';
import { type Bounds, System } from './system/system.ts';
import { readyTest, replay, sequenceDiagram } from './system/trace.ts';
import { HASTY, PLANTED } from './variants.ts';

const SMALL: Bounds = { crashes: 1, losses: 1, duplicates: 0, times: 0, humans: 1, lies: 0 };
const smaller = ({ contract, bounds }: Setting): Setting => ({
  contract,
  bounds:
    contract.questions > 0
      ? { ...SMALL, crashes: 0 }
      : contract.lies
        ? { ...SMALL, losses: 0, lies: 1 }
        : { ...SMALL, times: Math.min(1, bounds.times), losses: 1 },
});
const byName = (name: string): Setting => {
  const found = SETTINGS.find(({ contract }) => contract.name === name);
  if (!found) throw new Error(`there is no setting ${name}`);
  return found;
};

describe('the closed system, every reachable state', () => {
  it.each(SETTINGS.map((setting) => [setting.contract.name, smaller(setting)] as const))(
    'G1 G2 B10 B11 B13: %s holds, and can always come to an end',
    async (_, { contract, bounds }) => {
      const explored = await explore(new System(contract, bounds), { maxStates: 150_000 });
      expect(explored.findings.map(({ what }) => what)).toEqual([]);
      expect(explored.states).toBeGreaterThan(500);
    },
    60_000,
  );

  const noticed: readonly (readonly [keyof typeof PLANTED, string, Partial<Bounds>, RegExp])[] = [
    ['the cursor guard is dropped', 'plain', {}, /F2: a passing status/],
    ['completed is accepted without its result', 'plain', {}, /B11: completed without its result/],
    ['a cancel that was only heard is taken for terminal', 'cooperative', {}, /G1: accepted as cancelled/],
    [
      'a question that was answered is asked again',
      'asking-twice-by-status',
      { humans: 0 },
      /an answered question is open/,
    ],
    ['it parks for ever at the first failure', 'plain', { losses: 1 }, /cannot end/],
  ];
  it.each(noticed)(
    'a planted bug is noticed: %s',
    async (bug, name, bounds, what) => {
      const { contract } = byName(name);
      const system = new System(contract, { ...SMALL, ...bounds }, PLANTED[bug]());
      const explored = await explore(system, { maxStates: 400_000, maxFindings: 1 });
      expect(explored.findings.map((finding) => finding.what).join()).toMatch(what);
    },
    60_000,
  );

  it('a planted bug is noticed: the effect is performed before its commit', async () => {
    const { contract } = byName('plain');
    const explored = await explore(new System(contract, SMALL, undefined, HASTY), {
      maxStates: 50_000,
      maxFindings: 1,
    });
    expect(explored.findings[0]?.what).toBe('the call is sent before the record says so');
  });

  it('a violation is told as a diagram and as a test that finds it again', async () => {
    const setting = { contract: byName('plain').contract, bounds: SMALL };
    const machine = PLANTED['completed is accepted without its result']();
    const system = new System(setting.contract, setting.bounds, machine);
    const { findings, trace } = await explore(system, { maxStates: 50_000, maxFindings: 1 });
    const [finding] = findings;
    if (!finding) throw new Error('nothing was found');
    const way = trace(finding.state);
    expect(sequenceDiagram(system, way, finding.what)).toContain('A->>Ledger: ');
    expect(readyTest(setting, way, finding.what)).toContain(JSON.stringify(way.at(-1)?.label));
    const labels = way.map(({ label }) => label);
    expect(await replay(setting, labels, machine)).toEqual([finding.what]);
    expect(await replay(setting, labels)).toEqual([]);
  });
});
