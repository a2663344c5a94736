/** Text of others on a terminal: whatever could move the cursor, change colours or reorder the line is taken out. */
import { stripVTControlCharacters } from 'node:util';

// C0, DEL, C1, and what changes the direction of text; escape sequences go first, with their printable tail.
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const SURROGATES = /\p{Cs}/gu;

/** One line, safe to print. */
export function oneLine(text: string, max = 200): string {
  const clean = stripVTControlCharacters(text)
    .replace(/[\r\n\t]+/g, ' ')
    .replace(CONTROLS, '')
    .replace(SURROGATES, '?')
    .trim();
  return clean.length > max ? `${clean.slice(0, max - 1)}…` : clean;
}

/** Several lines, safe to print: only line feeds and tabs are left of the controls. */
export function manyLines(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, (character) => (character === '\n' || character === '\t' ? character : ''))
    .replace(SURROGATES, '?');
}

/** JSON on one line that a terminal cannot be steered with: the value is unchanged. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Enough of an operation id to find it again. */
export function shortId(operationId: string): string {
  return operationId.slice(0, operationId.indexOf('.') + 13);
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}
