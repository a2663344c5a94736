/** The fast suite of a fault in the chart: the races, then the fences, then small explorations of the closed system. */
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { type OperationMachine, statePath } from '../../machines/tool-operation/snapshot.ts';
import { ANSWERS, EVIDENCE, fenceHolds, PASSING, STEPS } from '../machines/fences.ts';
import { RACES } from '../machines/race-scenarios.ts';
import { play } from '../machines/scenario.ts';
import { SETTINGS, type Setting } from '../model/system/contracts.ts';
import { explore } from '../model/system/explore.ts';
import { type Bounds, System } from '../model/system/system.ts';
import type { ChartMutant } from './chart-mutants.ts';
import { disproven } from './equivalent.ts';

const SCENARIOS = RACES.flatMap(({ row, scenarios }) =>
  scenarios.map((scenario) => ({
    scenario,
    name: `${row.split(':')[0]}: ${scenario.title}`,
    events: new Set(play(scenario, undefined, false).trace.map((line) => line.split(' ')[0] as string)),
  })),
);

const FENCES = [...PASSING, ...EVIDENCE, ...ANSWERS, ...STEPS];
/** One fault of each kind that matters for a chart: a crash, a loss, a deadline, a human, a lie. */
const SMALL: Partial<Bounds> = { crashes: 1, losses: 1, duplicates: 0 };

const MAX_STATES = 30_000;

/** Without explorations it is a matter of milliseconds. */
export async function chartKiller(mutant: ChartMutant, exploring: boolean): Promise<string | null> {
  const machine = mutant.machine();
  return raceNoticing(mutant, machine) ?? fenceNoticing(mutant, machine) ?? (exploring ? exploration(machine) : null);
}

function raceNoticing({ events }: ChartMutant, machine: OperationMachine): string | null {
  const concerned = SCENARIOS.filter(({ events: seen }) => [...events].some((event) => seen.has(event)));
  const found = concerned.find(({ scenario }) =>
    fails(() => {
      const { trace, expected } = play(scenario, machine);
      return trace.join('\n') === expected.join('\n');
    }),
  );
  return found ? `races: ${found.name}` : null;
}

function fenceNoticing({ events }: ChartMutant, machine: OperationMachine): string | null {
  const concerned = FENCES.filter(([title]) => events.has(title.split(' ')[0] as string));
  const found = concerned.find((fence) => fails(() => fenceHolds(fence, machine)));
  return found ? `fences: ${found[0]}` : null;
}

async function exploration(machine: OperationMachine): Promise<string | null> {
  for (const setting of SETTINGS) {
    const { found } = await explored(setting, machine);
    if (found !== null) return `exploration of ${setting.contract.name}: ${found}`;
  }
  return null;
}

async function explored({ contract, bounds }: Setting, machine: OperationMachine) {
  const system = new System(contract, { ...bounds, ...SMALL }, machine);
  try {
    const { findings } = await explore(system, { maxStates: MAX_STATES, maxFindings: 1 });
    return { system, found: findings[0]?.what ?? null };
  } catch (error) {
    return { system, found: (error as Error).message };
  }
}

/** What makes mutants equivalent, looked for in every record that the production chart can be shown to reach. */
export async function factDisproven(exploring: boolean): Promise<string | null> {
  for (const { scenario } of SCENARIOS) {
    for (const snapshot of play(scenario, undefined, false).snapshots) {
      const found = disproven(statePath(snapshot), snapshot.context);
      if (found !== null) return `races: ${scenario.title}: ${found}`;
    }
  }
  if (!exploring) return null;
  for (const setting of SETTINGS) {
    const { system, found } = await explored(setting, toolOperation);
    if (found !== null) return `exploration of ${setting.contract.name}: ${found}`;
    for (let id = 0; id < system.records.size; id++) {
      const { path, snapshot } = system.records.get(id);
      const untrue = disproven(path, snapshot.context);
      if (untrue !== null) return `exploration of ${setting.contract.name}: ${untrue}`;
    }
  }
  return null;
}

/** A test fails by what it finds, or by throwing. */
function fails(holds: () => boolean): boolean {
  try {
    return !holds();
  } catch {
    return true;
  }
}
