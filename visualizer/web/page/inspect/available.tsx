/** What the active states take now: those inside come first, as they are asked first. */
import type { StateView, TransitionView } from '../../../receiver/view.ts';
import { Transition } from './transition.tsx';

interface Offer {
  readonly from: string;
  readonly transition: TransitionView;
}

function offersOf(state: StateView, lit: ReadonlySet<number>, path: readonly string[]): readonly Offer[] {
  if (!lit.has(state.at)) return [];
  const inner = state.states.flatMap((each) => offersOf(each, lit, [...path, each.key]));
  const from = path.join('.') || state.key;
  return [...inner, ...state.transitions.map((transition) => ({ from, transition }))];
}

export function Available({ machine, lit }: { readonly machine: StateView; readonly lit: readonly number[] }) {
  const offers = offersOf(machine, new Set(lit), []);
  return (
    <section class="panel" aria-labelledby="available">
      <h3 id="available">What may follow now</h3>
      {offers.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <ul class="transitions offers">
          {offers.map(({ from, transition }, index) => (
            <Transition key={index} transition={transition}>
              <span class="about">
                {' '}
                in <bdi>{from}</bdi>
              </span>
            </Transition>
          ))}
        </ul>
      )}
    </section>
  );
}
