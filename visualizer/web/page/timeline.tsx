import { useState } from 'preact/hooks';
import type { OperationView, StepView } from '../../view/schema.ts';
import { moment, offset } from './time.ts';

/** As many are shown at first. */
const SHOWN = 60;

/** Every committed step, and every fact that was refused, with its time. */
export function Timeline({ view }: { readonly view: OperationView }) {
  const [all, setAll] = useState(false);
  const { timeline, createdAt } = view;
  const hidden = all ? 0 : Math.max(0, timeline.length - SHOWN);
  return (
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">What happened</h2>
      {hidden > 0 ? (
        <p>
          <button type="button" onClick={() => setAll(true)}>
            Show {hidden} earlier steps
          </button>
        </p>
      ) : null}
      <ol class="timeline">
        {timeline.slice(hidden).map((step, index) => (
          <Step key={hidden + index} step={step} createdAt={createdAt} />
        ))}
      </ol>
    </section>
  );
}

const kindOf = ({ event, refused, from }: StepView): string =>
  refused !== null
    ? 'refused'
    : from === ''
      ? 'made'
      : /^(cancel\.request|input\.reply|reconcile\.|epoch\.)/.test(event)
        ? 'command'
        : event === 'terminal.accept'
          ? 'accept'
          : 'fact';

function Step({ step, createdAt }: { readonly step: StepView; readonly createdAt: number }) {
  const { at, event, says, from, to, executor, note, refused } = step;
  return (
    <li class={`step ${kindOf(step)}`}>
      <time class="at" title={moment(at)} dateTime={new Date(at).toISOString()}>
        {offset(at - createdAt)}
      </time>
      <div class="what">
        <p class="event">
          <code>{event}</code>
          {refused === null ? null : <span class="refusal">refused by {refused.join(', ') || 'the state'}</span>}
        </p>
        {says === '' ? null : <p class="says">{says}</p>}
        {note === null ? null : (
          <p class="quoted">
            <bdi>{note}</bdi>
          </p>
        )}
        <p class="move">
          {from === to || from === '' ? (
            <span>{to}</span>
          ) : (
            <span>
              {from} <span aria-hidden="true">→</span>
              <span class="hidden">to</span> {to}
            </span>
          )}
          <span class="by" title={executor}>
            <bdi>{executor.slice(0, 12)}</bdi>
          </span>
        </p>
      </div>
    </li>
  );
}
