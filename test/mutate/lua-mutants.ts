/**
 * Faults of the ledger's scripts, and of the digest that one of them compares. A check is the condition of an `if` (made never and always true) and each operand of an
 * `and` or `or` (left out), found in the text itself: a check that is added has its mutants at once.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { SourceMutant } from './copy.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
  readonly what: string;
}

const SCRIPTS = 'persistence/scripts';
const directory = new URL(`../../${SCRIPTS}/`, import.meta.url);

export function luaMutants(): readonly SourceMutant[] {
  const ofScripts = readdirSync(directory)
    .sort()
    .flatMap((file) => {
      const source = readFileSync(new URL(file, directory), 'utf8');
      return checksOf(source).map(({ start, end, by, what }) => ({
        name: `${file}:${source.slice(0, start).split('\n').length}: ${what}`,
        file: `${SCRIPTS}/${file}`,
        text: source.slice(0, start) + by + source.slice(end),
      }));
    });
  return [...ofScripts, ...fieldMutants()];
}

const FORM = 'persistence/record-form.ts';

/** B12: the digest that the acceptance compares is of eight fields. */
function fieldMutants(): readonly SourceMutant[] {
  const source = readFileSync(new URL(`../../${FORM}`, import.meta.url), 'utf8');
  const compared = 'digest(JSON.stringify(fieldTexts(fields)), 24)';
  if (source.split(compared).length !== 2) throw new Error(`${FORM} does not digest the fields as it did`);
  return [1, 2, 3, 4, 5, 6, 7, 8].map((field) => ({
    name: `record-form.ts: field ${field} is not compared`,
    file: FORM,
    text: source.replace(compared, compared.replace('(fields)', `(fields).filter((_, i) => i !== ${field - 1})`)),
  }));
}

/** A stretch of text with one expression in it, and the logical words of that expression. */
interface Segment {
  readonly start: number;
  /** Of an `if`, not a value. */
  readonly isCondition: boolean;
  readonly words: { readonly word: 'and' | 'or'; readonly at: number }[];
}
const BOUNDARIES = new Set('if elseif then else end return do while for in local function repeat until'.split(' '));

/** One pass over the text, segment by segment; strings and comments are stepped over. */
function checksOf(source: string): readonly Edit[] {
  const edits: Edit[] = [];
  let conditionAt = -1;
  const stack: Segment[] = [{ start: 0, isCondition: false, words: [] }];
  const close = (end: number) => edits.push(...droppedOperands(source, stack.pop() as Segment, end));
  const next = (end: number, start: number, isCondition = false) => {
    close(end);
    stack.push({ start, isCondition, words: [] });
  };
  // Strings, comments, words, assignments (no comparison), brackets, separators.
  for (const match of source.matchAll(/'[^']*'|--[^\n]*|[A-Za-z_]\w*|(?<![=~<>])=(?!=)|==|[~<>]=|[([{]|[)\]}]|,|\n/g)) {
    const [token] = match;
    const [from, to] = [match.index, match.index + token.length];
    if (token === 'and' || token === 'or') stack.at(-1)?.words.push({ word: token, at: from });
    else if (BOUNDARIES.has(token)) {
      next(from, to, token === 'if' || token === 'elseif');
      if (token === 'if' || token === 'elseif') conditionAt = to;
      if (token === 'then') edits.push(...forcedCondition(source, conditionAt, from));
    } else if ('([{'.includes(token)) stack.push({ start: to, isCondition: false, words: [] });
    else if (')]}'.includes(token)) close(from);
    else if (token === ',' || token === '=' || (token === '\n' && stack.length === 1)) next(from, to);
  }
  close(source.length);
  return edits;
}

function forcedCondition(source: string, start: number, end: number): readonly Edit[] {
  const condition = source.slice(start, end).trim();
  return [
    { start, end, by: ' false ', what: `never ${condition}` },
    { start, end, by: ' true ', what: `always ${condition}` },
  ];
}

/** `a and b or c and d` without a, without b, without c, without d, without `a and b`...: `and` binds first. */
function droppedOperands(source: string, { start, words, isCondition }: Segment, end: number): readonly Edit[] {
  if (words.length === 0) return [];
  const texts = [...words, null].map((word, index) => {
    const before = words[index - 1];
    const from = before ? before.at + before.word.length : start;
    return source.slice(from, word?.at ?? end).trim();
  });
  const terms: string[][] = [[]];
  texts.forEach((text, index) => {
    if (words[index - 1]?.word === 'or') terms.push([]);
    terms.at(-1)?.push(text);
  });
  const whole = written(terms);
  const edit = (rest: string[][], without: string): Edit => ({
    start,
    end,
    by: ` ${written(rest)} `,
    what: `${whole}: without ${without}`,
  });
  // `condition and one or other` chooses between two values, and a value is no check.
  const [chosen = [], otherwise = []] = terms;
  const isChoice = !isCondition && terms.length === 2 && chosen.length > 1 && otherwise.length === 1;
  if (isChoice) {
    return [
      edit([otherwise], written([chosen])),
      ...chosen.slice(0, -1).map((factor, index) => edit([chosen.filter((_, at) => at !== index), otherwise], factor)),
    ];
  }
  return terms.flatMap((factors, term) => [
    ...(terms.length > 1
      ? [
          edit(
            terms.filter((_, other) => other !== term),
            written([factors]),
          ),
        ]
      : []),
    ...(factors.length > 1
      ? factors.map((factor, index) =>
          edit(
            terms.map((each, other) => (other === term ? each.filter((_, at) => at !== index) : each)),
            factor,
          ),
        )
      : []),
  ]);
}

const written = (terms: readonly (readonly string[])[]): string =>
  terms.map((factors) => factors.join(' and ')).join(' or ');
