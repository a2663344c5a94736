import type { TerminalReceipt } from '../../machines/index.ts';

/** What `toolop` tells a script. Commands that follow an operation end with what the operation came to. */
export const ExitCode = {
  completed: 0,
  failed: 1,
  usage: 2,
  notSubmitted: 3,
  cancelled: 4,
  unknown: 5,
  running: 6,
  ledger: 7,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The table of the help text. */
export const EXIT_CODES_HELP = `Exit codes:
  0  completed, or the command did what was asked
  1  the call failed (a tool error included)
  2  usage: wrong arguments, or no such operation
  3  refused, or not submitted: nothing was sent
  4  cancelled
  5  unknown: the operation is parked or was given up
  6  still running: this command only stopped waiting
  7  the ledger is unavailable or incompatible, or has forgotten steps`;

/** The code of a terminal receipt. A tool that reports an error has failed, whatever the protocol calls that. */
export function exitCodeOf(receipt: Pick<TerminalReceipt, 'outcome' | 'isError'>): ExitCode {
  switch (receipt.outcome) {
    case 'completed':
      return receipt.isError ? ExitCode.failed : ExitCode.completed;
    case 'failed':
      return ExitCode.failed;
    case 'cancelled':
      return ExitCode.cancelled;
    case 'not_submitted':
      return ExitCode.notSubmitted;
    case 'given_up':
      return ExitCode.unknown;
  }
}
