/** Which guards of the chart were asked, and what they said: read off the chart itself while it decides about an event. */
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { toolOperation } from '../../../machines/tool-operation/machine.ts';
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import { guardNames } from '../../machines/chart.ts';

type Asked = (...given: unknown[]) => boolean;
/** e.g. `matchesPollCursor: false` */
export type Said = string;

export class GuardCoverage {
  readonly said = new Set<Said>();
  #now: Said[] = [];
  readonly #chart = toolOperation.provide({ guards: this.#watched() as never });

  /** Has the chart decide once more about an event that a record met; gives what was never said before. */
  meet(snapshot: OperationSnapshot, event: OperationEvent): readonly Said[] {
    if (snapshot.status !== 'active') return [];
    this.#now = [];
    this.#chart.getTransitionData({ ...snapshot, machine: this.#chart } as never, event);
    return this.#now;
  }

  #watched(): Record<string, unknown> {
    const guards = toolOperation.implementations.guards as Record<string, unknown>;
    return Object.fromEntries(guardNames.map((name) => [name, this.#watch(name, guards[name] as Asked)]));
  }

  /** A composite of xstate is a function too; what is asked of it is its `check`. */
  #watch(name: string, guard: Asked & { readonly check?: Asked }): Asked {
    const { check } = guard;
    const watched =
      (asked: Asked) =>
      (...given: unknown[]) => {
        const says = asked(...given);
        this.#note(`${name}: ${says}`);
        return says;
      };
    if (check === undefined) return watched(guard);
    return Object.assign(() => false, guard, { check: watched((snapshot, args) => check(snapshot, args, guard)) });
  }

  #note(said: Said): void {
    if (this.said.has(said)) return;
    this.said.add(said);
    this.#now.push(said);
  }
}
