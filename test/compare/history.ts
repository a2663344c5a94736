/** What is left of one run: what the caller was told, and what the server knows. The referee sees this and nothing else. */

export type Protocol = 'mcp-2025-11-25' | 'mcp-2026-07-28' | 'aip-151';

/** What a caller was told, in one of six words. `text`: what came with it, as text, to be compared with the server's. */
export type Told =
  | { readonly kind: 'completed'; readonly text: string; readonly isError: boolean }
  /** The contender says that the operation failed, in its own word for that. */
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'cancelled' }
  /** An exception or error that claims nothing about the operation. */
  | { readonly kind: 'error'; readonly text: string }
  /** Says in so many words that the outcome is not known, and keeps the operation. */
  | { readonly kind: 'parked'; readonly text: string }
  /** Nothing, until the caller's patience ended. */
  | { readonly kind: 'silent' };

export type ServerStatus = 'none' | 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled' | 'gone';

/** From the server's own log and state, at the end of the run. */
export interface Truth {
  /** Runs of the tool, or operations, that the one call of the caller made. */
  readonly operations: number;
  /** Of the first of them. `gone`: the server has forgotten it, whatever it came to. */
  readonly status: ServerStatus;
  /** Its result or error, as text; `null` where there is none. */
  readonly text: string | null;
  readonly isError: boolean;
  /** An id (or a key that the server looks up) was in the client's hands, and the server still answers for it. */
  readonly knowable: boolean;
  /** Questions that the server asked, each counted once however often it is listed. */
  readonly questions: number;
  /** Requests that reached the server. */
  readonly creates: number;
  readonly requests: number;
}

export type Outcome = Extract<Told, { kind: 'completed' | 'failed' | 'cancelled' }>;

export const isOutcome = (told: Told): told is Outcome =>
  told.kind === 'completed' || told.kind === 'failed' || told.kind === 'cancelled';

export interface History {
  /** In order; what came over the outbox later, at its end. */
  readonly told: readonly Told[];
  /** Outcomes that reached the next step, from whichever process of the caller. */
  readonly handedOver: number;
  /** How often a human was asked. */
  readonly asked: number;
  readonly cancelAsked: boolean;
  readonly truth: Truth;
}
