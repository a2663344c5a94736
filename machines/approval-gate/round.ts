import type { InputReply, InputRequest } from '../operation-protocol.ts';

/** One open question, as handed to a human: everything that an answer must be bound to (B7). */
export interface OpenRound {
  /** `p<NN>.<sha256>`. */
  readonly operationId: string;
  /** From 1 for each operation. */
  readonly round: number;
  /** SHA-256 of the canonical JSON of `request.schema`, hex. */
  readonly schemaDigest: string;
  /** ms of ledger time; what comes later is refused. */
  readonly deadline: number;
  /** What to show and how to check it. Several questions of a server are one form with a part for each. */
  readonly request: InputRequest;
  /** The same question may have been answered before: say so. */
  readonly possiblyRepeat: boolean;
}

/** Where questions go: a terminal, a callback of the agent runtime, or nowhere (answered by another process's command). */
export interface ApprovalPort {
  /**
   * Resolves with the answer; `null` leaves the question to others. `signal` aborts when the question is no longer open.
   * `refusal` says why the answer before this one did not fit.
   */
  ask(round: OpenRound, signal: AbortSignal, refusal: string | null): Promise<InputReply | null>;
}
