/**
 * The statechart as a Mermaid diagram, drawn from the machine itself. The states are the brief's; sub-states, and the many
 * ways into PARKED and out of it by hand, are left to the inspector.
 */
import { toolOperation } from '../../machines/index.ts';

type Node = typeof toolOperation.root;

const LEFT_OUT = new Set(['PARKED', 'CONCLUDING']);

export function statechartMermaid(): string {
  const states = Object.values(toolOperation.root.states);
  const lines = ['stateDiagram-v2', '  [*] --> SUBMITTING'];
  for (const state of states) {
    for (const target of targetsOf(state)) {
      if (!LEFT_OUT.has(state.key) && !LEFT_OUT.has(target)) lines.push(`  ${state.key} --> ${target}`);
    }
  }
  for (const name of LEFT_OUT) {
    const into = states.filter((state) => state.key !== name && targetsOf(state).includes(name)).map(({ key }) => key);
    const outOf = states.find(({ key }) => key === name);
    lines.push(`  note right of ${name}`, `    from ${into.join(', ')}`);
    if (outOf) lines.push(`    to ${targetsOf(outOf).join(', ')}`);
    lines.push('  end note');
  }
  for (const state of states) if (state.type === 'final') lines.push(`  ${state.key} --> [*]`);
  return lines.join('\n');
}

/** The other top-level states that a state, or one inside it, leads to. */
function targetsOf(state: Node): readonly string[] {
  const inside = [state, ...Object.values(state.states)];
  const targets = inside
    .flatMap((node) => [...node.transitions.values()].flat())
    .flatMap(({ target }) => target ?? [])
    .map((target) => topOf(target as Node).key);
  return [...new Set(targets)].filter((key) => key !== state.key);
}

function topOf(node: Node): Node {
  let current = node;
  while (current.parent?.parent) current = current.parent as Node;
  return current;
}
