/** From raw figures to what is said about them. */

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('there is no median of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2;
}

/** The smallest value that at least this share of all do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('there is no percentile of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number;
}

/** Run by run: what was measured side by side is compared side by side, and the median is taken of the ratios. */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  if (ours.length !== theirs.length) {
    throw new RangeError(
      `${ours.length} runs cannot be compared with ${theirs.length}: a ratio is one of the same run`,
    );
  }
  return ours.map((value, run) => {
    const other = theirs[run] as number;
    if (!(other > 0)) throw new RangeError(`run ${run + 1} has nothing to be compared with: ${other}`);
    return value / other;
  });
}

/** Counts after less counts before; what did not change is left out. */
export function difference(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  const changed: Record<string, number> = {};
  for (const [name, value] of Object.entries(after)) {
    const more = value - (before[name] ?? 0);
    if (more !== 0) changed[name] = more;
  }
  return changed;
}

export const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, value) => sum + value, 0);
