/** Which rows of the list are asked for. */
import { z } from 'zod';
import { toolOperation } from '../../machines/index.ts';
import type { ListView } from '../view/schema.ts';
import { type Row, viewOf } from './row.ts';

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
export function pageOf(ordered: readonly Row[], { state, text, offset, limit }: ListQuery): Page {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const counts: Record<string, number> = { all: 0, unresolved: 0 };
  const rows: Row[] = [];
  let total = 0;
  for (const row of ordered) {
    if (!words.every((word) => row.haystack.includes(word))) continue;
    const top = topOf(row.state);
    counts[top] = (counts[top] ?? 0) + 1;
    counts.all = (counts.all ?? 0) + 1;
    const open = !OVER.has(top);
    if (open) counts.unresolved = (counts.unresolved ?? 0) + 1;
    if (state !== 'all' && state !== top && !(state === 'unresolved' && open)) continue;
    if (total >= offset && rows.length < limit) rows.push(row);
    total += 1;
  }
  return { rows: rows.map(viewOf), total, offset, counts };
}
