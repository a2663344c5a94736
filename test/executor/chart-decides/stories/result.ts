import { OTHER_RESULT, told } from '../events.ts';
import type { Story } from '../harness.ts';
import { abandoned, beforeAcceptance, HOLD, waitedTooLong, withoutItsResult } from '../situations.ts';

const otherResult = { type: 'result.fetched', result: OTHER_RESULT } as const;

/** B11: observed is not accepted, and the first verified result is final. */
export const result: readonly Story[] = [
  {
    guard: 'outcomeIsObserved',
    replacedBy: true,
    about: 'a result of a call whose end was never observed',
    tell: async (scene) => {
      const { executor, id } = await waitedTooLong(scene);
      return told(executor, id, otherResult);
    },
    asIs: 'taken in PARKED.watching',
    replaced: 'taken in FETCHING_RESULT.verified',
  },
  {
    guard: 'fitsOutcome',
    replacedBy: true,
    about: 'an error on the question channel of a call that completed',
    tell: async (scene) => {
      const { executor, id } = await withoutItsResult(scene, false);
      const error = { ...OTHER_RESULT, kind: 'error', isError: true } as const;
      return told(executor, id, { type: 'input.channelClosed', reason: 'it ended', result: error });
    },
    asIs: 'taken in PARKED.watching',
    replaced: 'taken in FETCHING_RESULT.verified',
  },
  {
    guard: 'bringsOtherResult',
    replacedBy: false,
    about: 'another result than the one in hand is kept for the audit',
    tell: (scene) => beforeAcceptance(scene, ({ executor, id }) => told(executor, id, otherResult)),
    asIs: 'taken in FETCHING_RESULT.verified',
    replaced: 'refused in FETCHING_RESULT.verified',
  },
  {
    guard: 'matchesResultDigest',
    replacedBy: true,
    about: 'another result than the one that a human brought',
    tell: async (scene) => {
      const call = scene.bench.call(HOLD, { policy: { waitBudgetMs: 100, parkedIntervalMs: 60_000 } });
      const { executor, id } = await abandoned(scene, call, 'PARKED.watching');
      const payload = { kind: 'result', value: { content: [] }, isError: false } as const;
      await executor.reconcile(id, 'me', { verb: 'accept', status: 'completed', payload, note: 'seen' });
      return told(executor, id, otherResult);
    },
    asIs: 'taken in FETCHING_RESULT.retrying',
    replaced: 'taken in FETCHING_RESULT.verified',
  },
];
