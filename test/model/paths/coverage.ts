/** What the performed walks covered, against what can be covered. */
import { GuardCoverage } from './guard-coverage.ts';
import type { Plan } from './plan-file.ts';
import { pairsIn } from './planning.ts';
import type { Walked } from './walks.ts';

export interface Count {
  readonly seen: number;
  readonly of: number;
  readonly missing: readonly string[];
}

export class Coverage {
  readonly #states = new Set<string>();
  readonly #transitions = new Set<string>();
  readonly #pairs = new Set<string>();
  readonly #guards = new GuardCoverage();

  add({ states, taken, met }: Walked): void {
    for (const state of states) this.#states.add(state);
    for (const transition of taken) this.#transitions.add(transition);
    for (const pair of pairsIn(taken)) this.#pairs.add(pair);
    for (const { snapshot, event } of met) this.#guards.meet(snapshot, event);
  }

  against(plan: Pick<Plan, 'states' | 'transitions' | 'pairs' | 'guards'>) {
    const { said } = this.#guards;
    const saying = (what: boolean) => plan.guards.filter((one) => one.endsWith(`: ${what}`));
    return {
      'abstract states': count(plan.states, this.#states),
      transitions: count(plan.transitions, this.#transitions),
      pairs: count(plan.pairs, this.#pairs),
      'guards seen true': count(saying(true), said),
      'guards seen false': count(saying(false), said),
    } satisfies Record<string, Count>;
  }
}

const count = (all: readonly string[], seen: ReadonlySet<string>): Count => {
  const missing = all.filter((name) => !seen.has(name));
  return { seen: all.length - missing.length, of: all.length, missing };
};
