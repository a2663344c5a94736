/** Every next step of the closed model, with the events of the chart that it is made of. */
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { CURSOR, ROUND } from '../system/abstraction.ts';
import { NotPerformedYet, type RecordId, type StepTaken } from '../system/records.ts';
import type { Step, System } from '../system/system.ts';
import type { World } from '../system/world.ts';
import { type TransitionName, transitionOf } from './transitions.ts';

/** One event that the model applied: to which record, from how long ago, and what it did. */
export interface Applied {
  readonly to: RecordId;
  readonly event: OperationEvent;
  readonly staleCursor: boolean;
  readonly staleRound: boolean;
  readonly step: StepTaken;
  /** `null`: refused. */
  readonly transition: TransitionName | null;
}
export interface NamedStep extends Step {
  readonly applied: readonly Applied[];
}

/** Watches what a system applies. */
export class Steps {
  #log: Omit<Applied, 'transition'>[] = [];
  readonly #names = new Map<string, TransitionName | null>();

  constructor(readonly system: System) {
    const { records } = system;
    const apply = records.apply.bind(records);
    records.apply = (to, event, staleCursor, staleRound) => {
      const step = apply(to, event, staleCursor, staleRound);
      this.#log.push({ to, event, staleCursor, staleRound, step });
      return step;
    };
  }

  async of(world: World): Promise<NamedStep[]> {
    for (;;) {
      this.#log = [];
      try {
        return this.#named(this.system.expand(world));
      } catch (error) {
        if (!(error instanceof NotPerformedYet)) throw error;
        await error.known;
      }
    }
  }

  /** Applications and steps come in the same order; a label says which events its step is made of. */
  #named(steps: readonly Step[]): NamedStep[] {
    const log = this.#log;
    let next = 0;
    return steps.map((step) => {
      const applied: Applied[] = [];
      for (const type of eventsIn(step.label)) {
        // What a human was not allowed to say left no step behind.
        while (step.label.startsWith('human: ') && (log[next]?.event.type !== type || !log[next]?.step.taken)) next++;
        const entry = log[next++];
        if (!entry || (type !== ANY && entry.event.type !== type))
          throw new Error(`cannot tell what "${step.label}" is made of`);
        applied.push({ ...entry, transition: this.#name(entry) });
      }
      return { ...step, applied };
    });
  }

  #name({ to, event, staleCursor, staleRound, step }: Omit<Applied, 'transition'>): TransitionName | null {
    if (!step.taken) return null;
    const key = `${to} ${staleCursor} ${staleRound} ${JSON.stringify(event)}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const { records } = this.system;
    const name = transitionOf(records.get(to).snapshot, aged(event, staleCursor, staleRound));
    if (name === null) throw new Error(`${event.type} was taken and has no transition`);
    this.#names.set(key, name);
    return name;
  }
}

/** The event under the claims that it was issued with. */
export function aged(event: OperationEvent, staleCursor: boolean, staleRound: boolean): OperationEvent {
  if (!('claims' in event)) return event;
  const { claims } = event;
  return {
    ...event,
    claims: {
      ...claims,
      ...(staleCursor ? { pollCursor: CURSOR - 1 } : {}),
      ...(staleRound ? { inputRound: ROUND - 1 } : {}),
    },
  };
}

const ANY = 'any';

function eventsIn(label: string): readonly string[] {
  if (/^[AB] owes /.test(label)) {
    if (label.endsWith(': waits') || /: asks \w+$/.test(label)) return [];
    return label.slice(label.lastIndexOf(': ') + 2).split(', ');
  }
  if (/^[AB] hears /.test(label)) {
    const told = /: ([\w., ]+)$/.exec(label)?.[1];
    return told === undefined ? [ANY] : told.split(', ');
  }
  if (/^[AB] adopts epoch/.test(label)) return ['epoch.adopt'];
  if (/^the answer of [AB] (is|arrives|breaks)/.test(label)) return [ANY];
  if (/^the late answer .* is taken in$/.test(label)) return [ANY];
  if (label.startsWith('human: ')) return [label.slice('human: '.length)];
  return [];
}
