/** The statechart read from the machine itself. */
import { type DirectedGraphNode, toDirectedGraph } from 'xstate/graph';
import { describedDefinition } from '../../machines/tool-operation/descriptions.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { type Chart, type ChartEdge, type ChartState, type ChartTransition, topOf } from './model.ts';

type StateNode = DirectedGraphNode['stateNode'];

/** Every state and every transition. */
export function chartOf(machine: typeof toolOperation = toolOperation): Chart {
  const root = toDirectedGraph(machine);
  const nodes = root.children.flatMap(withDescendants);
  return {
    id: machine.id,
    description: machine.root.description ?? '',
    states: nodes.map(({ stateNode }) => stateOf(stateNode)),
    edges: [root, ...nodes].flatMap(edgesOf),
  };
}

/** The chart of the states that the brief names, without what is inside them. */
export function topLevel(chart: Chart): Chart {
  const merged = new Map<string, ChartEdge>();
  for (const { source, to, stays, transitions } of chart.edges) {
    const [from, target] = [topOf(source), topOf(to)];
    if (stays || from === target) continue;
    const key = `${from} ${target}`;
    const before = merged.get(key)?.transitions ?? [];
    merged.set(key, {
      source: from,
      from: [from],
      to: target,
      stays: false,
      transitions: distinct([...before, ...transitions]),
    });
  }
  const states = chart.states.filter(({ parent }) => parent === null);
  return {
    ...chart,
    states: states.map((state) => (state.kind === 'final' ? state : { ...state, kind: 'atomic' as const })),
    edges: [...merged.values()],
  };
}

/** The definition that Stately Studio and the inspector take, with a description of each event and state. */
export const definition: unknown = describedDefinition;

function withDescendants(node: DirectedGraphNode): readonly DirectedGraphNode[] {
  return [node, ...node.children.flatMap(withDescendants)];
}

function stateOf(node: StateNode): ChartState {
  const { key, parent, type } = node;
  return {
    path: pathOf(node),
    key,
    parent: parent?.parent ? pathOf(parent) : null,
    kind: type === 'compound' || type === 'final' ? type : 'atomic',
    description: node.description ?? '',
    effect: (node.meta as { readonly effect?: string } | undefined)?.effect ?? null,
    initial: parent?.config.initial === key,
  };
}

function edgesOf({ stateNode, edges }: DirectedGraphNode): readonly ChartEdge[] {
  const merged = new Map<string, ChartEdge>();
  for (const { target, transition, label } of edges) {
    const stays = transition.target === undefined;
    const to = pathOf(stays ? stateNode : firstInside(target));
    const { guard, actions } = transition;
    const said: ChartTransition = { event: label.text, guard: nameOf(guard), actions: actions.flatMap(namesOf) };
    const key = `${stays} ${to}`;
    const before = merged.get(key);
    merged.set(key, {
      source: pathOf(stateNode),
      from: leavesOf(stateNode).map(pathOf),
      to,
      stays,
      transitions: [...(before?.transitions ?? []), said],
    });
  }
  return [...merged.values()];
}

const pathOf = (node: StateNode): string => node.path.join('.');
const firstInside = (node: StateNode): StateNode => {
  const inside = node.states[String(node.config.initial)];
  return inside ? firstInside(inside) : node;
};
const leavesOf = (node: StateNode): readonly StateNode[] => {
  const inside = Object.values(node.states);
  return inside.length === 0 ? [node] : inside.flatMap(leavesOf);
};
const nameOf = (part: unknown): string | null => {
  if (typeof part === 'string') return part;
  return (part as { readonly type?: string } | undefined)?.type ?? null;
};
const namesOf = (part: unknown): readonly string[] => [nameOf(part) ?? []].flat();

function distinct(transitions: readonly ChartTransition[]): readonly ChartTransition[] {
  return [...new Map(transitions.map((each) => [`${each.event} ${each.guard}`, each])).values()];
}
