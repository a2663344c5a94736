/** A machine as boxes in boxes, those of the active states lit. No layout is made: the reader of a screen gets the same as lists. */
import type { StateView } from '../../../receiver/view.ts';
import { Transition } from './transition.tsx';

interface MachineProps {
  readonly machine: StateView;
  readonly lit: readonly number[];
}

export function Machine({ machine, lit }: MachineProps) {
  return (
    <section class="panel" aria-labelledby="machine">
      <h3 id="machine">Where it stands</h3>
      <ul class="state-boxes">
        <Box state={machine} lit={new Set(lit)} />
      </ul>
    </section>
  );
}

function Box({ state, lit }: { readonly state: StateView; readonly lit: ReadonlySet<number> }) {
  const { at, key, kind, initial, description, notes, transitions, states } = state;
  const isLit = lit.has(at);
  const words = [kind === 'atomic' || kind === 'compound' ? '' : kind, initial ? 'initial' : ''].filter(Boolean);
  return (
    <li class={`state-box ${kind}${isLit ? ' lit' : ''}`}>
      <p class="state-name">
        <bdi data-state={key}>{key}</bdi>
        {isLit ? <span class="hidden">, active</span> : null}
        {words.length === 0 ? null : <span class="state-kind"> {words.join(', ')}</span>}
      </p>
      {description === null ? null : (
        <p class="about">
          <bdi>{description}</bdi>
        </p>
      )}
      {notes.map((note, index) => (
        <p class="about" key={index}>
          <bdi>{note}</bdi>
        </p>
      ))}
      {transitions.length === 0 ? null : (
        <ul class="transitions" aria-label="Transitions">
          {transitions.map((transition, index) => (
            <Transition key={index} transition={transition} />
          ))}
        </ul>
      )}
      {states.length === 0 ? null : (
        <ul class="state-boxes" aria-label="States inside">
          {states.map((inner) => (
            <Box key={inner.at} state={inner} lit={lit} />
          ))}
        </ul>
      )}
    </li>
  );
}
