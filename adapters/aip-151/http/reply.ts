/** How one HTTP request can end, told apart by what is *proved*. What that means is decided where it was sent from. */
export type Reply =
  /** Answered with JSON, whole. */
  | { readonly kind: 'json'; readonly status: number; readonly value: unknown; readonly retryAfterMs?: number }
  /** Answered with something else: no JSON, cut off, over the size limit. */
  | { readonly kind: 'other'; readonly status: number; readonly reason: string; readonly retryAfterMs?: number }
  /** Provably no byte of the request was written. */
  | { readonly kind: 'notWritten'; readonly reason: string }
  /** Perhaps written; an answer did not come. */
  | { readonly kind: 'lost'; readonly reason: string };

/** In words that hold no id, no credential and no text of the server. */
export function describe(reply: Reply): string {
  if (reply.kind === 'json') return `HTTP ${reply.status}`;
  return reply.kind === 'other' ? `HTTP ${reply.status}, ${reply.reason}` : reply.reason;
}
