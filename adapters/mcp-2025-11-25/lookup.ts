import type { LookupOutcome, LookupRequest } from '../../machines/operation-protocol.ts';
import type { SessionContext } from '../mcp/context.ts';
import { declaredKeySupport } from '../mcp/key-support.ts';
import { foundBy, lookupByKey } from '../mcp/lookup.ts';
import { taskViewOf } from './task-view.ts';

/** What became of a call, by its submission key: what is found is a task of this revision. */
export function lookup(
  context: SessionContext,
  submission: LookupRequest,
  signal?: AbortSignal,
): Promise<LookupOutcome> {
  return lookupByKey(
    context,
    submission,
    { declared: declaredKeySupport(context), foundOf: foundBy(taskViewOf), errorResultIs: 'failed' },
    signal,
  );
}
