/**
 * Who looks after which partition. Every executor is in line for each partition: the order follows from a hash of partition
 * and process (rendezvous hashing), among the processes that are alive and serve the scope in question. The first takes what
 * is due at once; the next one only what has been due for the grace, the one after it for twice that, and so on. So there
 * is no moment in which nobody looks: whoever is dead, stopped or cannot really serve costs the grace, and a process that
 * comes or goes moves only its own partitions.
 *
 * This is about not being in each other's way, and about nothing else. Two executors may think themselves first at the
 * same time (they hear of each other by heartbeats), and both may look: that one of them gets a record is what the
 * lease is for, and that a late one does no harm what its epoch and the revision are for.
 */
import { sha256 } from '../digest.ts';
import type { LiveProcess } from '../operation-ledger.ts';

/** From this place in the line on, nobody waits any longer: a large fleet that lost many is not slower for it. */
const LAST_PLACE = 4;
/** The scope of a process that is not there: everybody is in line. */
const ANYBODY = 'process:';

export class Spread {
  #alive: readonly LiveProcess[] = [];
  readonly #weights = new Map<string, readonly number[]>();
  /** Places in line by scope, while the same processes are alive. */
  readonly #places = new Map<string, readonly number[]>();

  constructor(
    private readonly processId: string,
    private readonly partitions: number,
    private readonly graceMs: number,
  ) {}

  /** Takes in who is alive now. Answers whether that changes anything, and who is gone since. */
  update(alive: readonly LiveProcess[]): { readonly changed: boolean; readonly gone: boolean } {
    const now = new Map(alive.map((process) => [process.processId, JSON.stringify(process.scopes)]));
    const gone = this.#alive.some(({ processId }) => !now.has(processId));
    const before = new Map(this.#alive.map((process) => [process.processId, JSON.stringify(process.scopes)]));
    const changed = gone || [...now].some(([processId, scopes]) => before.get(processId) !== scopes);
    if (changed) {
      this.#alive = alive;
      this.#places.clear();
      for (const processId of [...this.#weights.keys()]) if (!now.has(processId)) this.#weights.delete(processId);
    }
    return { changed, gone };
  }

  /** How long something has to be due in this partition before this process takes it, ms. */
  patienceMs(partition: number, scope: string): number {
    return Math.min(this.#placesFor(scope)[partition] ?? 0, LAST_PLACE) * this.graceMs;
  }

  /** Whether no other process is before this one, whomever they serve. */
  isFirst(partition: number): boolean {
    return this.patienceMs(partition, ANYBODY) === 0;
  }

  #placesFor(scope: string): readonly number[] {
    const known = this.#places.get(scope);
    if (known) return known;
    const own = this.#weightsOf(this.processId);
    const others = this.#othersFor(scope).map(({ processId }) => this.#weightsOf(processId));
    const places = own.map(
      (weight, partition) => others.filter((weights) => (weights[partition] ?? 0) > weight).length,
    );
    this.#places.set(scope, places);
    return places;
  }

  /** What only one process can serve is its own; what a dead one left behind, anybody puts away. */
  #othersFor(scope: string): readonly LiveProcess[] {
    if (scope === `process:${this.processId}`) return [];
    const others = this.#alive.filter(({ processId }) => processId !== this.processId);
    return scope.startsWith('process:') ? others : others.filter(({ scopes }) => scopes.includes(scope));
  }

  #weightsOf(processId: string): readonly number[] {
    const known = this.#weights.get(processId);
    if (known) return known;
    const weights = Array.from({ length: this.partitions }, (_, partition) =>
      Number.parseInt(sha256(`${partition} ${processId}`).slice(0, 12), 16),
    );
    this.#weights.set(processId, weights);
    return weights;
  }
}
