/** What a replay tells. */

/** One thing that another version of the chart does otherwise. */
export interface Difference {
  /** Whose record it is. */
  readonly operationId: string;
  /** What it is about: the record as a whole, one event, or one line of a history. */
  readonly where: string;
  /** What was, and what is instead, in one sentence. */
  readonly says: string;
}

/** What was tried on a version of the chart, and what that does otherwise. */
export interface ReplayReport {
  /** Different ones among what was judged. */
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
  /** To tell it from other errors where there are two copies of the package. */
  override readonly name = 'NotARecording';
}
