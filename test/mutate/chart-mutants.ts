/** Faults of the chart: its guards forced, the parts of its composite guards dropped, its transitions removed. */
import { and, not, or } from 'xstate';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import type { OperationMachine } from '../../machines/tool-operation/snapshot.ts';
import { arrows, guardNames, isComposite, namesIn } from '../machines/chart.ts';
import { edited, type StateConfig, stateOf } from '../model/variants.ts';

export interface ChartMutant {
  readonly name: string;
  /** The events that can fare otherwise. */
  readonly events: ReadonlySet<string>;
  machine(): OperationMachine;
}

/** A guard as it is written: a name, or a composite of xstate, which carries what it is made of. */
type Written = string | Composite;
interface Composite {
  readonly check: unknown;
  readonly guards: readonly Written[];
}
const implementations = toolOperation.implementations.guards as Readonly<Record<string, unknown>>;
const checkOf = (composite: unknown) => (composite as Composite).check;
const [AND, OR, NOT] = [checkOf(and([])), checkOf(or([])), checkOf(not(''))];

const eventsAsking = (name: string): ReadonlySet<string> =>
  new Set(arrows.filter(({ guard }) => namesIn(guard ?? []).includes(name)).map(({ event }) => event));

const withGuard = (name: string, guard: unknown): OperationMachine =>
  toolOperation.provide({ guards: { [name]: guard } } as never);

/** Every guard, atomic or composite, that always says the same. */
export function forcedGuards(): readonly ChartMutant[] {
  return guardNames.flatMap((name) =>
    [true, false].map((says) => ({
      name: `${name} forced ${says}`,
      events: eventsAsking(name),
      machine: () => withGuard(name, () => says),
    })),
  );
}

/** Every composite guard without one of its parts: a condition that is not asked, an alternative that is not open. */
export function droppedParts(): readonly ChartMutant[] {
  return guardNames.flatMap((name) => {
    const guard = implementations[name];
    if (!isComposite(guard)) return [];
    return withoutOnePart(guard as Composite).map(({ part, rest }) => ({
      name: `${name} without ${part}`,
      events: eventsAsking(name),
      machine: () => withGuard(name, rest),
    }));
  });
}

interface Dropped {
  readonly part: string;
  readonly rest: unknown;
}

function withoutOnePart(guard: Written): readonly Dropped[] {
  if (typeof guard === 'string' || guard.check === NOT) return [];
  const combine = (guard.check === AND ? and : or) as (parts: readonly unknown[]) => unknown;
  // Of a guard with one part, the whole is meant: that is the guard forced.
  const here = guard.guards.length < 2 ? [] : guard.guards;
  const dropped = here.map((part, index) => ({
    part: wordsOf(part),
    rest: combine(guard.guards.filter((_, other) => other !== index)),
  }));
  const inside = guard.guards.flatMap((part, index) =>
    withoutOnePart(part).map(({ part: inner, rest }) => ({
      part: `${inner} in (${wordsOf(part)})`,
      rest: combine(guard.guards.map((other, at) => (at === index ? rest : other))),
    })),
  );
  return [...dropped, ...inside];
}

function wordsOf(guard: Written): string {
  if (typeof guard === 'string') return guard;
  const parts = guard.guards.map(wordsOf);
  return guard.check === NOT ? `not ${parts[0]}` : parts.join(guard.check === OR ? ' or ' : ' and ');
}

/** Every transition of the chart, by itself, removed. */
export function removedTransitions(): readonly ChartMutant[] {
  return statesOf(toolOperation.config as unknown as StateConfig, '').flatMap(({ path, on }) =>
    Object.entries(on).flatMap(([event, written]) => {
      const candidates = candidatesOf(written);
      return candidates.map((candidate, index) => ({
        name: `${path || 'root'} on ${event}: ${index + 1} of ${candidates.length} (${toldOf(candidate)}) removed`,
        events: new Set([event]),
        machine: () =>
          edited((chart) => {
            const state = path === '' ? chart : stateOf(chart, path);
            const rest = candidates.filter((_, other) => other !== index);
            const { [event]: _, ...others } = state.on ?? {};
            state.on = rest.length === 0 ? others : { ...others, [event]: rest };
          }),
      }));
    }),
  );
}

function statesOf(
  state: StateConfig,
  path: string,
): readonly { path: string; on: Readonly<Record<string, unknown>> }[] {
  const inside = Object.entries(state.states ?? {}).flatMap(([name, child]) =>
    statesOf(child, path === '' ? name : `${path}.${name}`),
  );
  return [{ path, on: state.on ?? {} }, ...inside];
}

type Candidate = { readonly guard?: string; readonly target?: string };
const candidatesOf = (written: unknown): readonly Candidate[] => [written].flat() as Candidate[];
const toldOf = ({ guard = 'always', target }: Candidate): string =>
  target === undefined ? guard : `${guard}, to ${target.replace(/^#toolOperation\./, '')}`;
