/** What the suite needs of a test runner: what vitest and jest both have. */

/** The checks that are used, each as vitest, jest and the package `expect` know it. `R`: `void`, or of a promise one of it. */
export interface Checks<R> {
  /** The same, by `Object.is`. */
  toBe(expected: unknown): R;
  /** The same in depth, members that are `undefined` apart. */
  toEqual(expected: unknown): R;
  /** The members that `expected` has, and whatever else is there. */
  toMatchObject(expected: object): R;
  /** A text that the pattern finds something in. */
  toMatch(expected: RegExp): R;
  /** An array with this element. */
  toContain(expected: unknown): R;
  /** An array of so many elements. */
  toHaveLength(expected: number): R;
  /** `null`, and not `undefined`. */
  toBeNull(): R;
  /** A number above this one. */
  toBeGreaterThan(expected: number): R;
  /** A number of at most this. */
  toBeLessThanOrEqual(expected: number): R;
  /** Of a function: throws an error of this class; without an argument: anything. After `rejects`: of what was thrown. */
  toThrow(expected?: new (...args: never[]) => Error): R;
}

/** What can be expected of a value. */
export interface Expectation extends Checks<void> {
  /** The contrary of each check. */
  readonly not: Checks<void>;
  /** Of a promise, which has to reject. */
  readonly rejects: Checks<Promise<void>>;
}

/** `expect` as jest made it known. */
export interface Expect {
  /** Begins a check of a value. */
  (actual: unknown): Expectation;
  /** Stands for any value of that kind, as `expect.any(String)`. */
  any(kind: unknown): unknown;
}

/**
 * A test runner. vitest's and jest's own exports fit as they are: `import * as vitest from 'vitest'`, then
 * `ledgerContract(vitest, ...)`. With `node:test` give `before` as `beforeAll`, `after` as `afterAll`, and the `expect` of the
 * package of that name. Tests of one `describe` run one after the other.
 */
export interface TestFramework {
  /** A group of tests, by name; `body` registers them at once. */
  describe(name: string, body: () => void): unknown;
  /** One test. Most take far less than a second; allow for more than 5 s on a busy machine. */
  it(name: string, body: () => Promise<void>): unknown;
  /** Before the first test of the surrounding group. */
  beforeAll(body: () => Promise<void>): unknown;
  /** After the last test of the surrounding group. */
  afterAll(body: () => Promise<void>): unknown;
  /** Before each test of the surrounding group and of groups in it. */
  beforeEach(body: () => Promise<void>): unknown;
  /** After each test of the surrounding group and of groups in it. */
  afterEach(body: () => Promise<void>): unknown;
  /** Fails the test that runs, by throwing. */
  readonly expect: Expect;
}
