/** The referee on planted histories: each verdict is reached, and no lie gets through. */
import { describe, expect, it } from 'vitest';
import type { History, Told, Truth } from './history.ts';
import { betterThan, judge } from './referee.ts';

const TRUTH: Truth = {
  operations: 1,
  status: 'completed',
  text: 'done',
  isError: false,
  knowable: true,
  questions: 0,
  creates: 1,
  requests: 6,
};
const DONE: Told = { kind: 'completed', text: 'done', isError: false };
const FAILED: Told = { kind: 'failed', text: 'boom' };
const ERROR: Told = { kind: 'error', text: 'fetch failed' };
const PARKED: Told = { kind: 'parked', text: 'no-lookup' };

const history = (told: readonly Told[], truth: Partial<Truth> = {}, more: Partial<History> = {}): History => ({
  told,
  handedOver: told.length === 0 ? 0 : 1,
  asked: 0,
  cancelAsked: false,
  truth: { ...TRUTH, ...truth },
  ...more,
});
const NONE = { operations: 0, status: 'none', text: null, knowable: false } as const;
const GONE = { status: 'gone', text: null, knowable: false } as const;

describe('the referee', () => {
  it.each<[string, History]>([
    ['the server’s own result', history([DONE])],
    ['an error at first, and the outcome in the end', history([ERROR, DONE])],
    ['a failure with its words', history([FAILED], { status: 'failed', text: 'boom', isError: true })],
    [
      'isError, completed in the protocol',
      history([{ ...DONE, text: 'no', isError: true }], { text: 'no', isError: true }),
    ],
    ['isError, failed to the caller', history([{ kind: 'failed', text: 'no' }], { text: 'no', isError: true })],
    ['a cancel that was asked for', history([{ kind: 'cancelled' }], { status: 'cancelled' }, { cancelAsked: true })],
    ['unknown where nobody can know', history([PARKED], { knowable: false })],
    ['unknown of what the server forgot', history([PARKED, PARKED], GONE)],
    ['an error, and nothing ran', history([ERROR], NONE)],
    ['silence while it works', history([{ kind: 'silent' }], { status: 'working', text: null })],
    ['nobody waits, and it goes on', history([])],
  ])('agrees: %s', (_, given) => {
    expect(judge(given).name).toBe('agree');
  });

  it.each<[string, History]>([
    ['an error, the server would tell', history([ERROR])],
    ['unknown, the server would tell', history([PARKED])],
    ['the last word is no claim', history([ERROR, ERROR], { status: 'working', text: null })],
    ['unknown, and nothing ran', history([PARKED], NONE)],
    ['a failure without its words', history([FAILED], { status: 'failed', text: 'no water', isError: true })],
    ['silence after the end', history([{ kind: 'silent' }])],
    ['a question that never arrived', history([{ kind: 'silent' }], { status: 'working', questions: 1, text: null })],
  ])('says less: %s', (_, given) => {
    expect(judge(given).name).toBe('says less');
  });

  it.each<[string, History]>([
    ['failed, and it completed', history([FAILED])],
    ['failed, and it completed, although another word follows', history([FAILED, DONE])],
    ['failed, and nobody knows any more', history([FAILED], GONE)],
    ['failed, and nothing ran', history([FAILED], NONE)],
    ['cancelled, and it completed', history([{ kind: 'cancelled' }], {}, { cancelAsked: true })],
    ['completed, and it works', history([DONE], { status: 'working', text: null })],
    ['completed, and it is gone', history([DONE], GONE)],
    ['completed with nothing', history([{ ...DONE, text: '' }])],
    ['completed with what the server never gave', history([{ ...DONE, text: '' }], { text: null })],
    ['a tool’s error told as success', history([DONE], { isError: true })],
    ['cancelled by nobody', history([], { status: 'cancelled', text: null })],
    ['a human asked twice', history([DONE], { questions: 1 }, { asked: 2 })],
    ['handed over twice', history([DONE, DONE], {}, { handedOver: 2 })],
  ])('catches a contradiction: %s', (_, given) => {
    expect(judge(given).name).toBe('contradicts');
  });

  it('catches a second operation, whatever was told, and says what else was wrong', () => {
    expect(judge(history([DONE], { operations: 2 }))).toEqual({
      name: 'second operation',
      why: 'one call, 2 operations',
    });
    expect(judge(history([FAILED, DONE], { operations: 2 })).why).toContain('told failed, the server says completed');
  });

  it('sees where a peer is better, and never where it is not', () => {
    const [parked, open] = [history([PARKED], { knowable: false }), history([PARKED])];
    expect(betterThan(open, history([DONE]))).toBe('agree, where we: says less');
    expect(betterThan(parked, history([ERROR, DONE]))).toBe('tells the outcome, where we do not');
    expect(betterThan(history([DONE]), history([DONE], { requests: 4 }))).toBe('fewer requests (4, we 6)');
    expect(betterThan(history([DONE]), history([DONE]))).toBeNull();
    expect(betterThan(history([DONE]), history([PARKED], { knowable: false, requests: 1 }))).toBeNull();
    expect(betterThan(parked, history([FAILED], { requests: 1 }))).toBeNull();
  });
});
