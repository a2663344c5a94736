/** What every gate gives: what was run, the figure, the limit, and whether it holds. */

import type { Matrix } from '../model/system/orderings.ts';

export const GATES = ['G1', 'G2', 'G3', 'G4', 'G5', 'G6'] as const;
export type GateName = (typeof GATES)[number];

export interface Verdict {
  readonly gate: GateName;
  /** What was run, and how many. */
  readonly ran: string;
  readonly count: number;
  readonly figure: string;
  readonly limit: string;
  readonly pass: boolean;
  /** What a reader needs to judge it; what went wrong, when it does not hold. */
  readonly notes: readonly string[];
  /** G1. */
  readonly matrix?: Matrix;
  readonly ms: number;
}

export interface Sizes {
  /** G1: orderings in simulation, and on real parts; operations of one round of those. */
  readonly simulated: number;
  readonly real: number;
  readonly round: number;
  readonly repeated: number;
  /** Submissions to the servers' half that are lost, late or interrupted (G2). */
  readonly lost: number;
  readonly executorKills: number;
  readonly concurrent: number;
  readonly qps: number;
  readonly burst: number;
  readonly polled: number;
  readonly cancels: number;
  readonly cancelQps: number;
  readonly cancelSeconds: number;
  readonly unknown: number;
  /** G5: by what the waiting of a real deployment is divided. */
  readonly scale: number;
  readonly walked: number;
}

export const QUICK: Sizes = {
  simulated: 1_500,
  real: 20,
  round: 20,
  repeated: 24,
  lost: 200,
  executorKills: 2,
  concurrent: 60,
  qps: 60,
  burst: 20,
  polled: 60,
  cancels: 15,
  cancelQps: 30,
  cancelSeconds: 1,
  unknown: 24,
  scale: 200,
  walked: 15,
};

export const FULL: Sizes = {
  simulated: 1_000_000,
  real: 10_000,
  round: 100,
  repeated: 400,
  lost: 10_000,
  executorKills: 15,
  concurrent: 1_000,
  qps: 120,
  burst: 60,
  polled: 600,
  cancels: 200,
  cancelQps: 60,
  cancelSeconds: 15,
  unknown: 300,
  scale: 20,
  walked: 400,
};

export const DEEP: Sizes = {
  ...FULL,
  simulated: 3_000_000,
  real: 100_000,
  repeated: 1_500,
  lost: 50_000,
  executorKills: 60,
  walked: 2_000,
};

export interface Run {
  readonly sizes: Sizes;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** One line on where it stands. */
  progress(text: string): void;
}

export type Judged = Omit<Verdict, 'gate' | 'ms'>;

/** The value below which this share of all lies; the list is sorted here. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export const few = (list: readonly string[], most = 10): string[] =>
  list.length <= most ? [...list] : [...list.slice(0, most), `... and ${list.length - most} more`];

export const whole = (value: number): string => Math.round(value).toLocaleString('en');
