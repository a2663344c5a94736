import { useState } from 'preact/hooks';
import type { ActorView, StepView } from '../../../receiver/view.ts';
import { clock, moment } from '../time.ts';
import { Scrolled } from './scrolled.tsx';

/** As many are shown at first. */
const SHOWN = 50;

interface LogProps {
  readonly view: ActorView;
  /** How many are kept. */
  readonly most: number;
}

/** The events of an actor and what they led to, the latest first. */
export function Log({ view: { log, dropped }, most }: LogProps) {
  const [all, setAll] = useState(false);
  const steps = [...log].reverse();
  const shown = all ? steps : steps.slice(0, SHOWN);
  return (
    <section class="panel" aria-labelledby="log">
      <h3 id="log">What happened, the latest first</h3>
      {steps.length === 0 ? <p>Nothing yet.</p> : null}
      <ol class="log">
        {shown.map((step) => (
          <Step key={step.step} step={step} />
        ))}
      </ol>
      {shown.length < steps.length ? (
        <p>
          <button type="button" onClick={() => setAll(true)}>
            Show {steps.length - shown.length} earlier steps
          </button>
        </p>
      ) : null}
      {dropped === 0 ? null : (
        <p class="about">
          The latest {most} steps are kept: {dropped} before them were dropped.
        </p>
      )}
    </section>
  );
}

function Step({ step: { at, event, from, payload, state, changed } }: { readonly step: StepView }) {
  return (
    <li class={changed ? 'moved' : ''}>
      <time class="at" title={moment(at)} dateTime={new Date(at).toISOString()}>
        {clock(at)}
      </time>
      <div>
        <p>
          <code>
            <bdi>{event}</bdi>
          </code>
          {state === null ? null : (
            <span class="came">
              {' '}
              <span aria-hidden="true">→</span>
              <span class="hidden">{changed ? 'to' : 'stays in'}</span> <bdi>{state}</bdi>
            </span>
          )}
          {from === null ? null : (
            <span class="about">
              {' '}
              from <bdi>{from}</bdi>
            </span>
          )}
        </p>
        {payload === null ? null : (
          <details>
            <summary>
              The event<span class="hidden"> {event}</span>
            </summary>
            <Scrolled title={`The event ${event}`} text={payload} />
          </details>
        )}
      </div>
    </li>
  );
}
