/** Makes the plan, and plays its ways again. */
import { System } from '../system/system.ts';
import type { World } from '../system/world.ts';
import type { Said } from './guard-coverage.ts';
import { type Possible, possibleIn, type Walk } from './plan.ts';
import { type Plan, readWalk, settingOf, walkText } from './plan-file.ts';
import { type NamedStep, Steps } from './steps.ts';
import { type PairName, pairOf, type TransitionName } from './transitions.ts';

/** What the first transition follows. */
const BEGINNING = 'the beginning';
/** Servers from the plainest on: a pair is walked with the first that has it. */
const PLAINEST_FIRST = [
  ...['plain', 'look-up', 'no-cancel', 'deduplicating', 'at-once', 'asking', 'forgetting', 'forgetful', 'epochs'],
  ...['cooperative', 'asking-first', 'asking-first-with-look-up', 'asking-by-status', 'repeating'],
  ...['lying', 'lying-cooperative', 'asking-again', 'asking-twice-by-status'],
];

export async function makePlan(onSetting: (name: string, possible: Possible) => void): Promise<Plan> {
  const states = new Set<string>();
  const transitions = new Set<TransitionName>();
  const shortest = new Map<PairName, Walk>();
  const firsts = new Map<TransitionName, Walk>();
  const refusals = new Map<string, Walk>();
  const said = new Map<Said, Walk>();
  let worlds = 0;
  for (const name of PLAINEST_FIRST) {
    const possible = await possibleIn(settingOf(name));
    onSetting(name, possible);
    worlds += possible.worlds;
    for (const state of possible.states) states.add(state);
    for (const transition of possible.transitions) transitions.add(transition);
    for (const [pair, walk] of possible.pairs) if (!shortest.has(pair)) shortest.set(pair, walk);
    for (const [first, walk] of possible.firsts) if (!firsts.has(first)) firsts.set(first, walk);
    for (const [one, walk] of possible.said) if (!said.has(one)) said.set(one, walk);
    for (const [refusal, walk] of possible.refusals) if (!refusals.has(refusal)) refusals.set(refusal, walk);
  }
  const walks = distinct([
    ...(await fewest([...shortest.values(), ...firsts.values()])),
    ...refusals.values(),
    ...said.values(),
  ]);
  return {
    worlds,
    states: [...states].sort(),
    transitions: [...transitions].sort(),
    pairs: [...shortest.keys(), ...[...firsts.keys()].map((name) => pairOf(BEGINNING, name))].sort(),
    guards: [...said.keys()].sort(),
    walks,
    cover: await coverOf(walks),
  };
}

/** Greedy: the walk that meets most of what is not met yet, again and again. */
export async function coverOf(walks: readonly Walk[]): Promise<Walk[]> {
  const meets = new Map<Walk, ReadonlySet<string>>();
  for (const walk of walks) {
    const steps = await stepsOf(walk);
    const system = systemOf(walk.setting);
    meets.set(walk, new Set([...transitionsOf(steps), ...steps.map(({ next }) => system.record(next).path)]));
  }
  const left = new Set([...meets.values()].flatMap((all) => [...all]));
  const chosen: Walk[] = [];
  while (left.size > 0) {
    const gain = (walk: Walk) => [...(meets.get(walk) ?? [])].filter((one) => left.has(one)).length;
    const best = walks.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    for (const one of meets.get(best) ?? []) left.delete(one);
    chosen.push(best);
  }
  return chosen;
}

const distinct = (walks: readonly Walk[]): Walk[] => [...new Set(walks.map(walkText))].map(readWalk);

/** The longest first: what lies on the way to a late pair needs no walk of its own. */
async function fewest(walks: readonly Walk[]): Promise<Walk[]> {
  const covered = new Set<PairName>();
  const chosen: Walk[] = [];
  for (const walk of [...walks].sort((one, other) => other.choices.length - one.choices.length)) {
    const pairs = pairsOf(await stepsOf(walk));
    if (pairs.every((pair) => covered.has(pair))) continue;
    for (const pair of pairs) covered.add(pair);
    chosen.push(walk);
  }
  return chosen;
}

/** With the state before it. */
export interface WalkStep extends NamedStep {
  readonly from: World;
}

const played = new Map<string, Steps>();
export async function stepsOf({ setting, choices }: Walk): Promise<readonly WalkStep[]> {
  let steps = played.get(setting);
  if (!steps) {
    const { contract, bounds } = settingOf(setting);
    steps = new Steps(new System(contract, bounds));
    played.set(setting, steps);
  }
  const way: WalkStep[] = [];
  let world = steps.system.start();
  for (const choice of choices) {
    const step = (await steps.of(world))[choice];
    if (!step) throw new Error(`the plan is older than the model: make it again (${setting})`);
    way.push({ ...step, from: world });
    world = step.next;
  }
  return way;
}
export const systemOf = (setting: string): System => (played.get(setting) as Steps).system;

export const transitionsOf = (steps: readonly NamedStep[]): readonly TransitionName[] =>
  steps.flatMap(({ applied }) => applied.flatMap(({ transition }) => (transition === null ? [] : [transition])));

/** What follows what on this way; the first transition follows nothing. */
export function pairsOf(steps: readonly NamedStep[]): readonly PairName[] {
  return pairsIn(transitionsOf(steps));
}
export const pairsIn = (taken: readonly TransitionName[]): readonly PairName[] =>
  taken.map((name, index) => pairOf(taken[index - 1] ?? BEGINNING, name));

/** The part of a plan that has to do with a setting, a state or a transition. */
export async function planOf(plan: Plan, text: string): Promise<Plan> {
  const walks: Walk[] = [];
  const covered = new Set<PairName>();
  for (const walk of plan.walks) {
    const pairs = pairsOf(await stepsOf(walk));
    if (walk.setting !== text && !pairs.some((pair) => pair.includes(text))) continue;
    walks.push(walk);
    for (const pair of pairs) covered.add(pair);
  }
  const isOf = (name: string) => [...covered].some((pair) => pair.includes(name));
  return {
    ...plan,
    walks,
    cover: [],
    pairs: plan.pairs.filter((pair) => covered.has(pair)),
    transitions: plan.transitions.filter(isOf),
    states: plan.states.filter(isOf),
  };
}
