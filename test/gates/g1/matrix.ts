/** State by fault: what hit what how often (G1). */
import type { Matrix } from '../../model/system/orderings.ts';

export function summed(matrices: readonly Matrix[]): Matrix {
  const sum: Record<string, Record<string, number>> = {};
  for (const matrix of matrices)
    for (const [state, faults] of Object.entries(matrix)) {
      const row = sum[state] ?? {};
      sum[state] = row;
      for (const [fault, count] of Object.entries(faults)) row[fault] = (row[fault] ?? 0) + count;
    }
  return sum;
}

export const pairs = (matrix: Matrix): readonly { readonly pair: string; readonly count: number }[] =>
  Object.entries(matrix).flatMap(([state, faults]) =>
    Object.entries(faults).map(([fault, count]) => ({ pair: `${state}: ${fault}`, count })),
  );

/** Possible in a state, and never hit it. */
export const missed = (matrix: Matrix): readonly string[] =>
  pairs(matrix)
    .filter(({ count }) => count === 0)
    .map(({ pair }) => pair)
    .sort();

/** A row for each state, a column for each fault; `-` where it cannot happen. */
export function matrixText(matrix: Matrix): string {
  const states = Object.keys(matrix).sort();
  const faults = [...new Set(Object.values(matrix).flatMap(Object.keys))].sort();
  const first = Math.max(...states.map(({ length }) => length));
  const cell = (text: string) => text.padStart(5);
  return [
    ...faults.map((fault, nth) => `${String(nth + 1).padStart(first)}: ${fault}`),
    '',
    `${''.padEnd(first)}${faults.map((_, nth) => cell(String(nth + 1))).join('')}`,
    ...states.map((state) => {
      const counts = faults.map((fault) => matrix[state]?.[fault]);
      return `${state.padEnd(first)}${counts.map((count) => cell(count === undefined ? '-' : short(count))).join('')}`;
    }),
  ].join('\n');
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });
const short = (count: number) => compact.format(count);
