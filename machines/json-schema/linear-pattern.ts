/**
 * Regular expressions that come from a server, in time linear in the text: the engine of the language backtracks, and
 * `^(a+)+$` on forty characters would stop this process for hours. JSON Schema means ECMAScript's syntax (with `u`), so
 * the pattern is checked as such and then written in RE2's. What RE2 cannot express is refused in words.
 */
import { RE2JS } from 're2js';

/** What ajv asks of an engine. */
export interface LinearPattern {
  test(text: string): boolean;
  /** Ajv takes two patterns with the same text for one. */
  toString(): string;
}

/** ECMAScript's white space and line ends, as ranges of a class; RE2's `\s` knows the ASCII ones only. */
const SPACE: readonly (readonly [number, number])[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LAST = 0x10ffff;
const code = (point: number) => `\\x{${point.toString(16)}}`;
const ranges = (list: readonly (readonly [number, number])[]) =>
  list.map(([from, to]) => `${code(from)}-${code(to)}`).join('');
const spaces = ranges(SPACE);
const others = ranges([
  ...SPACE.map(([from], i) => [i === 0 ? 0 : (SPACE[i - 1]?.[1] ?? 0) + 1, from - 1] as const),
  [0xff00, LAST],
]);

/** Compiles a pattern of a JSON Schema. Throws for one that is none, or that needs more than linear time. */
export function linearPattern(pattern: string, steps?: { spend(count: number): void }): LinearPattern {
  // Only to check the syntax: this one never sees a text.
  new RegExp(pattern, 'u');
  const compiled = compile(inRe2(pattern));
  // Linear in the text, by a factor that the pattern chooses: a step is what a small one costs for a character.
  const cost = Math.ceil(compiled.programSize() / 16);
  return {
    test: (text) => {
      steps?.spend(text.length * cost);
      return compiled.test(text);
    },
    toString: () => `/${pattern}/u`,
  };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`a pattern has no form that is matched in linear time: ${(error as Error).message}`);
  }
}

/** One token after the other; the syntax is known to be right. (The bounds keep this one linear, too.) */
const TOKEN =
  /\\u\{(?<point>[0-9a-f]+)\}|\\u(?<high>d[89ab][0-9a-f]{2})\\u(?<low>d[c-f][0-9a-f]{2})|\\u(?<unit>[0-9a-f]{4})|\\c(?<control>[a-z])|\\k<|\\[1-9]|\\p\{(?:(?:script|sc|general_category|gc)=)?(?<property>[^}]{0,64})\}|\\.|\(\?<?[=!]|\(\?<[^>\]]{1,64}>|\[\^?\]|./gisu;

function inRe2(pattern: string): string {
  let inClass = false;
  const out: string[] = [];
  for (const match of pattern.matchAll(TOKEN)) {
    const [token] = match;
    const { point, high, low, unit, control, property } = match.groups ?? {};
    if (point !== undefined) out.push(code(Number.parseInt(point, 16)));
    else if (high !== undefined && low !== undefined)
      out.push(code(0x10000 + (Number.parseInt(high, 16) - 0xd800) * 0x400 + Number.parseInt(low, 16) - 0xdc00));
    else if (unit !== undefined) out.push(code(Number.parseInt(unit, 16)));
    else if (control !== undefined) out.push(code(control.charCodeAt(0) % 32));
    else if (property !== undefined) out.push(`${token.slice(0, 2)}{${property}}`);
    else if (token.startsWith('\\')) out.push(escaped(token, inClass));
    else if (inClass) {
      if (token.endsWith(']')) inClass = false;
      out.push(token.startsWith('[') ? `\\${token}` : token);
    } else if (token === '[') {
      inClass = true;
      out.push(token);
    } else out.push(unescaped(token));
  }
  return out.join('');
}

function escaped(token: string, inClass: boolean): string {
  if (token === '\\k<' || /^\\[1-9]$/.test(token))
    throw new Error('a pattern has no form that is matched in linear time: it has a back-reference');
  switch (token) {
    case '\\s':
      return inClass ? spaces : `[${spaces}]`;
    case '\\S':
      return inClass ? others : `[${others}]`;
    case '\\0':
      return code(0);
    case '\\b':
      return inClass ? code(8) : token;
    default:
      return token;
  }
}

function unescaped(token: string): string {
  if (/^\(\?<?[=!]$/.test(token))
    throw new Error('a pattern has no form that is matched in linear time: it looks around');
  if (token.startsWith('(?<')) return '(?:';
  if (token === '[]') return `[^${code(0)}-${code(LAST)}]`;
  if (token === '[^]') return `[${code(0)}-${code(LAST)}]`;
  return token === '.' ? `[^\\n\\r${code(0x2028)}${code(0x2029)}]` : token;
}
