import type fc from 'fast-check';

/** What became of an input. Both are fine; a throw, a hang, a stray rejection or a broken invariant is not. */
export type Verdict = 'accepted' | 'refused';

/** One thing that reads what others wrote, and how to make inputs for it. */
export interface Target<T = unknown> {
  readonly name: string;
  readonly about: string;
  /** Its part of the inputs, relative to the other targets. */
  readonly share: number;
  /** How many inputs may be under way at once: for what mostly waits for a socket. */
  readonly lanes?: number;
  /** How many inputs share one seed. */
  readonly batch?: number;
  open(): Promise<OpenTarget<T>> | OpenTarget<T>;
}

export interface OpenTarget<T> {
  readonly inputs: fc.Arbitrary<T>;
  feed(input: T): Verdict | Promise<Verdict>;
  close?(): Promise<void>;
}

/** Forgets the type of the inputs: the runner only carries them from `inputs` to `feed`. */
export const target = <T>(of: Target<T>): Target => of as unknown as Target;
