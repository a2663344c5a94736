/** States in which nobody knows what became of a call (B13, G5): being looked up, or waiting for a human. */
export type Uncertainty = 'open' | 'parked';

const OF_STATE: Readonly<Record<string, Uncertainty>> = {
  SUBMISSION_UNKNOWN: 'open',
  CLASSIFYING_NOT_FOUND: 'open',
  PARKED: 'parked',
};

export const uncertaintyOf = (state: string): Uncertainty | null => OF_STATE[state.split('.')[0] ?? ''] ?? null;
