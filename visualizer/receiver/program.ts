/** One program that sends, or has sent: a connection. Ids of actors are its own: another program has the same ones. */
import { clip } from './text.ts';
import type { ActorRow, ProgramView } from './view.ts';

interface Known {
  readonly actor: number;
  readonly sessionId: string;
  readonly parentId: string | null;
}

export class Program {
  /** When it left. */
  until: number | null = null;
  readonly #numbers = new Map<string, number>();
  #refused = 0;
  #problem = '';

  constructor(
    readonly program: number,
    private readonly origin: string | null,
    private readonly since: number,
  ) {}

  numberOf(sessionId: string): number | undefined {
    return this.#numbers.get(sessionId);
  }

  parentOf({ parentId }: Known): number | null {
    return (parentId === null ? undefined : this.#numbers.get(parentId)) ?? null;
  }

  add({ sessionId, actor }: Known): void {
    this.#numbers.set(sessionId, actor);
  }

  forget({ sessionId }: Known): void {
    this.#numbers.delete(sessionId);
  }

  refuse(problem: string): void {
    this.#refused += 1;
    this.#problem = clip(problem, 300);
  }

  view(actors: readonly ActorRow[]): ProgramView {
    const { program, origin, since, until } = this;
    const refused = this.#refused === 0 ? null : { count: this.#refused, last: this.#problem };
    return { program, origin, since, until, refused, actors };
  }
}
