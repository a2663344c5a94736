/** The transitions of the chart by name: a leaf state, an event, and the candidate whose guard said yes. */
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { toolOperation } from '../../../machines/tool-operation/machine.ts';
import { type OperationSnapshot, statePath } from '../../../machines/tool-operation/snapshot.ts';
import { ancestors, leaves, pathOf } from '../../machines/chart.ts';

/** e.g. `WORKING.polling poll.status [outcomeSeen]` */
export type TransitionName = string;
/** Two names, the second taken right after the first. */
export type PairName = string;

export const pairOf = (first: TransitionName, second: TransitionName): PairName => `${first} -> ${second}`;

interface Candidate {
  readonly name: TransitionName;
  readonly definition: unknown;
}

/** The candidates of a leaf, own ones first, then those of its regions. */
function candidatesOf(leaf: (typeof leaves)[number]): readonly Candidate[] {
  const seen = new Map<string, number>();
  return ancestors(leaf).flatMap((node) =>
    [...node.transitions.entries()].flatMap(([event, list]) =>
      list.map((definition) => {
        const { guard } = definition as { guard?: unknown };
        const said = `${pathOf(leaf)} ${event} [${typeof guard === 'string' ? guard : 'always'}]`;
        const nth = seen.get(said) ?? 0;
        seen.set(said, nth + 1);
        return { name: nth === 0 ? said : `${said}#${nth + 1}`, definition };
      }),
    ),
  );
}

const byLeaf = new Map(leaves.map((leaf) => [pathOf(leaf), candidatesOf(leaf)]));

/** Every transition that the chart writes down, whether or not anything can bring it about. */
export const allTransitions: readonly TransitionName[] = [...byLeaf.values()].flat().map(({ name }) => name);
export const leafOf = (name: TransitionName): string => name.slice(0, name.indexOf(' '));

/** The transition that this event takes, or `null` where it is refused. */
export function transitionOf(snapshot: OperationSnapshot, event: OperationEvent): TransitionName | null {
  if (snapshot.status !== 'active') return null;
  const [definition] = toolOperation.getTransitionData(snapshot as never, event) ?? [];
  if (definition === undefined) return null;
  const leaf = statePath(snapshot);
  const found = byLeaf.get(leaf)?.find((candidate) => candidate.definition === definition);
  if (!found) throw new Error(`a transition out of ${leaf} by ${event.type} that the chart does not list`);
  return found.name;
}
