/** What the chaos program and its executor processes say to each other: one JSON object a line. */
import type { Policy, TerminalOutcome, ToolCall } from '../../machines/index.ts';

export const NAMESPACE = 'chaos';

/** ms: the lease of an executor; who is stopped for longer has lost its operations to another one. */
export const LEASE_MS = 1_500;

/** ms: outages last seconds here, so must every patience. */
export const POLICY: Partial<Policy> = {
  pollIntervalMs: 250,
  minPollIntervalMs: 100,
  maxPollIntervalMs: 1_000,
  maxBackoffMs: 1_500,
  waitBudgetMs: 30_000,
  lookupBudgetMs: 4_000,
  fetchBudgetMs: 6_000,
  cancelBudgetMs: 6_000,
  inputDeadlineMs: 10_000,
  parkedIntervalMs: 500,
};

export interface WorkerOrders {
  readonly name: string;
  readonly ledger: string;
  readonly namespace: string;
  readonly urls: readonly string[];
  /** Where the history that was seen is remembered over a `kill -9`; `null`: nowhere. */
  readonly historyFile: string | null;
}

export interface Order {
  readonly op: 'submit' | 'cancel' | 'outcome';
  readonly call: ToolCall;
}

export type Answer =
  | { readonly kind: 'error'; readonly reason: string }
  /** `accepted`, `refused`, `taken`, `already`, `missing`, ... in the words of the executor. */
  | { readonly kind: string; readonly reason?: string };

export type WorkerLine =
  | { readonly line: 'ready' }
  | { readonly line: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly line: 'state'; readonly operationId: string; readonly state: string }
  | { readonly line: 'delivery'; readonly operationId: string; readonly outcome: TerminalOutcome }
  | { readonly line: 'acknowledged'; readonly operationId: string };
