import type { ActorRow, ActorStatus } from '../../../receiver/view.ts';
import type { Tone } from '../state.tsx';

const TONES: Readonly<Record<ActorStatus, Tone>> = { active: 'busy', done: 'good', error: 'bad', stopped: 'quiet' };

interface StatusProps {
  readonly row: ActorRow;
  /** The program is there: what it left active is not. */
  readonly connected: boolean;
  readonly large?: boolean;
}

/** How an actor is, and in which states. */
export function Status({ row: { status, state }, connected, large = false }: StatusProps) {
  const left = status === 'active' && !connected;
  return (
    <span class={`sign tone-${left ? 'warn' : TONES[status]}${large ? ' large' : ''}`}>
      <span class="dot" aria-hidden="true" />
      <span class="sign-text">
        {left ? 'last seen' : status}
        {state === '' ? null : <bdi class="inner"> {state}</bdi>}
      </span>
    </span>
  );
}
