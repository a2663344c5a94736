/** Which rows of the list are asked for. */
import { z } from 'zod';
import { toolOperation } from '../../machines/index.ts';
import type { ListView } from '../view/schema.ts';
import { type Row, says, viewOf } from './row.ts';
import type { Rows } from './rows.ts';

export const MAX_PAGE = 100;

const whole = z.coerce.number().int().min(0);

export const ListQuery = z.object({
  /** A state of the brief, or `unresolved`: what is not over, or `all`. */
  state: z.string().max(64).default('all'),
  text: z.string().max(200).default(''),
  offset: whole.max(10_000_000).default(0),
  limit: whole.min(1).max(MAX_PAGE).default(50),
});
export type ListQuery = z.output<typeof ListQuery>;

const finals = Object.values(toolOperation.root.states).filter(({ type }) => type === 'final');
const OVER: ReadonlySet<string> = new Set(finals.map(({ key }) => key));
const topOf = (state: string): string => state.split('.', 1)[0] as string;

type Page = Pick<ListView, 'rows' | 'total' | 'offset' | 'counts'>;

/** `counts` are of what fits the text, whatever the state: they stand beside the states to choose from. */
export function pageOf(rows: Rows, { state, text, offset, limit }: ListQuery): Page {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ordered = rows.ordered();
  const fitting = words.length === 0 ? ordered : ordered.filter((row) => says(row, words));
  const states = words.length === 0 ? rows.states : tally(fitting);
  const wanted = new Set([...states.keys()].filter((each) => isWanted(state, each)));
  const total = [...wanted].reduce((sum, each) => sum + (states.get(each) ?? 0), 0);
  return { rows: partOf(fitting, wanted, offset, limit).map(viewOf), total, offset, counts: countsOf(states) };
}

function partOf(rows: readonly Row[], wanted: ReadonlySet<string>, offset: number, limit: number): Row[] {
  const part: Row[] = [];
  let skipped = 0;
  for (const row of rows) {
    if (part.length === limit) break;
    if (!wanted.has(row.state)) continue;
    if (skipped < offset) skipped += 1;
    else part.push(row);
  }
  return part;
}

function isWanted(wanted: string, state: string): boolean {
  const top = topOf(state);
  return wanted === 'all' || wanted === top || (wanted === 'unresolved' && !OVER.has(top));
}

function tally(rows: readonly Row[]): ReadonlyMap<string, number> {
  const states = new Map<string, number>();
  for (const { state } of rows) states.set(state, (states.get(state) ?? 0) + 1);
  return states;
}

function countsOf(states: ReadonlyMap<string, number>): Record<string, number> {
  const counts: Record<string, number> = { all: 0, unresolved: 0 };
  for (const [state, count] of states) {
    const top = topOf(state);
    for (const name of [top, 'all', ...(OVER.has(top) ? [] : ['unresolved'])]) {
      counts[name] = (counts[name] ?? 0) + count;
    }
  }
  return counts;
}
