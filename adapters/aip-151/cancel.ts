import type { CancelOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import { isUnimplemented, unknownOf } from './classify.ts';
import type { SessionContext } from './context.ts';
import { operationPath } from './operation-path.ts';

/**
 * `CancelOperation` (B9): best effort, its answer only says that it was heard; a later read with `error.code` 1 is the
 * evidence. `DeleteOperation` is no cancel and has no place here: it gives up the only evidence there is.
 */
export async function cancel(
  { link, settings }: SessionContext,
  task: TaskRef,
  signal?: AbortSignal,
): Promise<CancelOutcome> {
  const path = operationPath(settings, task);
  if ('problem' in path) return { kind: 'unknown', reason: path.problem };
  if (!path.method.cancel) return { kind: 'unsupported', reason: 'the method is declared to have no cancel' };
  const reply = await link.send(
    { method: 'POST', path: `${path.path}:cancel`, body: {} },
    { timeoutMs: settings.requestTimeoutMs, signal },
  );
  if (isUnimplemented(reply)) return { kind: 'unsupported', reason: 'the API has no cancel (UNIMPLEMENTED)' };
  if (reply.kind === 'json' && reply.status === 200) return { kind: 'acknowledged' };
  // Unknown, or gone: the next status read tells.
  if ((reply.kind === 'json' || reply.kind === 'other') && reply.status === 404) {
    return { kind: 'refused', reason: 'the server refused the cancel (HTTP 404)' };
  }
  return unknownOf(reply);
}
