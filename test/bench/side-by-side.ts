import type { Bench } from './suite.ts';

/** Figures of one run by name. */
export type RunFigures = Readonly<Record<string, number>>;

/**
 * Measures everybody once per run, run after run, so that a slow minute of the machine meets all of them. Begins with
 * another one each time. The first run warms up and is dropped. Answers the values of each figure, run by run.
 */
export async function sideBySide<Name extends string>(
  names: readonly Name[],
  { runs, signal }: Pick<Bench, 'runs' | 'signal'>,
  measure: (name: Name, run: number) => Promise<RunFigures>,
): Promise<Readonly<Record<Name, Record<string, number[]>>>> {
  const figures = new Map(names.map((name) => [name, {} as Record<string, number[]>]));
  for (let run = 0; run <= runs; run++) {
    const first = run % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      signal.throwIfAborted();
      const measured = await measure(name, run);
      if (run === 0) continue;
      const own = figures.get(name) as Record<string, number[]>;
      for (const [figure, value] of Object.entries(measured)) own[figure] = [...(own[figure] ?? []), value];
    }
  }
  return Object.fromEntries(figures) as Record<Name, Record<string, number[]>>;
}
