import type { SubmitOutcome, Unknown } from '../../machines/operation-protocol.ts';
import { describe } from './rpc/connection.ts';
import type { Reply } from './rpc/reply.ts';

/** JSON-RPC codes of MCP. Messages are never read: servers prefix and reword them. */
export const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;

/** Is the session gone? (404 where there is one. 401 and 403 refuse credentials: the session may be there when they are good.) */
export function refusesSession(reply: Reply, hasSession: boolean): boolean {
  return reply.kind === 'http' && reply.status === 404 && hasSession;
}

/** A read or a cancel that did not tell anything (F11: 429, 503; resets, timeouts, internal errors). */
export function unknownOf(reply: Reply, hasSession: boolean): Unknown {
  const wait = reply.kind === 'http' ? reply.retryAfterMs : undefined;
  return {
    kind: 'unknown',
    reason: describe(reply),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(refusesSession(reply, hasSession) ? { sessionLost: true } : {}),
  };
}

/**
 * A `tools/call` that was not answered with a task or a result. Only what comes before dispatch by construction proves
 * that nothing ran. No JSON-RPC error does: an SDK server runs a tool and *then* answers `-32602`, and a tool that asks its
 * client for what that does not have passes on the client's own `-32601`.
 */
export function failedSubmission(reply: Exclude<Reply, { kind: 'result' }>, hasSession: boolean): SubmitOutcome {
  const reason = describe(reply);
  if (reply.kind === 'notWritten') return { kind: 'notSent', reason };
  if (reply.kind === 'http') {
    if (reply.status === 401 || reply.status === 403) return { kind: 'rejected', reason };
    if (reply.status === 404 && hasSession)
      return { kind: 'notSent', reason: 'HTTP 404: the session is gone', sessionLost: true };
  }
  return { kind: 'connectionLost', reason };
}
