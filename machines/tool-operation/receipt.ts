import { sha256 } from '../digest.ts';
import type { Evidence, ResultRef, TerminalStatus, ToolOperationContext } from './context.ts';

/**
 * The terminal receipt: what a call node came to, and what that rests on. One per call node, for ever (B12).
 * `status` is the protocol's own word (`null` where no protocol state was ever reached); `outcome` the one normalized word.
 * Times in ms of ledger time.
 */
export interface TerminalReceipt {
  readonly schema: 'terminalReceipt.v1';
  readonly receiptId: string;
  readonly operationId: string;
  readonly namespace: string;
  readonly principal: string;
  readonly callNodeId: string;
  readonly requestDigest: string;
  readonly tool: { readonly name: string; readonly version: string };
  readonly protocol: string;
  readonly taskId: string | null;
  readonly executionEpoch: number;
  readonly attempt: number;
  readonly cancelGeneration: number;
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'not_submitted' | 'given_up';
  readonly status: 'completed' | 'failed' | 'cancelled' | null;
  readonly resultDigest: string | null;
  /** `result`: what the call returned. `error`: the JSON-RPC error it ended with. */
  readonly resultKind: 'result' | 'error' | null;
  readonly isError: boolean;
  readonly auditResultDigest: string | null;
  /** What an output guard decided: `false` means that nothing is released downstream. */
  readonly released: boolean;
  readonly marks: readonly string[];
  /** B10: an effect outside may have happened; somebody has to look. */
  readonly effectReconciliationRequired: boolean;
  readonly evidence: Evidence | null;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly observedAt: number | null;
}

/**
 * The one normalized word. A tool that reports an error of its own ends as `failed` in 2025-11-25 and as `completed` in
 * 2026-07-28 (`isError: true` in both): here it failed.
 */
export function outcomeOf(status: TerminalStatus, result: ResultRef | null): TerminalStatus {
  return status === 'completed' && result?.isError ? 'failed' : status;
}

/** The receipt of a record; a pure function of it, so that every acceptor writes the very same one. */
export function terminalReceipt(context: ToolOperationContext): TerminalReceipt {
  const { terminal } = context;
  const outcome = context.givenUp
    ? 'given_up'
    : context.notSubmitted
      ? 'not_submitted'
      : terminal === null
        ? 'given_up'
        : outcomeOf(terminal.status, context.result);
  const advances = outcome === 'completed' || outcome === 'failed';
  return {
    schema: 'terminalReceipt.v1',
    receiptId: sha256(`receipt:${context.operationId}`),
    operationId: context.operationId,
    namespace: context.namespace,
    principal: context.principal,
    callNodeId: context.callNodeId,
    requestDigest: context.requestDigest,
    tool: context.tool,
    protocol: context.protocol,
    taskId: context.taskId,
    executionEpoch: context.executionEpoch,
    attempt: context.attempt,
    cancelGeneration: context.cancelGeneration,
    outcome,
    status: advances || outcome === 'cancelled' ? (terminal?.status ?? null) : null,
    resultDigest: advances ? (context.result?.digest ?? null) : null,
    resultKind: advances ? (context.result?.kind ?? null) : null,
    isError: advances && context.result?.isError === true,
    auditResultDigest: context.auditResult?.digest ?? null,
    released: advances && context.outputVerdict?.released === true,
    marks: context.outputVerdict?.marks ?? [],
    effectReconciliationRequired: context.effectReconciliationRequired,
    evidence: terminal?.evidence ?? null,
    reason: context.givenUp?.note ?? context.notSubmitted?.reason ?? null,
    createdAt: context.createdAt,
    observedAt: terminal?.observedAt ?? null,
  };
}
