/**
 * Records of a partition whose history went backwards (design section 4). What followed the record that is shown was forgotten:
 * a call that is only queued there may have been sent. So nobody sends it, and nobody concludes that nothing was sent: it
 * is taken off the queue by a sender that never writes, and then looked up like any call whose sender was lost (B4, G2).
 */

import type { OperationEvent, SubmitBegin, SubmitRequeue } from '../tool-operation/events.ts';
import { type OperationSnapshot, statePath } from '../tool-operation/snapshot.ts';
import { claimsOf } from './facts.ts';

/** States that say of their attempt that nothing was sent. */
const UNSENT: ReadonlySet<string> = new Set(['SUBMITTING.queued', 'SUBMITTING.asked', 'NOT_FOUND_SAFE']);
/** Where a step leads that builds on that. */
const RELIES_ON_IT: ReadonlySet<string> = new Set(['SUBMITTING.sending', 'CONCLUDING.notSubmitted']);

/** What becomes of a step that the ledger refused because its record is of an older history. */
export type TakenOver =
  /** The same step: the record stays one of an older history, or is taken over into this one. */
  | { readonly kind: 'same'; readonly how: 'keep' | 'adopt' }
  /** Another step first. */
  | { readonly kind: 'first'; readonly event: SubmitBegin | SubmitRequeue; readonly how: 'keep' | 'adopt' };

export function takeOver(from: OperationSnapshot, next: OperationSnapshot, event: OperationEvent): TakenOver {
  const state = statePath(from);
  const leadsTo = statePath(next);
  if (event.type !== 'submit.begin' && UNSENT.has(state) && UNSENT.has(leadsTo)) return { kind: 'same', how: 'keep' };
  if (event.type !== 'submit.begin' && !(UNSENT.has(state) && RELIES_ON_IT.has(leadsTo))) {
    return { kind: 'same', how: 'adopt' };
  }
  const stamp = { at: event.at, random: event.random, creationAllowed: true };
  const claims = claimsOf(from.context, from.context.executionEpoch);
  switch (state) {
    case 'SUBMITTING.queued':
      return { kind: 'first', event: { ...stamp, type: 'submit.begin', claims, sender: 'nobody' }, how: 'adopt' };
    case 'NOT_FOUND_SAFE':
      return { kind: 'first', event: { ...stamp, type: 'submit.requeue', claims }, how: 'keep' };
    default:
      throw new Error(
        `${from.context.operationId} waits for the answer to a question, in a history of the ledger that was forgotten in part: ` +
          'it may have been answered and sent since, so it cannot end as never submitted. Answer the question: the call is then looked up',
      );
  }
}
