import type { PayloadWrite } from '../../operation-ledger.ts';
import type { ResultRef } from '../../tool-operation/context.ts';
import { acceptFieldsOf } from '../../tool-operation/guards.ts';
import type { OperationDrive } from '../drive.ts';
import { type GuardedOutput, stampOf } from '../environment.ts';
import { storable } from '../facts.ts';
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
  const verdict = context.result !== null && !cancelled ? await judgeOutput(drive) : { released: false, marks: [] };
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
      payloads: audit ? [audit.write] : [],
    },
  ];
};

async function judgeOutput(drive: OperationDrive): Promise<{ released: boolean; marks: string[] }> {
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
    outcome: terminal.status,
    isError: result.isError,
    value: openPayload(text, result.kind) as GuardedOutput['value'],
  };
  const marks: string[] = [];
  let released = true;
  for (const guard of env.outputGuards) {
    try {
      const verdict = await guard(output);
      released &&= verdict.release;
      marks.push(...(verdict.marks ?? []));
    } catch (error) {
      // A guard that cannot decide has not said yes.
      released = false;
      marks.push(`an output guard failed: ${(error as Error).message}`);
    }
  }
  return { released, marks: marks.slice(0, 32).map((mark) => mark.slice(0, 4_000)) };
}

/** One look at what a cancelled call may have returned: for the audit, never a success payload. */
async function auditResult(
  drive: OperationDrive,
  signal: AbortSignal,
): Promise<{ ref: ResultRef; write: PayloadWrite } | null> {
  const { context, env } = drive;
  if (context.taskId === null) return null;
  try {
    const session = await env.connections.session(context);
    const outcome = await session.result(
      taskRef(context),
      'cancelled',
      AbortSignal.any([signal, AbortSignal.timeout(AUDIT_PATIENCE_MS)]),
    );
    if (outcome.kind !== 'result') return null;
    const stored = storable(outcome.payload, env.ledger.maxPayloadBytes);
    return 'problem' in stored ? null : stored;
  } catch {
    return null;
  }
}
