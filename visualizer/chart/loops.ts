import { type Chart, type ChartEdge, topOf } from './model.ts';

/** For each state in which something can happen that does not leave it: all of it, as one edge to itself. */
export function loopsOf(chart: Chart): readonly ChartEdge[] {
  const parents = new Set(chart.states.map(({ parent }) => parent));
  return chart.states.flatMap(({ path, kind }): ChartEdge[] => {
    if (kind === 'final' || parents.has(path)) return [];
    const inside = chart.edges.filter(({ stays, source, from, to }) =>
      stays ? ['', topOf(path), path].includes(source) : to === path && from.includes(path),
    );
    const transitions = inside.flatMap((edge) => edge.transitions);
    return transitions.length === 0 ? [] : [{ source: path, from: [path], to: path, stays: true, transitions }];
  });
}
