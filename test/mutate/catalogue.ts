/** Every mutant of every kind, each with its fast suite. */
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { arrows } from '../machines/chart.ts';
import { type ChartMutant, droppedParts, forcedGuards, removedTransitions } from './chart-mutants.ts';
import { chartKiller, factDisproven } from './chart-suite.ts';
import type { SourceCopy } from './copy.ts';
import { luaMutants } from './lua-mutants.ts';
import type { Kind, Mutant } from './mutant.ts';
import { orderMutants } from './orders.ts';
import { ORDERS_SUITE, SCRIPTS_SUITES, suitesOfOrder, suitesOfScript } from './source-suites.ts';

/** Gives the copy in which sources are changed: made by whoever runs mutants, and removed by them. */
export type CopyOf = () => SourceCopy;

export function mutantsOf(kind: Kind, copy: CopyOf): readonly Mutant[] {
  switch (kind) {
    case 'guards':
      return forcedGuards().map(ofChart(kind));
    case 'parts':
      return droppedParts().map(ofChart(kind));
    case 'transitions':
      return removedTransitions().map(ofChart(kind));
    case 'scripts':
      return luaMutants().map((mutant) => ({
        kind,
        name: mutant.name,
        killer: () => copy().killer(mutant, suitesOfScript(mutant.file)),
      }));
    case 'orders':
      return orderMutants().map((mutant) => ({
        kind,
        name: mutant.name,
        killer: () => copy().killer(mutant, suitesOfOrder(mutant.name)),
      }));
  }
}

const ofChart = (kind: Kind) => (mutant: ChartMutant) => ({
  kind,
  name: mutant.name,
  killer: () => chartKiller(mutant, true),
});

/**
 * The suites on what was not changed: a suite that fails there would kill everything and prove nothing. One for all kinds
 * of faults in the chart.
 */
export function untouched(kind: Kind, copy: CopyOf): Mutant {
  const name = 'nothing changed';
  switch (kind) {
    case 'scripts':
      return { kind, name, killer: () => copy().killer(null, SCRIPTS_SUITES) };
    case 'orders':
      return { kind, name, killer: () => copy().killer(null, [ORDERS_SUITE]) };
    default: {
      const events = new Set(arrows.map(({ event }) => event));
      const mutant = { name, events, machine: () => toolOperation };
      return { kind, name, killer: async () => (await chartKiller(mutant, false)) ?? (await factDisproven(true)) };
    }
  }
}
