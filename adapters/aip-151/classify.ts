import type { Unknown } from '../../machines/operation-protocol.ts';
import { describe, type Reply } from './http/reply.ts';
import { type CodeName, codeOf } from './rpc-status.ts';

/**
 * The codes with which the answer to a start may say "and it never will": AIP-151 has errors that keep an operation from
 * starting returned at once and by the starting call, so each of these is written instead of an operation. No others:
 * ABORTED and ALREADY_EXISTS (409) can speak of what an earlier sending made, 429 and 5xx can come from a server that had
 * begun, and an error without a google.rpc.Status from a proxy that gave up waiting.
 */
const REFUSALS: Readonly<Record<number, readonly CodeName[]>> = {
  400: ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE'],
  404: ['NOT_FOUND'],
  412: ['FAILED_PRECONDITION'],
};

/** Refused for what was asked, in the words of the protocol. */
export function refusesStart(reply: Reply): boolean {
  if (reply.kind !== 'json') return false;
  const code = codeOf(reply.status, reply.value);
  return code !== null && (REFUSALS[reply.status]?.includes(code) ?? false);
}

/** Refused for who asked: before dispatch, whatever the body is. */
export function refusesCredentials(reply: Reply): boolean {
  return (reply.kind === 'json' || reply.kind === 'other') && (reply.status === 401 || reply.status === 403);
}

/** The API knows no such method: HTTP 501, or the code in a google.rpc.Status. */
export function isUnimplemented(reply: Reply): boolean {
  if (reply.kind !== 'json' && reply.kind !== 'other') return false;
  if (reply.status === 501) return true;
  return reply.kind === 'json' && reply.status >= 400 && codeOf(reply.status, reply.value) === 'UNIMPLEMENTED';
}

/** The service itself says so: a 404 without a google.rpc.Status is an address that nobody serves (a proxy, a deployment). */
export function saysNotFound(reply: Reply): boolean {
  return reply.kind === 'json' && reply.status === 404 && codeOf(404, reply.value) === 'NOT_FOUND';
}

/** An answer that did not tell anything (F11: 429, 503; resets, timeouts; 202 and pages: B8). */
export function unknownOf(reply: Reply): Unknown {
  const wait = reply.kind === 'json' || reply.kind === 'other' ? reply.retryAfterMs : undefined;
  return { kind: 'unknown', reason: describe(reply), ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}
