/** The rows of a list in their order and counted, which stays cheap to keep where a few of a hundred thousand change. */
import type { Row } from './row.ts';

/** More changes than this are put in order by going through all rows once; fewer are looked up one by one. */
const FEW = 200;
/** So many changes wait at most to be put in order. */
const MOST_WAITING = 10_000;

export class Rows {
  readonly #byId = new Map<string, Row>();
  readonly #states = new Map<string, number>();
  readonly #most: number;
  /** As it was when somebody looked last. */
  #ordered: Row[] = [];
  /** Not in it yet. */
  #fresh: Row[] = [];
  /** In it still, or among the fresh. */
  #gone: Row[] = [];

  /** @param most more are not kept: the one that changed longest ago goes */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#byId.size;
  }

  get full(): boolean {
    return this.#byId.size >= this.#most;
  }

  /** How many there are in each state. */
  get states(): ReadonlyMap<string, number> {
    return this.#states;
  }

  get(operationId: string): Row | undefined {
    return this.#byId.get(operationId);
  }

  values(): IterableIterator<Row> {
    return this.#byId.values();
  }

  put(row: Row): void {
    this.remove(row.operationId);
    this.#byId.set(row.operationId, row);
    this.#count(row, 1);
    this.#fresh.push(row);
    if (this.#fresh.length >= MOST_WAITING) this.#settle();
  }

  remove(operationId: string): void {
    const row = this.#byId.get(operationId);
    if (row === undefined) return;
    this.#byId.delete(operationId);
    this.#count(row, -1);
    row.gone = true;
    this.#gone.push(row);
  }

  /** The one that changed last first. */
  ordered(): readonly Row[] {
    if (this.#fresh.length + this.#gone.length > 0) this.#settle();
    return this.#ordered;
  }

  #count({ state }: Row, by: number): void {
    const count = (this.#states.get(state) ?? 0) + by;
    if (count === 0) this.#states.delete(state);
    else this.#states.set(state, count);
  }

  #settle(): void {
    const fresh = this.#fresh.filter(({ gone }) => !gone).sort(latestFirst);
    if (fresh.length + this.#gone.length <= FEW) replaceFew(this.#ordered, this.#gone, fresh);
    else this.#ordered = merged(this.#ordered, fresh);
    this.#fresh = [];
    for (const row of this.#ordered.slice(this.#most)) this.remove(row.operationId);
    if (this.#ordered.length > this.#most) this.#ordered.length = this.#most;
    this.#gone = [];
  }
}

/** Each is found where it has to be: of rows that are ordered by what does not change. */
function replaceFew(ordered: Row[], gone: readonly Row[], fresh: readonly Row[]): void {
  for (const row of gone) {
    const at = placeOf(ordered, row);
    // Else it came and went since somebody looked.
    if (ordered[at] === row) ordered.splice(at, 1);
  }
  for (const row of fresh) ordered.splice(placeOf(ordered, row), 0, row);
}

/** How many come before it. */
function placeOf(ordered: readonly Row[], row: Row): number {
  let [from, to] = [0, ordered.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (latestFirst(ordered[middle] as Row, row) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function merged(ordered: readonly Row[], fresh: readonly Row[]): Row[] {
  const all: Row[] = [];
  let next = 0;
  for (const row of ordered) {
    if (row.gone) continue;
    for (; next < fresh.length && latestFirst(fresh[next] as Row, row) < 0; next++) all.push(fresh[next] as Row);
    all.push(row);
  }
  for (; next < fresh.length; next++) all.push(fresh[next] as Row);
  return all;
}

const latestFirst = (a: Row, b: Row): number =>
  b.updatedAt - a.updatedAt || (a.operationId < b.operationId ? -1 : a.operationId > b.operationId ? 1 : 0);
