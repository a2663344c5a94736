/**
 * What can be walked, and the shortest ways to walk it. Every state of the closed system within bounds, then the same with
 * the transition that was taken last: the first way on which one transition follows another is the shortest to that pair.
 */
import type { Setting } from '../system/contracts.ts';
import type { StepTaken } from '../system/records.ts';
import { System } from '../system/system.ts';
import { decoded, encoded } from '../system/world.ts';
import { GuardCoverage, type Said } from './guard-coverage.ts';
import { isPerformable } from './performable.ts';
import { aged, Steps } from './steps.ts';
import { type PairName, pairOf, type TransitionName } from './transitions.ts';

/** A way through the closed system: the number of the step taken in each of its states. */
export interface Walk {
  readonly setting: string;
  readonly choices: readonly number[];
}
export interface Possible {
  readonly states: readonly string[];
  readonly transitions: ReadonlySet<TransitionName>;
  /** The shortest way to each pair. */
  readonly pairs: ReadonlyMap<PairName, Walk>;
  /** The shortest way to a transition that nothing comes before. */
  readonly firsts: ReadonlyMap<TransitionName, Walk>;
  /** The shortest way to each event that a state refuses, fresh and out of date. */
  readonly refusals: ReadonlyMap<string, Walk>;
  /** The shortest way to what each guard says. */
  readonly said: ReadonlyMap<Said, Walk>;
  readonly worlds: number;
}

/** Transitions of one step, as numbers; none for most. */
type Edge = readonly [to: number, choice: number, taken: readonly number[]];
const NONE: readonly number[] = [];

export async function possibleIn(setting: Setting): Promise<Possible> {
  const steps = new Steps(new System(setting.contract, { ...setting.bounds, duplicates: 0 }));
  const names: TransitionName[] = [];
  const numbers = new Map<TransitionName, number>();
  const number = (name: TransitionName) => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(name) - 1;
  };
  const worlds: string[] = [];
  const known = new Map<string, number>();
  const parents: (readonly [world: number, choice: number])[] = [];
  const enter = (text: string, parent: number, choice: number) => {
    const at = known.get(text);
    if (at !== undefined) return at;
    known.set(text, worlds.length);
    parents.push([parent, choice]);
    return worlds.push(text) - 1;
  };
  const wayTo = (world: number, choice: number): Walk => {
    const choices = [choice];
    for (let at = world; at > 0; at = parents[at]?.[0] ?? 0) choices.unshift(parents[at]?.[1] ?? 0);
    return { setting: setting.contract.name, choices };
  };
  const refusals = new Map<string, Walk>();
  const said = new Map<Said, Walk>();
  const guards = new GuardCoverage();
  /** Each is the same object whenever it is taken. */
  const met = new Set<StepTaken>();
  const states = new Set<string>();
  const edges: Edge[][] = [];
  enter(encoded(steps.system.start()), 0, 0);
  for (let world = 0; world < worlds.length; world++) {
    const from = decoded(worlds[world] as string);
    states.add(steps.system.record(from).path);
    const out: Edge[] = [];
    for (const [choice, step] of (await steps.of(from)).entries()) {
      if (!isPerformable(steps.system, from, step)) continue;
      const { next, applied } = step;
      const taken = applied.flatMap(({ transition }) => (transition === null ? [] : [number(transition)]));
      for (const { to, event, staleCursor, staleRound, transition, step: done } of applied) {
        if (!met.has(done)) {
          const { snapshot } = steps.system.records.get(to);
          for (const one of guards.meet(snapshot, aged(event, staleCursor, staleRound)))
            said.set(one, wayTo(world, choice));
          met.add(done);
        }
        const refusal = `${steps.system.record(from).path} ${event.type}${staleCursor ? ', out of date' : ''}`;
        if (transition === null && !refusals.has(refusal)) refusals.set(refusal, wayTo(world, choice));
      }
      out.push([enter(encoded(next), world, choice), choice, taken.length === 0 ? NONE : taken]);
    }
    edges.push(out);
  }
  return { states: [...states], worlds: worlds.length, refusals, said, ...walked(setting.contract.name, edges, names) };
}

function walked(setting: string, edges: readonly (readonly Edge[])[], names: readonly TransitionName[]) {
  const pairs = new Map<PairName, Walk>();
  const firsts = new Map<TransitionName, Walk>();
  const before = names.length;
  const nodes: { readonly world: number; readonly last: number; readonly parent: number; readonly choice: number }[] =
    [];
  const seen = new Set<number>();
  const enter = (world: number, last: number, parent: number, choice: number) => {
    const key = world * (names.length + 1) + last;
    if (seen.has(key)) return;
    seen.add(key);
    nodes.push({ world, last, parent, choice });
  };
  const walk = (node: number, choice: number): Walk => {
    const choices = [choice];
    for (let at = node; at > 0; at = nodes[at]?.parent ?? 0) choices.unshift(nodes[at]?.choice ?? 0);
    return { setting, choices };
  };
  enter(0, before, -1, -1);
  for (let node = 0; node < nodes.length; node++) {
    const { world, last } = nodes[node] as (typeof nodes)[number];
    for (const [to, choice, taken] of edges[world] ?? []) {
      let now = last;
      for (const next of taken) {
        const name = names[next] as string;
        if (now === before) {
          if (!firsts.has(name)) firsts.set(name, walk(node, choice));
        } else {
          const pair = pairOf(names[now] as string, name);
          if (!pairs.has(pair)) pairs.set(pair, walk(node, choice));
        }
        now = next;
      }
      enter(to, now, node, choice);
    }
  }
  return { pairs, firsts, transitions: new Set(names) };
}
