/** One operation as the list holds it: some hundred bytes, whatever its record has. */
import { z } from 'zod';
import type { RowView } from '../view/schema.ts';

export interface Row extends RowView {
  readonly revision: number;
  /** What a search looks in. */
  readonly haystack: string;
}

/** No more than the list shows. All else may be of another version, which must not hide the row. */
const Listed = z.object({
  context: z.object({
    tool: z.object({ name: z.string() }),
    callNodeId: z.string(),
    serverStatus: z.string().nullable(),
    createdAt: z.number(),
    updatedAt: z.number(),
    parked: z.object({ reason: z.string() }).nullable(),
  }),
});

/** Names come again and again: each is kept once. */
export class Names {
  readonly #known = new Map<string, string>();
  readonly #most: number;

  constructor(most = 10_000) {
    this.#most = most;
  }

  one(name: string): string {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#known.size < this.#most) this.#known.set(name, name);
    return name;
  }
}

export interface Listable {
  readonly operationId: string;
  readonly state: string;
  readonly revision: string;
  readonly dueAt: number | null;
  readonly snapshot: string;
}

export function rowOf({ operationId, state, revision, dueAt, snapshot }: Listable, names: Names): Row {
  const base = { operationId, state: names.one(state), revision: Number(revision), dueAt };
  const listed = read(snapshot);
  if (listed === null) {
    const unknown = { tool: '?', callNodeId: '?', serverStatus: null, createdAt: 0, updatedAt: 0, parked: null };
    return { ...base, ...unknown, problem: 'its record cannot be read by this version', haystack: operationId };
  }
  const { tool, callNodeId, serverStatus, createdAt, updatedAt, parked } = listed.context;
  return {
    ...base,
    tool: names.one(tool.name),
    callNodeId,
    serverStatus: serverStatus === null ? null : names.one(serverStatus),
    ...{ createdAt, updatedAt },
    parked: parked !== null && state.startsWith('PARKED') ? names.one(parked.reason) : null,
    problem: null,
    haystack: `${operationId}\n${callNodeId}\n${tool.name}`.toLowerCase(),
  };
}

function read(snapshot: string): z.output<typeof Listed> | null {
  try {
    return Listed.safeParse(JSON.parse(snapshot)).data ?? null;
  } catch {
    return null;
  }
}

/** What leaves: without what only the list needs. */
export function viewOf({ revision: _, haystack: __, ...row }: Row): RowView {
  return row;
}
