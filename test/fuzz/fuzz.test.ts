/** A small fixed size of `npm run fuzz`, and what makes it worth something: a target that breaks a promise is seen. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OperationEvent } from '../../machines/tool-operation/events.ts';
import { into, play } from '../machines/scenario.ts';
import { assertLawful, assertOpensAgain } from './checks.ts';
import { catchingStrays, type Row, runTarget } from './run.ts';
import { type OpenTarget, target, type Verdict } from './target.ts';
import { TARGETS } from './targets/index.ts';

const run = (name: string, inputs: number): Promise<Row> => {
  const chosen = TARGETS.find((one) => one.name === name);
  if (chosen === undefined) throw new Error(`there is no target ${name}`);
  return catchingStrays(() => runTarget(chosen, { seed: 7, inputs, maxRssBytes: 2 ** 31 }));
};

describe('bad input: no stray rejection, no hang, no pollution, no change that the chart does not allow', () => {
  /** Sizes that keep all of it under 20 s. */
  const SIZES: Readonly<Record<string, number>> = {
    stdio: 500,
    http: 100,
    'http-2026-07-28': 100,
    lines: 500,
    chart: 1_500,
    snapshots: 1_500,
    replies: 2_000,
    schemas: 60,
    answers: 60,
    forms: 300,
    words: 1_000,
    arguments: 200,
    ledger: 60,
  };

  it('every target has its size here', () => {
    expect(Object.keys(SIZES).sort()).toEqual(TARGETS.map(({ name }) => name).sort());
  });

  it.each(Object.entries(SIZES))('%s', { timeout: 60_000 }, async (name, inputs) => {
    const row = await run(name, inputs);
    expect(row.failure).toBeNull();
    expect(row.inputs).toBe(inputs);
    // Inputs of which nothing is taken never get past the door. (A prompt is always withdrawn.)
    if (name !== 'forms') expect(row.accepted).toBeGreaterThan(0);
    expect(row.refused).toBeGreaterThan(0);
  });
});

describe('what breaks a promise is reported, with what makes it happen again', () => {
  const broken = (feed: OpenTarget<number>['feed']) =>
    target<number>({
      name: 'broken',
      about: 'a target with a bug',
      share: 1,
      batch: 50,
      open: () => ({ inputs: fc.nat(1_000), feed }),
    });
  const failureOf = async (feed: OpenTarget<number>['feed'], more: { batch?: number; path?: string } = {}) => {
    const row = await catchingStrays(() =>
      runTarget(broken(feed), { seed: 1, inputs: 200, maxRssBytes: 2 ** 33, ...more }),
    );
    return row.failure;
  };

  it('an error, shrunk, and again by its place', async () => {
    const feed = (input: number) => {
      if (input >= 300) throw new Error('too many');
      return 'accepted' as const;
    };
    const failure = await failureOf(feed);
    expect(failure).toMatchObject({
      target: 'broken',
      batch: 0,
      input: '300',
      what: expect.stringMatching('too many'),
    });
    expect(await failureOf(feed, { batch: 0, path: failure?.path ?? '' })).toMatchObject({ input: '300' });
  });

  it('a rejection that nobody catches', async () => {
    const failure = await failureOf(async (): Promise<Verdict> => {
      void Promise.reject(new Error('left alone'));
      return 'accepted';
    });
    expect(failure?.what).toMatch(/nobody caught: Error: left alone/);
  });

  it('a polluted prototype', async () => {
    try {
      const failure = await failureOf(() => {
        Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
        return 'accepted';
      });
      expect(failure?.what).toMatch(/Object.prototype was polluted/);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
  });

  it('a change that the chart does not allow', () => {
    const at = (steps: (typeof into)[keyof typeof into]) => play({ title: '', steps }).snapshot;
    const [working, listening, over] = [at(into.working), at(into.listening), at(into.accepted)];
    const event = { type: 'poll.notFound', at: 1, random: 0 } as unknown as OperationEvent;
    expect(() => assertLawful(working, over, event)).toThrow(/went to ACCEPTED on poll.notFound/);
    const polled = { ...event, type: 'poll.status' } as OperationEvent;
    expect(() => assertLawful(working, listening, polled)).not.toThrow();
    const changed = (context: Partial<typeof working.context>) =>
      ({ ...working, context: { ...working.context, ...context } }) as typeof working;
    expect(() => assertLawful(working, changed({ taskId: 'task-2' }), polled)).toThrow(/changed the task/);
    expect(() => assertLawful(working, changed({ cancelGeneration: 1 }), polled)).toThrow(/raised a cancel/);
    expect(() => assertLawful(working, changed({ principal: 'me' }), polled)).toThrow(/changed principal/);
    expect(() => assertOpensAgain(changed({ taskId: 'x'.repeat(600) }))).toThrow(/taskId/);
  });

  it('memory over the bound', async () => {
    const row = await runTarget(
      broken(() => 'accepted'),
      { seed: 1, inputs: 50, maxRssBytes: 1 },
    );
    expect(row.failure?.what).toMatch(/memory: \d+ MiB/);
  });
});
