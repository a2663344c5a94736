import type { TerminalReceipt } from '../tool-operation/receipt.ts';

/** Why a call gave no output. Every kind says which operation it is about, and what can be done next. */
export abstract class OperationError extends Error {
  /** The terminal receipt; `null` where there is none: nothing was created, or a human has to decide first. */
  readonly receipt: TerminalReceipt | null = null;

  constructor(
    /** Of the call node; the operation exists unless the kind says otherwise. */
    readonly operationId: string,
    message: string,
    /** What can be done next, in words. */
    readonly next: string,
  ) {
    super(message);
  }
}

/** Nothing was created and nothing was sent (B1). */
export class CallRefused extends OperationError {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'CallRefused';
  constructor(
    operationId: string,
    /** The first half of the message; the other is `next`. */
    readonly reason: string,
    next: string,
  ) {
    super(operationId, `${reason} (${next})`, next);
  }
}

/** Waiting ended without a terminal state: the operation is parked and a human has to reconcile it. */
export class OperationParked extends OperationError {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'OperationParked';
  constructor(
    operationId: string,
    /** One of `ParkReason`. */
    readonly reason: string,
    /** In words of the adapter or the server, up to 4,000 characters; `null`: none came with it. */
    readonly note: string | null,
  ) {
    super(
      operationId,
      `operation ${operationId} is parked (${reason}): its outcome is unknown and waits for reconciliation`,
      'decide with `toolop reconcile` or executor.reconcile(); the same call node then gives the receipt',
    );
  }
}
