/** What became of the mutants, in numbers and as a list. */
import pc from 'picocolors';
import { KINDS, type Kind, MEANINGS, type Verdict } from './mutant.ts';

export interface Totals {
  readonly kind: Kind;
  readonly mutants: number;
  readonly killed: number;
  readonly equivalent: number;
  readonly survived: number;
  readonly seconds: number;
}

export interface Summary {
  readonly totals: readonly Totals[];
  readonly survivors: readonly Verdict[];
  /** Excused by name, and alive as said. */
  readonly equivalent: readonly (Verdict & { readonly reason: string })[];
  /** Excused by name, but killed. */
  readonly wronglyExcused: readonly Verdict[];
  /** Every mutant was killed, or is excused and alive; and there was one. */
  readonly pass: boolean;
}

export function summaryOf(verdicts: readonly Verdict[], excused: Readonly<Record<string, string>>): Summary {
  const alive = verdicts.filter(({ killer }) => killer === null);
  const survivors = alive.filter(({ name }) => excused[name] === undefined);
  const wronglyExcused = verdicts.filter(({ name, killer }) => excused[name] !== undefined && killer !== null);
  const totals = KINDS.flatMap((kind) => {
    const of = (list: readonly Verdict[]) => list.filter((verdict) => verdict.kind === kind);
    if (of(verdicts).length === 0) return [];
    return {
      kind,
      mutants: of(verdicts).length,
      killed: of(verdicts).length - of(alive).length,
      equivalent: of(alive).length - of(survivors).length,
      survived: of(survivors).length,
      seconds: Math.round(of(verdicts).reduce((sum, { ms }) => sum + ms, 0) / 1_000),
    };
  });
  return {
    totals,
    survivors,
    equivalent: alive.flatMap((verdict) => {
      const reason = excused[verdict.name];
      return reason === undefined ? [] : { ...verdict, reason };
    }),
    wronglyExcused,
    pass: verdicts.length > 0 && survivors.length === 0 && wronglyExcused.length === 0,
  };
}

/** The list of all mutants with what kills them, then the survivors, then the totals. */
export function told(verdicts: readonly Verdict[], summary: Summary): string {
  const { totals, survivors, equivalent, wronglyExcused } = summary;
  const lines = KINDS.flatMap((kind) => {
    const of = verdicts.filter((verdict) => verdict.kind === kind);
    if (of.length === 0) return [];
    return [
      pc.bold(`${kind}: ${MEANINGS[kind]}`),
      ...of.map(({ name, killer }) => `  ${name}  ${killer === null ? pc.red('alive') : pc.dim(`<- ${killer}`)}`),
      '',
    ];
  });
  if (equivalent.length > 0)
    lines.push(
      pc.bold('equivalent: nobody can tell them from what they were made of'),
      ...equivalent.map(({ name, reason }) => `  ${name}: ${reason}`),
      '',
    );
  if (wronglyExcused.length > 0)
    lines.push(
      pc.red('listed as equivalent, but killed'),
      ...wronglyExcused.map(({ name, killer }) => `  ${name}  <- ${killer}`),
      '',
    );
  if (survivors.length > 0)
    lines.push(
      pc.red('survivors: a test is missing, or what was changed is needless'),
      ...survivors.map(({ kind, name }) => `  ${kind}  ${name}`),
      '',
    );
  const row = (cells: readonly (string | number)[]) =>
    cells.map((cell, column) => (column === 0 ? String(cell).padEnd(12) : String(cell).padStart(11))).join('');
  lines.push(
    row(['kind', 'mutants', 'killed', 'equivalent', 'survived', 'seconds']),
    ...totals.map(({ kind, mutants, killed, equivalent: same, survived, seconds }) =>
      row([kind, mutants, killed, same, survived, seconds]),
    ),
  );
  return lines.join('\n');
}
