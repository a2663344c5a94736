import type { ResultOutcome, TaskRef } from '../../machines/operation-protocol.ts';
import type { TerminalStatus } from '../../machines/tool-operation/context.ts';
import type { SessionContext } from './context.ts';
import { getOperation } from './status.ts';

/** The result stands in the operation itself: it is read again (B11). */
export async function result(
  context: SessionContext,
  task: TaskRef,
  terminal: TerminalStatus,
  signal?: AbortSignal,
): Promise<ResultOutcome> {
  const told = await getOperation(context, task, signal);
  if (told.kind !== 'operation') return told;
  if (told.task.status !== terminal) {
    return {
      kind: 'unknown',
      reason: `the operation was ${terminal}, and is ${told.task.status} when it is read again`,
    };
  }
  if (told.payload !== null) return { kind: 'result', payload: told.payload };
  return { kind: 'invalid', reason: told.defect ?? 'an operation that was cancelled has no result' };
}
