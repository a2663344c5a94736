/** One operation as the list holds it: some hundred bytes, whatever its record has. */
import { z } from 'zod';
import type { RowView } from '../view/schema.ts';

/** Made in one way only, so that all of them have one shape: a hundred thousand are looked through many times. */
export class Row implements RowView {
  /** The last round over the whole ledger that has met it. */
  round = 0;
  /** Replaced or removed. */
  gone = false;

  constructor(
    readonly operationId: string,
    readonly state: string,
    readonly revision: number,
    /** It changes without a step. */
    public dueAt: number | null,
    readonly tool: string,
    readonly callNodeId: string,
    readonly serverStatus: string | null,
    readonly createdAt: number,
    readonly updatedAt: number,
    readonly parked: string | null,
    readonly problem: string | null,
  ) {}
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
  /** Throws where the record cannot be opened. */
  readonly snapshot: string;
}

export function rowOf(listable: Listable, names: Names): Row {
  const { operationId, revision, dueAt } = listable;
  const state = names.one(listable.state);
  const listed = read(listable);
  if (listed === null) {
    const problem = 'its record cannot be read by this version';
    return new Row(operationId, state, Number(revision), dueAt, '?', '?', null, 0, 0, null, problem);
  }
  const { tool, callNodeId, serverStatus, createdAt, updatedAt, parked } = listed.context;
  return new Row(
    operationId,
    state,
    Number(revision),
    dueAt,
    names.one(tool.name),
    callNodeId,
    serverStatus === null ? null : names.one(serverStatus),
    createdAt,
    updatedAt,
    parked !== null && state.startsWith('PARKED') ? names.one(parked.reason) : null,
    null,
  );
}

function read(listable: Listable): z.output<typeof Listed> | null {
  try {
    return Listed.safeParse(JSON.parse(listable.snapshot)).data ?? null;
  } catch {
    return null;
  }
}

/** What leaves: without what only the list needs. */
export function viewOf({ revision: _, round: __, gone: ___, ...row }: Row): RowView {
  return row;
}

/** Whether each of these words, in small letters, is in one of the names that the list shows. */
export function says({ operationId, callNodeId, tool }: Row, words: readonly string[]): boolean {
  const names = [operationId, callNodeId.toLowerCase(), tool.toLowerCase()];
  return words.every((word) => names.some((name) => name.includes(word)));
}
