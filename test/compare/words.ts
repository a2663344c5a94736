/** What was told and found, in few words. */
import type { Protocol, Told, Truth } from './history.ts';
import type { Cell } from './run.ts';

const LONGEST = 44;

export const protocolWord = (protocol: Protocol): string => protocol.replace(/^mcp-/, 'MCP ').replace('aip', 'AIP');

/** In order; the same word twice in a row is said once. */
export function toldWords(told: readonly Told[]): string {
  const words = told.map(toldWord);
  const different = words.filter((word, nth) => word !== words[nth - 1]);
  return different.length === 0 ? 'stopped waiting' : different.join(', then ');
}

function toldWord(told: Told): string {
  switch (told.kind) {
    case 'completed':
      return told.isError ? 'completed (isError)' : told.text === '' ? 'completed (empty)' : 'completed';
    case 'cancelled':
      return 'cancelled';
    case 'silent':
      return 'nothing';
    case 'parked':
      return `unknown: ${told.text}`;
    default:
      return `${told.kind}: ${brief(told.text)}`;
  }
}

/** Without line breaks and ids of this run; an error inside of an error is said once. */
function brief(text: string): string {
  const plain = text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/operations\/op-\d+-\d+/g, '…')
    .replace(/127\.0\.0\.1:\d+/g, '…')
    .replace(/\s+/g, ' ');
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 1).trimEnd()}…`;
}

export function truthWords({ status, operations }: Truth): string {
  const many = operations === 1 ? '1 operation' : `${operations} operations`;
  const what = { none: 'nothing ran', gone: 'forgotten', working: 'working', input_required: 'waits for an answer' };
  return operations === 0 ? 'nothing ran' : `${many}, ${status in what ? what[status as keyof typeof what] : status}`;
}

export function costWords({ creates, requests }: Truth): string {
  return `${creates} ${creates === 1 ? 'create' : 'creates'}, ${requests} requests`;
}

export function cellWords(cell: Cell): { readonly verdict: string; readonly words: string } {
  switch (cell.kind) {
    case 'unable':
      return { verdict: 'cannot', words: `has no ${cell.needs}` };
    case 'broken':
      return { verdict: 'not run', words: cell.why };
    case 'played':
      return { verdict: cell.verdict.name, words: toldWords(cell.history.told) };
  }
}
