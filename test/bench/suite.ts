/** What every suite is given and gives. */

export const SUITES = ['job', 'poll', 'waiting', 'punctuality', 'embedded', 'page'] as const;
export type SuiteName = (typeof SUITES)[number];

/** One figure by name, its value in each run that counts. */
export type Figures = Readonly<Record<string, readonly number[]>>;

export interface Measurement {
  /** Under which circumstances, e.g. `always, 32 in flight`. */
  readonly what: string;
  readonly who: string;
  readonly figures: Figures;
  /** What is worth keeping besides: commands by name, sizes. */
  readonly more?: unknown;
}

export interface SuiteResult {
  readonly measurements: readonly Measurement[];
  readonly notes: readonly string[];
}

export interface Bench {
  /** Small sizes. */
  readonly quick: boolean;
  /** Runs that count; one more before them is dropped. */
  readonly runs: number;
  /** Bytes of the record that the floor writes with each step. */
  readonly floorBytes: number;
  /** Of the ledger that the page shows. */
  readonly operations: number;
  readonly signal: AbortSignal;
  progress(text: string): void;
}

export type Suite = (bench: Bench) => Promise<SuiteResult>;
