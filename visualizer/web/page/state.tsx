/** A state as a small sign: its tone says at a glance whether anything is to be done. */
export type Tone = 'busy' | 'ask' | 'warn' | 'stuck' | 'good' | 'bad' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  SUBMITTING: 'busy',
  SUBMISSION_UNKNOWN: 'warn',
  NOT_FOUND_SAFE: 'warn',
  WORKING: 'busy',
  INPUT_REQUIRED: 'ask',
  CANCEL_REQUESTED: 'warn',
  TERMINAL_OBSERVED: 'busy',
  FETCHING_RESULT: 'busy',
  CLASSIFYING_NOT_FOUND: 'warn',
  PARKED: 'stuck',
  CONCLUDING: 'warn',
  ACCEPTED: 'good',
  CANCELLED_ACCEPTED: 'quiet',
  NOT_SUBMITTED: 'quiet',
  GIVEN_UP: 'bad',
};

export const topOf = (state: string): string => state.split('.', 1)[0] as string;
export const toneOf = (state: string): Tone => TONES[topOf(state)] ?? 'quiet';

/** `WORKING` as `Working`, `CANCELLED_ACCEPTED` as `Cancelled accepted`. */
export function wordsOf(name: string): string {
  const words = name.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function StateSign({ state, large = false }: { readonly state: string; readonly large?: boolean }) {
  const [top = '', inner] = state.split('.');
  return (
    <span class={`sign tone-${toneOf(state)}${large ? ' large' : ''}`}>
      <span class="dot" aria-hidden="true" />
      <span class="sign-text">
        {top}
        {inner === undefined ? null : <span class="inner">.{inner}</span>}
      </span>
    </span>
  );
}
