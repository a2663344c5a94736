import { sha256 } from '../digest.ts';
import type { Evidence, ResultRef, TerminalStatus, ToolOperationContext } from './context.ts';

/**
 * The terminal receipt: what a call node came to, and what that rests on. One per call node, for ever (B12).
 * `status` is the protocol's own word (`null` where no protocol state was ever reached); `outcome` the one normalized word.
 * Times in ms of ledger time.
 */
export interface TerminalReceipt {
  /** Of this form. */
  readonly schema: 'terminalReceipt.v1';
  /** SHA-256 over the operation id, hex: whoever accepts the operation, and however often, it is the same. */
  readonly receiptId: string;
  /** `p<NN>.<sha256>` of the call node. */
  readonly operationId: string;
  /** The ledger's. */
  readonly namespace: string;
  /** For whom the call was made; `local` where the caller named nobody. */
  readonly principal: string;
  /** As the caller gave it. */
  readonly callNodeId: string;
  /** SHA-256 of the canonical JSON of tool and arguments, hex. */
  readonly requestDigest: string;
  /** `version`: the digest of its descriptor, as pinned. */
  readonly tool: { readonly name: string; readonly version: string };
  /** The adapter, e.g. `mcp-2025-11-25`. */
  readonly protocol: string;
  /** `null`: the call never became a task, or its id was never known. */
  readonly taskId: string | null;
  /** Under which it was accepted (R3). */
  readonly executionEpoch: number;
  /** The number of the last one, from 1. */
  readonly attempt: number;
  /** 0: nobody asked for a cancel (B9). */
  readonly cancelGeneration: number;
  /** `failed` also where the tool reported an error of its own, whatever its protocol calls that. */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'not_submitted' | 'given_up';
  /** `null` also where a human gave the operation up. */
  readonly status: 'completed' | 'failed' | 'cancelled' | null;
  /** SHA-256 of the result or error, hex; `null` unless the outcome is `completed` or `failed`. */
  readonly resultDigest: string | null;
  /** `result`: what the call returned. `error`: the JSON-RPC error it ended with. */
  readonly resultKind: 'result' | 'error' | null;
  /** The result says so of itself, or it is a JSON-RPC error. */
  readonly isError: boolean;
  /** What a cancelled call returned all the same, if that could still be read: for the audit only (B12). */
  readonly auditResultDigest: string | null;
  /** What an output guard decided: `false` means that nothing is released downstream. */
  readonly released: boolean;
  /** What output guards wrote on it, up to 32; empty where none was asked. */
  readonly marks: readonly string[];
  /** B10: an effect outside may have happened; somebody has to look. */
  readonly effectReconciliationRequired: boolean;
  /** On what the terminal state rests; `null` where none was observed. */
  readonly evidence: Evidence | null;
  /** Why nothing was submitted, or why it was given up; `null` otherwise. */
  readonly reason: string | null;
  /** When the record was made. */
  readonly createdAt: number;
  /** When the terminal state was seen, which is before it was accepted; `null`: none was. */
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
