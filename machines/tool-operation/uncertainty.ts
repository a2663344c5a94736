/** Nobody knows what became of a call (B13, G5): it is being looked up, or waits for a human. */
export type Uncertainty = 'open' | 'parked';

/** By name of the state (B5). */
const OF_STATE: Readonly<Record<string, Uncertainty>> = {
  SUBMISSION_UNKNOWN: 'open',
  CLASSIFYING_NOT_FOUND: 'open',
  PARKED: 'parked',
};

export const uncertaintyOf = (state: string): Uncertainty | null => OF_STATE[state.split('.')[0] ?? ''] ?? null;
