/** How a call can be over without an output: one class for each way, with the receipt that says so. */
import { OperationError } from '../actor/operation-error.ts';
import type { Payload } from '../operation-protocol.ts';
import type { TerminalReceipt } from '../tool-operation/receipt.ts';

/** The operation is over, for ever: the same call node gives the same receipt. */
abstract class Over extends OperationError {
  override readonly receipt: TerminalReceipt;

  constructor(receipt: TerminalReceipt, message: string, next: string) {
    super(receipt.operationId, message, next);
    this.receipt = receipt;
  }
}

const ANOTHER = 'another try is another call: give it a call node of its own';
const lookFirst = ({ effectReconciliationRequired }: TerminalReceipt): string =>
  effectReconciliationRequired ? `see first what happened outside; ${ANOTHER}` : ANOTHER;
const because = ({ reason }: TerminalReceipt): string => (reason === null ? '' : `: ${reason}`);

/** The tool, or the server in its place, answered with an error. */
export class ToolFailed extends Over {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'ToolFailed';
  constructor(
    receipt: TerminalReceipt,
    /** What it said; `null` where an output guard withheld it, or it was purged. */
    readonly output: Payload | null,
  ) {
    const said = output?.kind === 'error' ? `: ${output.value.message.slice(0, 500)} (${output.value.code})` : '';
    super(receipt, `the tool ${receipt.tool.name} failed${said}`, `read its error in "output"; ${ANOTHER}`);
  }
}

/** The server confirmed a cancel. Where `effectReconciliationRequired` is set, something may have happened outside (B10). */
export class CallCancelled extends Over {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'CallCancelled';
  constructor(receipt: TerminalReceipt) {
    super(receipt, `the call of ${receipt.tool.name} was cancelled`, lookFirst(receipt));
  }
}

/** Provably never reached the tool: nothing ran. */
export class NotSubmitted extends Over {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'NotSubmitted';
  constructor(receipt: TerminalReceipt) {
    super(receipt, `the call of ${receipt.tool.name} was not submitted${because(receipt)}`, ANOTHER);
  }
}

/** A human ended the operation without knowing what became of it. */
export class GivenUp extends Over {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'GivenUp';
  constructor(receipt: TerminalReceipt) {
    super(receipt, `the operation ${receipt.operationId} was given up${because(receipt)}`, lookFirst(receipt));
  }
}

/** The call completed, and what it returned is not to be had: an output guard withheld it, or it was purged since then. */
export class OutputWithheld extends Over {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'OutputWithheld';
  constructor(
    receipt: TerminalReceipt,
    /** `guard`: it never was released. `purged`: it was, and is gone since. */
    readonly why: 'guard' | 'purged',
  ) {
    const next = why === 'guard' ? 'see the marks in its receipt; the call is not to be made again' : ANOTHER;
    const said = why === 'guard' ? 'was withheld by an output guard' : 'was purged; its digest is in the receipt';
    super(receipt, `the call of ${receipt.tool.name} completed, and its output ${said}`, next);
  }
}

/** The call completed, and what it returned does not fit the schema that the caller gave. */
export class OutputMismatch extends Over {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'OutputMismatch';
  constructor(
    receipt: TerminalReceipt,
    /** As it came. */
    readonly output: Payload,
    /** Where it does not fit, in words. */
    readonly issues: readonly string[],
  ) {
    const first = issues.slice(0, 3).join('; ');
    super(
      receipt,
      `the call of ${receipt.tool.name} completed, and its output does not fit: ${first}`,
      'it is in "output" as it came; the same call node with another schema reads it again, and calls nothing',
    );
  }
}
