/** What the rows come to: counts, where a peer is better, and what must not be. */
import { CONTENDERS, type ContenderName } from './contenders/contender.ts';
import type { NotLoaded } from './contenders/index.ts';
import { betterThan, VERDICTS, type VerdictName } from './referee.ts';
import type { Row } from './run.ts';
import { protocolWord } from './words.ts';

export const OURS: ContenderName = 'toolop';

export interface Count {
  readonly contender: ContenderName;
  readonly played: number;
  readonly verdicts: Readonly<Record<VerdictName, number>>;
}

export const countsOf = (rows: readonly Row[]): readonly Count[] =>
  CONTENDERS.map((contender) => {
    const names = rows.flatMap(({ cells }) => {
      const cell = cells[contender];
      return cell?.kind === 'played' ? [cell.verdict.name] : [];
    });
    const verdicts = Object.fromEntries(
      VERDICTS.map((name) => [name, names.filter((one) => one === name).length]),
    ) as Record<VerdictName, number>;
    return { contender, played: names.length, verdicts };
  }).filter(({ played }) => played > 0);

export interface Better {
  readonly where: string;
  readonly contender: ContenderName;
  readonly why: string;
}

export const betterOf = (rows: readonly Row[]): readonly Better[] =>
  rows.flatMap(({ script, protocol, cells }) => {
    const ours = cells[OURS];
    if (ours?.kind !== 'played') return [];
    return CONTENDERS.flatMap((contender) => {
      const cell = cells[contender];
      if (contender === OURS || cell?.kind !== 'played') return [];
      const why = betterThan(ours.history, cell.history);
      return why === null ? [] : [{ where: `${script.name} (${protocolWord(protocol)})`, contender, why }];
    });
  });

/** Why the run as a whole fails: what we must never do, and whoever could not be run. */
export function failuresOf(rows: readonly Row[], missing: readonly NotLoaded[]): readonly string[] {
  const own = rows.flatMap(({ script, protocol, cells }) => {
    const cell = cells[OURS];
    const bad = cell?.kind === 'played' && ['contradicts', 'second operation'].includes(cell.verdict.name);
    if (!bad) return [];
    return [`${OURS}, ${script.name} (${protocolWord(protocol)}): ${cell.verdict.name}: ${cell.verdict.why}`];
  });
  const broken = rows.flatMap(({ script, protocol, cells }) =>
    CONTENDERS.flatMap((name) => {
      const cell = cells[name];
      return cell?.kind === 'broken'
        ? [`${name}, ${script.name} (${protocolWord(protocol)}): not run: ${cell.why}`]
        : [];
    }),
  );
  return [...own, ...broken, ...missing.map(({ name, why }) => `${name} could not be loaded: ${why}`)];
}
