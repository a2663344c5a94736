import { LedgerIncompatible, LedgerRegressed, LedgerUnavailable } from '../../machines/index.ts';
import { ExitCode } from './exit-codes.ts';

/** An end with a reason that the user can act on: what was wrong, and the next step. Shown without a stack. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly next?: string,
    /** Machine-readable facts for `--json`. */
    readonly detail: Readonly<Record<string, unknown>> = {},
    /** More lines for people, between what was wrong and the next step. */
    readonly notes: readonly string[] = [],
  ) {
    super(message);
  }
}

export const usage = (message: string, next?: string, detail?: Readonly<Record<string, unknown>>): CliFailure =>
  new CliFailure(ExitCode.usage, message, next, detail);

/** Why the ledger does not answer. That a step can safely be sent again is of no use to somebody who sends none. */
export function ledgerTrouble(error: LedgerUnavailable): string {
  return error.message.replace(/; whether the step was taken is unknown.*$/s, '');
}

/** Any error, as one that can be shown. */
export function asFailure(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (error instanceof LedgerRegressed) {
    return new CliFailure(ExitCode.ledger, error.message, 'toolop history status');
  }
  if (error instanceof LedgerUnavailable) {
    return new CliFailure(
      ExitCode.ledger,
      `the ledger is unavailable: ${ledgerTrouble(error)}`,
      'check --ledger (or TOOLOP_LEDGER) and that the store runs, then try again',
    );
  }
  if (error instanceof LedgerIncompatible) {
    return new CliFailure(ExitCode.ledger, `the ledger cannot be read by this version: ${error.message}`);
  }
  const message = error instanceof Error ? error.message : String(error);
  const failure = new CliFailure(
    ExitCode.failed,
    `unexpected: ${message}`,
    'run it again with --verbose for the details',
  );
  failure.cause = error;
  return failure;
}
