/** A test runner of a few lines: what the public suite asks of one, and no more. */
import type { Expect, TestFramework } from '../kit/ledger-contract/index.ts';

type Body = () => Promise<void>;

export interface Ran {
  readonly passed: readonly string[];
  /** What each failed test threw. */
  readonly failed: ReadonlyMap<string, unknown>;
}

/**
 * Runs the tests of a suite one after the other.
 * @param parts names of the inner `describe`s to run; absent: all
 */
export async function runSuite(
  suite: (framework: TestFramework) => void,
  expect: Expect,
  parts?: readonly string[],
): Promise<Ran> {
  const tests: { readonly name: string; readonly body: Body }[] = [];
  const hooks: Record<'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach', Body[]> = {
    beforeAll: [],
    afterAll: [],
    beforeEach: [],
    afterEach: [],
  };
  const path: string[] = [];
  const hook = (when: keyof typeof hooks) => (body: Body) => hooks[when].push(body);
  suite({
    describe: (name, body) => {
      path.push(name);
      body();
      path.pop();
    },
    it: (name, body) => {
      if (parts === undefined || parts.includes(path.at(-1) ?? ''))
        tests.push({ name: [...path.slice(1), name].join(' > '), body });
    },
    beforeAll: hook('beforeAll'),
    afterAll: hook('afterAll'),
    beforeEach: hook('beforeEach'),
    afterEach: hook('afterEach'),
    expect,
  });

  const all = async (bodies: readonly Body[]): Promise<void> => {
    for (const body of bodies) await body();
  };
  const passed: string[] = [];
  const failed = new Map<string, unknown>();
  await all(hooks.beforeAll);
  try {
    for (const { name, body } of tests) {
      try {
        await all(hooks.beforeEach);
        await body();
        passed.push(name);
      } catch (error) {
        failed.set(name, error);
      } finally {
        await all(hooks.afterEach);
      }
    }
  } finally {
    await all(hooks.afterAll);
  }
  return { passed, failed };
}
