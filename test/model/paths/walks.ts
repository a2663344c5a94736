/** Performs walks beside one another, each on a server that nobody else uses at that time, and keeps what was seen. */
import { check } from '../../kit/checker.ts';
import { recordHistory } from '../../kit/record.ts';
import { deadlineOf } from './deadlines.ts';
import { Divergence } from './divergence.ts';
import { Performer } from './perform.ts';
import type { Walk } from './plan.ts';
import { settingOf } from './plan-file.ts';
import { stepsOf, systemOf } from './planning.ts';
import type { Story } from './story.ts';
import { type Needs, openTheatre, type Servers } from './theatre.ts';
import type { TransitionName } from './transitions.ts';

export interface Walked {
  readonly walk: Walk;
  readonly states: readonly string[];
  readonly taken: readonly TransitionName[];
  readonly met: Story['met'];
  /** Why it did not come to its end. */
  readonly divergence: string | null;
  /** What the checker found. */
  readonly violations: readonly string[];
}

/** What is not the walk's own affair: where its ledger is, and the chart that its executors have. */
export type On = Pick<Needs, 'address' | 'machine'>;

export async function walkOn(servers: Servers, walk: Walk, on: On): Promise<Walked> {
  const steps = await stepsOf(walk);
  const system = systemOf(walk.setting);
  const { contract } = settingOf(walk.setting);
  const theatre = await openTheatre(servers, { contract, deadline: deadlineOf(system, steps), ...on });
  try {
    const performer = await Performer.begin(theatre, system);
    let divergence: string | null = null;
    try {
      await performer.all(steps);
    } catch (error) {
      if (!(error instanceof Divergence)) throw error;
      divergence = error.message;
    } finally {
      await performer.end();
    }
    const history = await recordHistory({
      ledger: theatre.ledger,
      servers: [theatre.server.recorded],
      settled: false,
      clockToleranceMs: theatre.clock.ahead + 100,
    });
    // A liar is not judged by what it says of itself.
    const found = contract.lies ? [] : check(history);
    const { states, taken, met } = performer.story;
    const violations = found.map(({ row, what }) => `${row}: ${what}`);
    return { walk, states, taken, met, divergence, violations };
  } finally {
    await theatre.close();
  }
}

export async function walkAll(
  stages: readonly Servers[],
  walks: readonly Walk[],
  on: On,
  onWalked: (walked: Walked) => void,
): Promise<void> {
  const left = [...walks];
  await Promise.all(
    stages.map(async (servers) => {
      for (let walk = left.shift(); walk; walk = left.shift()) onWalked(await walkOn(servers, walk, on));
    }),
  );
}
