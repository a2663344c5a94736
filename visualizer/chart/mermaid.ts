/**
 * The statechart as a Mermaid diagram, drawn from the machine itself. The states are the brief's; sub-states, and the many
 * ways into PARKED and out of it by hand, are left to the inspector.
 */
import { chartOf, topLevel } from './graph.ts';

const LEFT_OUT = new Set(['PARKED', 'CONCLUDING']);

export function statechartMermaid(): string {
  const { states, edges } = topLevel(chartOf());
  const drawn = states.flatMap(({ key }) => edges.filter(({ source }) => source === key));
  const lines = ['stateDiagram-v2', '  [*] --> SUBMITTING'];
  for (const { source, to } of drawn) {
    if (!LEFT_OUT.has(source) && !LEFT_OUT.has(to)) lines.push(`  ${source} --> ${to}`);
  }
  for (const name of LEFT_OUT) {
    const into = drawn.filter(({ to }) => to === name).map(({ source }) => source);
    const outOf = drawn.filter(({ source }) => source === name).map(({ to }) => to);
    lines.push(`  note right of ${name}`, `    from ${into.join(', ')}`, `    to ${outOf.join(', ')}`, '  end note');
  }
  for (const { key, kind } of states) if (kind === 'final') lines.push(`  ${key} --> [*]`);
  return lines.join('\n');
}
