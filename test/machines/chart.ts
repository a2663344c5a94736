/** What the tests read off the chart itself: its states, its transitions, the guards behind a name. */
import type { StateNode } from 'xstate';
import { toolOperation } from '../../machines/tool-operation/machine.ts';

// biome-ignore lint/suspicious/noExplicitAny: xstate's own type of a node of any machine
export type Node = StateNode<any, any>;

const below = (node: Node): readonly Node[] => Object.values(node.states).flatMap((child) => [child, ...below(child)]);
export const nodes: readonly Node[] = below(toolOperation.root);
export const leaves: readonly Node[] = nodes.filter((node) => Object.keys(node.states).length === 0);
export const pathOf = (node: Node): string => node.path.join('.');

export function ancestors(node: Node): readonly Node[] {
  return node.parent ? [node, ...ancestors(node.parent)] : [node];
}

export interface Arrow {
  readonly from: Node;
  readonly event: string;
  readonly guard: unknown;
  readonly targets: readonly Node[];
  readonly actions: readonly unknown[];
}
export const arrows: readonly Arrow[] = [toolOperation.root as Node, ...nodes].flatMap((from) =>
  [...from.transitions.entries()].flatMap(([event, list]) =>
    list.map(({ guard, target, actions }) => ({
      from,
      event,
      guard,
      targets: (target ?? []) as readonly Node[],
      actions,
    })),
  ),
);

const implementations = toolOperation.implementations.guards as Record<string, unknown>;

/** The names that a guard rests on: its own and, through the composites, all below. */
export function namesIn(guard: unknown): readonly string[] {
  if (typeof guard === 'string') return [guard, ...namesIn(partsOf(implementations[guard]))];
  if (Array.isArray(guard)) return guard.flatMap(namesIn);
  return namesIn(partsOf(guard));
}
function partsOf(composite: unknown): readonly unknown[] {
  return (composite as { guards?: readonly unknown[] } | undefined)?.guards ?? [];
}
export const isComposite = (guard: unknown): boolean => typeof guard === 'function' && 'check' in guard;
export const guardNames: readonly string[] = Object.keys(implementations);
