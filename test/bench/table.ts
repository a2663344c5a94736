/** What a suite measured, as text: one table for each set of figures. */
import { median } from './statistics.ts';
import type { Measurement, SuiteResult } from './suite.ts';

export function tableOf({ measurements, notes }: SuiteResult): string {
  const parts: string[] = [];
  for (const group of alike(measurements)) {
    const columns = [...new Set(group.flatMap(({ figures }) => Object.keys(figures)))];
    const rows = group.map(({ what, who, figures }) => [
      what,
      who,
      ...columns.map((column) => (figures[column] ? told(figures[column]) : '')),
    ]);
    parts.push(aligned([['', '', ...columns], ...rows]));
  }
  return [...parts, ...notes.map((note) => `  ${note}`)].join('\n');
}

/** Measurements that share a figure stand in one table. */
function alike(measurements: readonly Measurement[]): Measurement[][] {
  const groups: Measurement[][] = [];
  for (const each of measurements) {
    const shares = (other: Measurement) => Object.keys(each.figures).some((name) => name in other.figures);
    const group = groups.find((known) => known.some(shares));
    if (group) group.push(each);
    else groups.push([each]);
  }
  return groups;
}

/** The median, with three digits that mean something. */
export function told(values: readonly number[]): string {
  const value = median(values);
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
