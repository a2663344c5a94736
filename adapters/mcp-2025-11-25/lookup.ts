import type { LookupOutcome, LookupRequest } from '../../machines/operation-protocol.ts';
import type { SessionContext } from '../mcp/context.ts';
import { lookupByKey } from '../mcp/lookup.ts';
import { keySupport } from './negotiate.ts';
import { taskViewOf } from './task-view.ts';

/** The look-up by submission key, with this revision's tasks. */
export function lookup(
  context: SessionContext,
  submission: LookupRequest,
  signal?: AbortSignal,
): Promise<LookupOutcome> {
  // On a session that was taken up again nothing is declared: the caller asks only where the record says that it may.
  const declared = context.initialized === null ? null : keySupport(context.initialized.capabilities);
  return lookupByKey(context, submission, { declared, taskViewOf }, signal);
}
