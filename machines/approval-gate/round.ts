import type { InputReply, InputRequest } from '../operation-protocol.ts';

/** One open question, as handed to a human: everything that an answer must be bound to (B7). `deadline`: ms of ledger time. */
export interface OpenRound {
  readonly operationId: string;
  readonly round: number;
  readonly schemaDigest: string;
  readonly deadline: number;
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
