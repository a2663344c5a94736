/** What is told of an operation whose record was purged: what its tombstone says, and its receipt where that is kept. */
import { purgedWords } from '../../machines/index.ts';
import { ExitCode, exitCodeOf } from './exit-codes.ts';
import { usage } from './failure.ts';
import { redacted } from './redact.ts';
import { receiptLines } from './views.ts';
import type { Workplace } from './workplace.ts';

export async function concludePurged(place: Workplace, operationId: string): Promise<ExitCode> {
  const { output, ledger, executor } = place;
  const found = await ledger.find(operationId);
  if (found.kind !== 'purged') throw usage('the record is gone');
  const outcome = await executor.outcome(operationId);
  const exitCode = outcome ? exitCodeOf(outcome.receipt) : ExitCode.unknown;
  const secrets = { taskId: outcome?.receipt.taskId ?? null, session: { sessionId: null, protocolVersion: '' } };
  output.emit({
    type: 'purged',
    exitCode,
    operationId,
    tombstone: found.tombstone,
    receipt: redacted(outcome?.receipt ?? null, secrets),
  });
  output.print(purgedWords(found.tombstone));
  if (outcome) for (const line of receiptLines(outcome.receipt)) output.print(line);
  if (outcome?.outputPurged) output.say('what the call returned was purged with the record');
  return exitCode;
}
