/** That `npm run mutate` finds its mutants, and reports what becomes of them. */
import { describe, expect, it } from 'vitest';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { mutantsOf } from './catalogue.ts';
import { forcedGuards, removedTransitions } from './chart-mutants.ts';
import { chartKiller, factDisproven } from './chart-suite.ts';
import { EQUIVALENT } from './equivalent.ts';
import { type Case, judgeAll } from './judge.ts';
import { KINDS, type Verdict } from './mutant.ts';
import { summaryOf, told } from './summary.ts';

const noCopy = () => {
  throw new Error('nothing is copied here');
};
const named = (name: string) => {
  const mutant = [...forcedGuards(), ...removedTransitions()].find((each) => each.name === name);
  if (!mutant) throw new Error(`there is no mutant ${name}`);
  return mutant;
};

describe('the mutants', () => {
  it.each(KINDS)('%s: there are some, each with a name of its own', (kind) => {
    const names = mutantsOf(kind, noCopy).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(15);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are all there is of a kind: two of each guard, one of each field of B12', () => {
    const guards = Object.keys(toolOperation.implementations.guards);
    expect(mutantsOf('guards', noCopy).length).toBe(2 * guards.length);
    const scripts = mutantsOf('scripts', noCopy).map(({ name }) => name);
    expect(scripts.filter((name) => /^record-form\.ts: field \d is not compared$/.test(name)).length).toBe(8);
  });

  it('are excused by names that exist, for facts that hold', async () => {
    const names = new Set(KINDS.flatMap((kind) => mutantsOf(kind, noCopy).map(({ name }) => name)));
    expect(Object.keys(EQUIVALENT).filter((name) => !names.has(name))).toEqual([]);
    expect(await factDisproven(false)).toBeNull();
  });
});

describe('the suite of the chart', () => {
  it.each([
    ['matchesPollCursor forced true', /^races: /],
    ['acceptsResultDigest forced true', /^races: B12/],
    ['FETCHING_RESULT.verified on terminal.accept: 1 of 1 (acceptOutcome, to ACCEPTED) removed', /^races: /],
  ])('kills: %s', async (name, killer) => {
    expect(await chartKiller(named(name), false)).toMatch(killer);
  });

  it('kills nothing where nothing is changed', async () => {
    const events = new Set(['poll.status', 'terminal.accept', 'submit.begin', 'cancel.confirmed']);
    const unchanged = { name: 'nothing', events, machine: () => toolOperation };
    expect(await chartKiller(unchanged, false)).toBeNull();
  });
});

describe('the report', () => {
  const kinds = { dead: 'scripts', alive: 'orders', same: 'guards' } as const;
  const verdict = (name: keyof typeof kinds, killer: string | null): Verdict => ({
    kind: kinds[name],
    name,
    killer,
    ms: 1_000,
  });

  it('names what kills a mutant, and who survives', () => {
    const verdicts = [verdict('dead', 'some test'), verdict('alive', null)];
    const summary = summaryOf(verdicts, {});
    expect(summary.survivors).toEqual([verdict('alive', null)]);
    expect(summary.pass).toBe(false);
    const text = told(verdicts, summary);
    expect(text).toMatch(/dead .*some test/);
    expect(text).toMatch(/survivors[\s\S]*orders {2}alive/);
    expect(summaryOf(verdicts.slice(0, 1), {}).pass).toBe(true);
  });

  it('counts who is excused by itself, and finds an excuse that is not true', () => {
    const reason = { same: 'nobody can tell' };
    const excused = summaryOf([verdict('same', null)], reason);
    expect(excused.totals).toMatchObject([{ kind: 'guards', killed: 0, equivalent: 1, survived: 0 }]);
    expect(excused.pass).toBe(true);
    expect(summaryOf([verdict('same', 'a test')], reason).pass).toBe(false);
  });

  it('is no success when nothing was judged', () => {
    expect(summaryOf([], {}).pass).toBe(false);
  });
});

describe('judging', () => {
  const cases: Case[] = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ kind: 'guards', name }));

  it('judges each once, several at a time', async () => {
    const verdicts: string[] = [];
    let closed = 0;
    let most = 0;
    let now = 0;
    await judgeAll(cases, {
      judges: 2,
      judge: () => ({
        killer: async ({ name }) => {
          most = Math.max(most, ++now);
          await new Promise((resolve) => setTimeout(resolve, 5));
          now--;
          return name;
        },
        close: () => {
          closed++;
        },
      }),
      signal: new AbortController().signal,
      onVerdict: ({ killer }) => verdicts.push(String(killer)),
    });
    expect(verdicts.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect([most, closed]).toEqual([2, 2]);
  });

  it('stops where it is interrupted, and closes what it began', async () => {
    const interrupt = new AbortController();
    const closed: string[] = [];
    const judging = judgeAll(cases, {
      judges: 2,
      judge: () => ({
        killer: async () => {
          interrupt.abort();
          return null;
        },
        close: () => {
          closed.push('closed');
        },
      }),
      signal: interrupt.signal,
      onVerdict: () => undefined,
    });
    await expect(judging).rejects.toThrow();
    expect(closed.length).toBeGreaterThanOrEqual(2);
  });

  it('fails where a judge cannot judge', async () => {
    const judge = () => ({ killer: () => Promise.reject(new Error('no report')), close: () => undefined });
    const { signal } = new AbortController();
    await expect(judgeAll(cases, { judges: 2, judge, signal, onVerdict: () => undefined })).rejects.toThrow(
      'no report',
    );
  });
});
