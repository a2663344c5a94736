/** Everything that programs have sent, as far as it is kept: memory is bounded, whatever they send. */
import { Actor } from './actor.ts';
import type { Frame } from './frame.ts';
import { MAX_STEPS } from './log.ts';
import { Program } from './program.ts';
import type { ProgramView, ReceivedView } from './view.ts';

export interface Bounds {
  readonly actors: number;
  readonly programs: number;
  /** Of all actors, about. */
  readonly bytes: number;
}
const BOUNDS: Bounds = { actors: 300, programs: 60, bytes: 64 * 1024 ** 2 };

export class Received {
  readonly #programs = new Map<number, Program>();
  /** The one that was heard of least recently first. */
  readonly #actors = new Map<number, Actor>();
  readonly #changed = new Set<() => void>();
  readonly #bounds: Bounds;
  #bytes = 0;
  #counted = { programs: 0, actors: 0 };
  #droppedActors = 0;
  #droppedPrograms = 0;

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /** Told that it may be otherwise. Returns the unsubscribe. */
  onChange(changed: () => void): () => void {
    this.#changed.add(changed);
    return () => this.#changed.delete(changed);
  }

  join(origin: string | null): Program {
    this.#counted.programs += 1;
    const program = new Program(this.#counted.programs, origin, Date.now());
    this.#programs.set(program.program, program);
    // Who is there is never dropped: how many may be there at once is the door's to say.
    const gone = [...this.#programs.values()].filter(({ until }) => until !== null);
    for (const { program: number } of gone.slice(0, Math.max(0, this.#programs.size - this.#bounds.programs))) {
      this.#droppedPrograms += 1;
      for (const actor of this.#actorsOf(number)) this.#drop(actor);
      this.#programs.delete(number);
    }
    this.#tell();
    return program;
  }

  leave(program: Program): void {
    program.until = Date.now();
    this.#tell();
  }

  refuse(program: Program, problem: string): void {
    program.refuse(problem);
    this.#tell();
  }

  take(program: Program, frame: Frame): void {
    const at = frame.createdAt ?? Date.now();
    const actor = this.#actorOf(program, frame.sessionId, at);
    const before = actor.bytes;
    try {
      this.#put(program, actor, at, frame);
    } finally {
      this.#bytes += actor.bytes - before;
    }
    this.#bound(actor);
    this.#tell();
  }

  #put(program: Program, actor: Actor, at: number, frame: Frame): void {
    if (frame.type === '@xstate.actor') actor.made(frame);
    else if (frame.type === '@xstate.snapshot') actor.stands(at, frame);
    else actor.log.event(at, frame.event, this.#nameOf(program, frame.sourceId ?? null));
  }

  view(chosen: number | null): ReceivedView {
    const actor = this.#actors.get(chosen ?? -1);
    const of = actor && this.#programs.get(actor.program);
    return {
      programs: [...this.#programs.values()].map((program) => this.#programView(program)),
      actor: actor && of ? actor.view(of.parentOf(actor), of.until === null) : null,
      ...{ droppedActors: this.#droppedActors, droppedPrograms: this.#droppedPrograms },
      limits: { actors: this.#bounds.actors, steps: MAX_STEPS },
    };
  }

  #programView(program: Program): ProgramView {
    // In the order in which they were made, however lately they were heard of.
    const actors = this.#actorsOf(program.program).sort((one, other) => one.actor - other.actor);
    return program.view(actors.map((actor) => actor.row(program.parentOf(actor))));
  }

  #actorsOf(program: number): Actor[] {
    return [...this.#actors.values()].filter((actor) => actor.program === program);
  }

  /** Also of an actor whose beginning nobody saw. */
  #actorOf(program: Program, sessionId: string, at: number): Actor {
    const known = this.#actors.get(program.numberOf(sessionId) ?? -1);
    if (known) {
      this.#actors.delete(known.actor);
      this.#actors.set(known.actor, known);
      return known;
    }
    this.#counted.actors += 1;
    const actor = new Actor(this.#counted.actors, program.program, sessionId, at);
    program.add(actor);
    this.#actors.set(actor.actor, actor);
    this.#bytes += actor.bytes;
    return actor;
  }

  #nameOf(program: Program, sessionId: string | null): string | null {
    if (sessionId === null) return null;
    return this.#actors.get(program.numberOf(sessionId) ?? -1)?.name ?? sessionId;
  }

  /** Those that are over go first, and of them those that nothing was heard of for longest. */
  #bound(latest: Actor): void {
    while (this.#actors.size > this.#bounds.actors || this.#bytes > this.#bounds.bytes) {
      const others = [...this.#actors.values()].filter((actor) => actor !== latest);
      const over = others.find((actor) => actor.status !== 'active' || !this.#isThere(actor));
      const oldest = over ?? others[0];
      if (!oldest) return;
      this.#droppedActors += 1;
      this.#drop(oldest);
    }
  }

  readonly #isThere = ({ program }: Actor): boolean => this.#programs.get(program)?.until === null;

  #drop(actor: Actor): void {
    this.#bytes -= actor.bytes;
    this.#actors.delete(actor.actor);
    this.#programs.get(actor.program)?.forget(actor);
  }

  #tell(): void {
    for (const changed of this.#changed) changed();
  }
}
