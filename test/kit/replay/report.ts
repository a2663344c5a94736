/** What a replay tells. */

/** One thing that another version of the chart does otherwise. */
export interface Difference {
  readonly operationId: string;
  /** What it is about: the record as a whole, one event, or one line of a history. */
  readonly where: string;
  readonly says: string;
}

export interface ReplayReport {
  readonly operations: number;
  /** Events, or lines of histories, that were judged: 0 proves nothing. */
  readonly steps: number;
  /** Refused ones among them. */
  readonly refused: number;
  /** Empty: this version of the chart does the same. */
  readonly differences: readonly Difference[];
}

/** A recording that is not one. Nothing of it was judged. */
export class NotARecording extends Error {
  override readonly name = 'NotARecording';
}
