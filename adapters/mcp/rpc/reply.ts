/**
 * How one JSON-RPC request can end, told apart by what is *proved*. What an end means for a submission, a read or a
 * cancel is decided in `classify.ts`, never here.
 */
export type Reply =
  | { readonly kind: 'result'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** Answered by HTTP itself with a status that is not a success. */
  | { readonly kind: 'http'; readonly status: number; readonly retryAfterMs?: number }
  /** Provably no byte of the request was written. */
  | { readonly kind: 'notWritten'; readonly reason: string }
  /** Perhaps written; an answer did not come. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** Something came in place of an answer: cut off, not JSON, not JSON-RPC. */
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'tooLarge'; readonly reason: string };

/** Nothing is proved by these: a real answer may still come. */
export function isInconclusive(reply: Reply): boolean {
  return reply.kind === 'lost' || reply.kind === 'malformed' || reply.kind === 'tooLarge';
}
