/** The plan: everything that can be walked, by name, and as few ways as cover it all. Kept in `plan.json`. */
import { writeFileSync } from 'node:fs';
import { SETTINGS, type Setting } from '../system/contracts.ts';
import type { Beginning } from '../system/orderings.ts';
import type { Said } from './guard-coverage.ts';
import written from './plan.json' with { type: 'json' };
import type { Walk } from './plan.ts';
import type { PairName, TransitionName } from './transitions.ts';

export interface Plan {
  /** Within bounds, over all settings. */
  readonly worlds: number;
  readonly states: readonly string[];
  readonly transitions: readonly TransitionName[];
  readonly pairs: readonly PairName[];
  /** What the guards of the chart say on the way. */
  readonly guards: readonly Said[];
  readonly walks: readonly Walk[];
  /** As few of the walks as meet every state and every transition. */
  readonly cover: readonly Walk[];
}

const FILE = `${import.meta.dirname}/plan.json`;

export function settingOf(name: string): Setting {
  const setting = SETTINGS.find(({ contract }) => contract.name === name);
  if (!setting) throw new Error(`there is no setting ${name}`);
  return bounded(setting);
}

/** One fault of each kind: pairs are about what follows what, not about how much can go wrong at once. */
const bounded = ({ contract, bounds }: Setting): Setting => ({
  contract,
  bounds: { ...bounds, duplicates: 0, losses: Math.min(1, bounds.losses), lies: Math.min(1, bounds.lies) },
});

type Written = Omit<Plan, 'walks' | 'cover'> & Readonly<Record<'walks' | 'cover', readonly string[]>>;

export function readPlan(): Plan {
  const plan: Written = written;
  return { ...plan, walks: plan.walks.map(readWalk), cover: plan.cover.map(readWalk) };
}

/** The walks as ways to set out from (G1). */
export const beginnings = (): readonly Beginning[] =>
  readPlan().walks.map((walk) => ({ ...walk, bounds: settingOf(walk.setting).bounds }));

/** e.g. `plain 0.3.1`: short enough for one line of the file. */
export const walkText = ({ setting, choices }: Walk): string => `${setting} ${choices.join('.')}`;
export function readWalk(text: string): Walk {
  const [setting = '', choices = ''] = text.split(' ');
  return { setting, choices: choices.split('.').map(Number) };
}

export const writePlan = (plan: Plan) =>
  writeFileSync(
    FILE,
    `${JSON.stringify({ ...plan, walks: plan.walks.map(walkText), cover: plan.cover.map(walkText) }, null, 2)}\n`,
  );
