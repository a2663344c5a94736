/** What every part of the executor works with. */
import type { ApprovalPort } from '../approval-gate/round.ts';
import type { Json } from '../digest.ts';
import type { OperationLedger } from '../operation-ledger.ts';
import type { ToolOperationContext } from '../tool-operation/context.ts';
import type { Clock, LedgerTime } from './clock.ts';
import type { Connections } from './connections.ts';
import { claimsOf, type Issued, type Stamp } from './facts.ts';
import type { Log } from './log.ts';
import type { OperationStore } from './store.ts';
import type { Tenure } from './tenure.ts';

/** What came back, before anybody downstream sees it (B12). `value` is the result or the JSON-RPC error. */
export interface GuardedOutput {
  /** `p<NN>.<sha256>`. */
  readonly operationId: string;
  /** As the caller gave it. */
  readonly callNodeId: string;
  /** The tool's name at the server. */
  readonly tool: string;
  /** The word that the receipt will have: `failed` also where the tool reported an error of its own. */
  readonly outcome: 'completed' | 'failed';
  /** The result says so of itself, or it is a JSON-RPC error. */
  readonly isError: boolean;
  /** Whole: of an error `code`, `message` and `data`. */
  readonly value: Json;
}
/**
 * Decides about a result: `release: false` keeps the outcome and releases nothing; `marks` go into the receipt. One that
 * throws has not said yes. `signal` aborts when its verdict is waited for no longer; it is asked again later.
 */
export type OutputGuard = (output: GuardedOutput, signal: AbortSignal) => Promise<OutputVerdict> | OutputVerdict;
/** What one guard says. An output is released if all of them release it. */
export interface OutputVerdict {
  /** `false`: nobody downstream ever sees it. The outcome stays what it is. */
  readonly release: boolean;
  /** Words for the receipt: 32 of all guards together, 4,000 characters each. */
  readonly marks?: readonly string[];
}

/** How often one server may be asked, over all executors of the ledger (B8). */
export interface Rate {
  /** Requests a second, above 0. */
  readonly qps: number;
  /** How many may go at once after a pause, 1 or more. */
  readonly burst: number;
}

export interface Environment {
  readonly ledger: OperationLedger;
  readonly store: OperationStore;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly time: LedgerTime;
  readonly executorId: string;
  readonly tenure: Tenure;
  /** Of the tenure. */
  readonly executionEpoch: number;
  readonly leaseMs: number;
  /** How long an answer is waited for, ms: giving up only stops the waiting. */
  readonly requestTimeoutMs: number;
  readonly rate: Rate;
  readonly approval: ApprovalPort | null;
  readonly outputGuards: readonly OutputGuard[];
  /** How long one output guard may take, ms. */
  readonly guardTimeoutMs: number;
  readonly creationAllowed: () => boolean;
  readonly log: Log;
}

export const stampOf = (env: Pick<Environment, 'time' | 'clock'>): Stamp => ({
  at: env.time.now(),
  random: env.clock.random(),
});

/** What is known when a request leaves. */
export const issuedNow = (env: Environment, context: ToolOperationContext): Issued => ({
  claims: claimsOf(context, env.executionEpoch),
  sentAt: env.time.now(),
  payloadLimit: env.ledger.maxPayloadBytes,
});
