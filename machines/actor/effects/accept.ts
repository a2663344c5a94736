import type { PayloadWrite } from '../../operation-ledger.ts';
import type { ResultRef } from '../../tool-operation/context.ts';
import { acceptFieldsOf } from '../../tool-operation/guards.ts';
import { outcomeOf } from '../../tool-operation/receipt.ts';
import type { OperationDrive } from '../drive.ts';
import { type GuardedOutput, type OutputGuard, type OutputVerdict, stampOf } from '../environment.ts';
import { storable } from '../facts.ts';
import { PlainError } from '../log.ts';
import type { RunEffect } from './index.ts';
import { taskRef } from './requests.ts';
import { openPayload } from './result.ts';

/** How long the one look at a cancelled task's result may take, ms: it gates nothing. */
const AUDIT_PATIENCE_MS = 2_000;

/** The only acceptance point (B12): output guards first, then one transaction. */
export const acceptTerminal: RunEffect = async (drive, issued, signal) => {
  const { context } = drive;
  const cancelled =
    context.terminal?.status === 'cancelled' && context.notSubmitted === null && context.givenUp === null;
  const audit = cancelled ? await auditResult(drive, signal) : null;
  const verdict =
    context.result !== null && !cancelled ? await judgeOutput(drive, signal) : { released: false, marks: [] };
  if (verdict === null) return [];
  return [
    {
      event: {
        ...stampOf(drive.env),
        type: 'terminal.accept',
        claims: issued.claims,
        expected: acceptFieldsOf(context),
        verdict,
        auditResult: audit?.ref ?? null,
      },
      payloads: audit?.write ? [audit.write] : [],
    },
  ];
};

/** `null`: stopped waiting for a verdict. Rejects where a guard gives none in time. */
async function judgeOutput(
  drive: OperationDrive,
  signal: AbortSignal,
): Promise<{ released: boolean; marks: string[] } | null> {
  const { context, env } = drive;
  const { result, terminal } = context;
  if (result === null || terminal === null || terminal.status === 'cancelled') return { released: false, marks: [] };
  if (env.outputGuards.length === 0) return { released: true, marks: [] };
  const text = await env.ledger.readPayload(drive.operationId, result.digest);
  if (text === null) throw new Error(`the stored result of ${drive.operationId} is gone`);
  const output: GuardedOutput = {
    operationId: drive.operationId,
    callNodeId: context.callNodeId,
    tool: context.tool.name,
    outcome: outcomeOf(terminal.status, result) as 'completed' | 'failed',
    isError: result.isError,
    value: openPayload(text, result.kind) as GuardedOutput['value'],
  };
  const marks: string[] = [];
  let released = true;
  for (const [index, guard] of env.outputGuards.entries()) {
    try {
      const verdict = await inTime(guard, output, drive, signal);
      if (verdict === null) {
        if (signal.aborted) return null;
        const timeout = new GuardTimeout(index, env.guardTimeoutMs);
        const { operationId } = drive;
        env.log({ level: 'error', event: 'output-guard.timeout', operationId, detail: { why: timeout.message } });
        throw timeout;
      }
      released &&= verdict.release;
      marks.push(...(verdict.marks ?? []));
    } catch (error) {
      if (error instanceof GuardTimeout) throw error;
      // A guard that cannot decide has not said yes.
      released = false;
      marks.push(`an output guard failed: ${(error as Error).message}`);
    }
  }
  return { released, marks: marks.slice(0, 32).map((mark) => mark.slice(0, 4_000)) };
}

/** A guard that says nothing has not refused either: the acceptance is tried again later, as after any fault of ours. */
class GuardTimeout extends PlainError {
  override readonly name = 'GuardTimeout';
  constructor(index: number, ms: number) {
    super(`output guard ${index + 1} gave no verdict within ${ms} ms: nothing is accepted, it is asked again later`);
  }
}

/** The verdict of one guard; `null`: not in time, or nobody waits for it any more. */
async function inTime(
  guard: OutputGuard,
  output: GuardedOutput,
  { env }: OperationDrive,
  signal: AbortSignal,
): Promise<OutputVerdict | null> {
  const over = new AbortController();
  const waiting = AbortSignal.any([signal, over.signal]);
  const gaveUp = new AbortController();
  try {
    const limit = env.clock.sleep(env.guardTimeoutMs, waiting).then(() => null);
    return await Promise.race([guard(output, gaveUp.signal), limit]);
  } finally {
    over.abort();
    gaveUp.abort();
  }
}

/** One look at what a cancelled call may have returned: for the audit, never a success payload. */
async function auditResult(
  drive: OperationDrive,
  signal: AbortSignal,
): Promise<{ ref: ResultRef; write: PayloadWrite | null } | null> {
  const { context, env } = drive;
  // It came before the cancel won: stored already.
  if (context.candidate !== null) return { ref: context.candidate, write: null };
  if (context.taskId === null) return null;
  try {
    const session = await env.connections.session(context);
    const patience = AbortSignal.any([signal, AbortSignal.timeout(AUDIT_PATIENCE_MS)]);
    const outcome = await session.result(taskRef(context), 'cancelled', patience);
    if (outcome.kind !== 'result') return null;
    const stored = storable(outcome.payload, env.ledger.maxPayloadBytes);
    return 'problem' in stored ? null : stored;
  } catch {
    return null;
  }
}
