/** The table in the terminal. */
import pc from 'picocolors';
import { CONTENDERS } from './contenders/contender.ts';
import type { Loaded } from './contenders/index.ts';
import { VERDICTS } from './referee.ts';
import type { Row } from './run.ts';
import { betterOf, countsOf } from './summary.ts';
import { cellWords, costWords, protocolWord, truthWords } from './words.ts';

const COLOURS: Readonly<Record<string, (text: string) => string>> = {
  agree: pc.green,
  'says less': pc.yellow,
  contradicts: pc.red,
  'second operation': pc.red,
};

export function terminalTable(rows: readonly Row[], { missing }: Loaded): string {
  const lines = rows.flatMap((row) => ['', ...blockOf(row)]);
  const better = betterOf(rows).filter(({ why }) => !why.startsWith('fewer'));
  return [
    ...lines,
    '',
    ...summaryLines(rows),
    ...missing.map(({ name, why }) => pc.red(`${name} could not be loaded: ${why}`)),
    '',
    'Where another one is better:',
    ...better.map(({ where, contender, why }) => `  ${where}: ${contender}: ${why}`),
  ].join('\n');
}

function blockOf({ script, protocol, cells }: Row): readonly string[] {
  const head = `${pc.bold(script.name)}  ${pc.dim(`${protocolWord(protocol)} · ${script.rows.join(' ')}`)}`;
  const body = CONTENDERS.flatMap((name) => {
    const cell = cells[name];
    if (cell === undefined) return [];
    const { verdict, words } = cellWords(cell);
    const colour = COLOURS[verdict] ?? pc.dim;
    const server =
      cell.kind === 'played'
        ? pc.dim(`  server: ${truthWords(cell.history.truth)}; ${costWords(cell.history.truth)}`)
        : '';
    return [`  ${name.padEnd(14)}  ${colour(verdict.padEnd(16))}  ${words}${server}`];
  });
  return [head, `  ${pc.dim(script.what)}`, ...body];
}

function summaryLines(rows: readonly Row[]): readonly string[] {
  const head = ['', 'played', ...VERDICTS];
  const body = countsOf(rows).map(({ contender, played, verdicts }) => [
    contender,
    String(played),
    ...VERDICTS.map((name) => String(verdicts[name])),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((line) => line[column]?.length ?? 0)));
  return [head, ...body].map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
