import type { LookupOutcome } from '../../machines/operation-protocol.ts';
import type { SessionContext } from './context.ts';
import { outputCheck } from './output-check.ts';
import { checkResult } from './payload.ts';

interface Receipt {
  readonly taskId: string;
  readonly createdAt?: string | null | undefined;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly result?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A receipt, and the result in it, verified like any other (B11). A result that cannot be verified is left out: how the
 * call ended is known, what it returned is not. `errorResultIs`: the status that a result with `isError` has on the revision.
 */
export async function receiptOutcome(
  context: SessionContext,
  toolName: string,
  receipt: Receipt,
  errorResultIs: 'completed' | 'failed',
  signal?: AbortSignal,
): Promise<LookupOutcome> {
  const { taskId, createdAt, status, result } = receipt;
  const bare = { kind: 'expiredWithReceipt', taskId, taskCreatedAt: createdAt ?? null, status } as const;
  if (result === undefined || status === 'cancelled') return bare;
  const isError = result.isError === true;
  if (status !== (isError ? errorResultIs : 'completed')) {
    return { kind: 'unknown', reason: `the receipt contradicts itself: ${status}, isError ${isError}` };
  }
  const output = isError ? { kind: 'check' as const, check: null } : await outputCheck(context, toolName, signal);
  if (output.kind === 'unknown') return output;
  const checked = output.kind === 'check' ? checkResult(result, taskId, output.check) : output;
  return checked.kind === 'payload' ? { ...bare, payload: checked.payload } : bare;
}
