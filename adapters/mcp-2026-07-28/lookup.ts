import type { LookupOutcome, LookupRequest } from '../../machines/operation-protocol.ts';
import { foundBy, lookupByKey } from '../mcp/lookup.ts';
import type { Context } from './context.ts';
import { keySupport } from './discover.ts';
import { taskViewOf } from './task-view.ts';

/** The look-up by submission key; a task that it finds is flat, as everywhere on this revision. */
export function lookup(context: Context, submission: LookupRequest, signal?: AbortSignal): Promise<LookupOutcome> {
  // Before the server was asked what it declares, the caller asks only where the record says that it may.
  const declared = context.initialized === null ? null : keySupport(context.initialized.capabilities);
  return lookupByKey(
    context,
    submission,
    { declared, foundOf: foundBy(taskViewOf), errorResultIs: 'completed' },
    signal,
  );
}
