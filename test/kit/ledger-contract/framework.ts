/** What the suite needs of a test runner: what vitest and jest both have. */

/** The checks that are used, each as vitest, jest and the package `expect` know it. */
export interface Checks<R> {
  toBe(expected: unknown): R;
  toEqual(expected: unknown): R;
  /** The members that `expected` has, and whatever else is there. */
  toMatchObject(expected: object): R;
  toMatch(expected: RegExp): R;
  toContain(expected: unknown): R;
  toHaveLength(expected: number): R;
  toBeNull(): R;
  toBeGreaterThan(expected: number): R;
  toBeLessThanOrEqual(expected: number): R;
  /** Without an argument: anything that is thrown will do. */
  toThrow(expected?: new (...args: never[]) => Error): R;
}

export interface Expectation extends Checks<void> {
  readonly not: Checks<void>;
  /** Of a promise, which has to reject. */
  readonly rejects: Checks<Promise<void>>;
}

export interface Expect {
  (actual: unknown): Expectation;
  /** Stands for any value of that kind. */
  any(kind: unknown): unknown;
}

type Hook = (body: () => Promise<void>) => unknown;

/**
 * A test runner. vitest's and jest's own exports fit as they are: `import * as vitest from 'vitest'`, then
 * `ledgerContract(vitest, ...)`. With `node:test` give `before` as `beforeAll`, `after` as `afterAll`, and an `expect` of jest's
 * kind, as that of the package `expect`.
 */
export interface Framework {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
  readonly beforeAll: Hook;
  readonly afterAll: Hook;
  readonly beforeEach: Hook;
  readonly afterEach: Hook;
  readonly expect: Expect;
}
