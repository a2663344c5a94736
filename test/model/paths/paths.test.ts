/**
 * Every state and every transition of the closed system, walked on real parts, and a share of the pairs; all of them are
 * performed by `npm run paths`.
 */
import { cpus } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Random } from '../../support/random.ts';
import { Coverage } from './coverage.ts';
import { possibleIn, type Walk } from './plan.ts';
import { readPlan, settingOf, walkText } from './plan-file.ts';
import { BUGS, type BugName, notice } from './planted.ts';
import { openServers, openTheatre, type Servers } from './theatre.ts';
import { allTransitions } from './transitions.ts';
import { unreached } from './unreached.ts';
import { walkAll } from './walks.ts';

const plan = readPlan();
const SEED = 20251125;
const SHARE = 30;

let servers: readonly Servers[] = [];
beforeAll(async () => {
  servers = await openServers(Math.max(4, 2 * cpus().length));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

/** Performs walks; gives what went another way, or against the checker. */
async function performed(walks: readonly Walk[]): Promise<{ failed: string[]; coverage: Coverage }> {
  const failed: string[] = [];
  const coverage = new Coverage();
  await walkAll(servers, walks, { address: null }, (walked) => {
    coverage.add(walked);
    const { walk, divergence, violations } = walked;
    for (const what of [divergence, ...violations]) if (what !== null) failed.push(`${walkText(walk)}: ${what}`);
  });
  return { failed, coverage };
}

describe('the shortest ways through the closed system, on real parts', () => {
  it('G1 B5: every state and every transition is performed, and nothing goes another way', async () => {
    const { failed, coverage } = await performed(plan.cover);
    expect(failed).toEqual([]);
    const { 'abstract states': states, transitions } = coverage.against(plan);
    expect(states.missing).toEqual([]);
    expect(transitions.missing).toEqual([]);
  }, 240_000);

  it(`G1 B5: ${SHARE} of the ways to pairs and refusals, drawn with seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const drawn = Array.from({ length: SHARE }, () => random.pick(plan.walks));
    const { failed } = await performed(drawn);
    expect(failed).toEqual([]);
  }, 120_000);

  it.each(Object.keys(BUGS) as BugName[])(
    'a planted bug is noticed: %s',
    async (bug) => {
      const [server] = servers;
      const noticed = server ? await notice(server, bug, plan.walks, null) : null;
      expect(noticed).not.toBeNull();
    },
    60_000,
  );
});

/** A walk in which an executor is killed that was about to ask the ledger something; its ledger. */
async function killedWalk(on: Servers): Promise<WeakRef<object>> {
  const theatre = await openTheatre(on, { ...settingOf('plain'), deadline: null, address: null });
  const executor = theatre.executor(1, () => true);
  const { ledger } = executor.executor.env;
  executor.kill();
  // Its scope waits, as whatever a process does at its end.
  void (async () => await ledger.now())();
  await executor.executor.env.connections.close();
  await theatre.close();
  return new WeakRef(theatre.ledger);
}

describe('a walk that is over', () => {
  it('keeps nothing of itself: neither its killed executors nor their ledger', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const ledger = await killedWalk(servers[0] as Servers);
    await vi.waitFor(() => {
      collect();
      expect(ledger.deref() === undefined).toBe(true);
    }, 10_000);
  }, 30_000);
});

describe('the plan', () => {
  it('is of this chart and this model: what one server makes possible is in it', async () => {
    const possible = await possibleIn(settingOf('plain'));
    expect([...possible.pairs.keys()].filter((pair) => !plan.pairs.includes(pair))).toEqual([]);
    expect(possible.states.filter((state) => !plan.states.includes(state))).toEqual([]);
    expect([...possible.said.keys()].filter((said) => !plan.guards.includes(said))).toEqual([]);
  }, 60_000);

  it('B5: has every state of the chart, and each transition or a reason why not', () => {
    const declared = new Set(allTransitions);
    expect(plan.transitions.filter((name) => !declared.has(name))).toEqual([]);
    const others = [...unreached(plan.transitions).values()].flat();
    expect(new Set([...plan.transitions, ...others])).toEqual(declared);
  });
});
