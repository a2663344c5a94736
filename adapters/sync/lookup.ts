import type { LookupOutcome, LookupRequest } from '../../machines/operation-protocol.ts';
import type { SessionContext } from '../mcp/context.ts';
import { isObject } from '../mcp/fields.ts';
import { declaredKeySupport } from '../mcp/key-support.ts';
import { lookupByKey } from '../mcp/lookup.ts';

/** What became of a call, by its submission key: one that is over has a receipt. */
export function lookup(
  context: SessionContext,
  submission: LookupRequest,
  signal?: AbortSignal,
): Promise<LookupOutcome> {
  return lookupByKey(
    context,
    submission,
    { declared: declaredKeySupport(context), foundOf, errorResultIs: 'failed' },
    signal,
  );
}

/** It arrived, and there is no task that could be followed: the next look-up tells more. */
function foundOf(value: unknown): LookupOutcome | null {
  return isObject(value) ? { kind: 'unknown', reason: 'the server has the call, and no receipt of its end yet' } : null;
}
