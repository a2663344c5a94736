/** The block of the page: counts, then every row, then where another one is better and how each was driven. */
import { CONTENDERS, type Contender, type ContenderName } from './contenders/contender.ts';
import type { Loaded } from './contenders/index.ts';
import { VERDICTS } from './referee.ts';
import type { Cell, Row } from './run.ts';
import { betterOf, countsOf } from './summary.ts';
import { cellWords, costWords, protocolWord, truthWords } from './words.ts';

const SIGNS: Readonly<Record<string, string>> = {
  agree: '✓',
  'says less': '○',
  contradicts: '✗',
  'second operation': '✗✗',
};

/** Both generations of one package stand in one column: no row has both. */
const COLUMNS: readonly (readonly [string, readonly ContenderName[]])[] = [
  ['toolop', ['toolop']],
  ['ext-tasks', ['ext-tasks v1', 'ext-tasks v2']],
  ['callToolStream', ['callToolStream']],
  ['google-gax', ['google-gax']],
];

export function markdown(rows: readonly Row[], { contenders, missing }: Loaded): string {
  return [
    ...summary(rows),
    ...missing.map(({ name, why }) => `\n**${name} could not be loaded**: ${why}`),
    '',
    details(`Every script (${rows.length} rows)`, allRows(rows)),
    '',
    details('Where another one is better', better(rows)),
    '',
    details('How each was driven', contenders.flatMap(driven)),
  ].join('\n');
}

/** What stands before the details of the block. */
export const countsIn = (block: string): string => block.slice(0, block.indexOf('\n\n<details>'));

function summary(rows: readonly Row[]): readonly string[] {
  const signs = VERDICTS.map((name) => `${SIGNS[name]} ${name}`);
  return [
    `| | played | ${signs.join(' | ')} |`,
    `|---|--:|${VERDICTS.map(() => '--:|').join('')}`,
    ...countsOf(rows).map(
      ({ contender, played, verdicts }) =>
        `| ${contender} | ${played} | ${VERDICTS.map((name) => verdicts[name]).join(' | ')} |`,
    ),
  ];
}

const details = (title: string, lines: readonly string[]): string =>
  [`<details>`, `<summary>${title}</summary>`, '', ...lines, '', '</details>'].join('\n');

function allRows(rows: readonly Row[]): readonly string[] {
  return [
    'In each cell: the verdict, what the caller was told, and of the server: how many operations it made, what became of the first one, requests that it saw.',
    '',
    `| script | ${COLUMNS.map(([title]) => title).join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---|').join('')}`,
    ...rows.map((row) => `| ${head(row)} | ${COLUMNS.map(([, names]) => inColumn(row, names)).join(' | ')} |`),
  ];
}

function head({ script, protocol }: Row): string {
  const name = script.source === undefined ? `**${script.name}**` : `**[${script.name}](${script.source})**`;
  return `${name}, ${protocolWord(protocol)}, ${script.rows.join(' ')}. ${script.what}`;
}

function inColumn({ cells }: Row, names: readonly ContenderName[]): string {
  const found = names.flatMap((name) => cells[name] ?? []);
  return found.length === 0 ? '–' : found.map(cellText).join('<br>');
}

function cellText(cell: Cell): string {
  const { verdict, words } = cellWords(cell);
  const sign = SIGNS[verdict] ?? '';
  if (cell.kind !== 'played') return safe(`${verdict}: ${words}`);
  const { truth } = cell.history;
  const why = cell.verdict.name === 'agree' ? '' : ` (${cell.verdict.why})`;
  return `${sign} ${verdict}: ${safe(words + why)}<br>server: ${truthWords(truth)}; ${costWords(truth)}`;
}

function better(rows: readonly Row[]): readonly string[] {
  const found = betterOf(rows);
  const cheaper = found.filter(({ why }) => why.startsWith('fewer'));
  const others = found.filter(({ why }) => !why.startsWith('fewer'));
  const by = CONTENDERS.map((name) => [name, cheaper.filter(({ contender }) => contender === name).length] as const);
  return [
    ...others.map(({ where, contender, why }) => `- ${where}: ${contender}: ${why}`),
    `- The same answer with fewer requests: ${by
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${name} ${count} times`)
      .join(', ')}.`,
  ];
}

const driven = ({ name, version, notes }: Contender): readonly string[] => [
  `- **${name}**${version === '' ? '' : ` ${version}`}: ${notes.join(' ')}`,
];

/** Told texts are what a server or a library wrote: nothing of it is markup here. */
const safe = (text: string): string => text.replace(/[\\|<>[\]*_`]/g, (sign) => `\\${sign}`).replace(/\s+/g, ' ');
