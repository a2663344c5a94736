/** One actor: where it stands in its machine, what it holds, and what happened. */
import { useEffect, useRef } from 'preact/hooks';
import type { ActorView, ReceivedView, StepView } from '../../../receiver/view.ts';
import { Chart } from '../chart.tsx';
import { moment } from '../time.ts';
import { Available } from './available.tsx';
import { Log } from './log.tsx';
import { Machine } from './machine.tsx';
import { Scrolled } from './scrolled.tsx';
import { Status } from './status.tsx';

interface ActorProps {
  readonly view: ActorView;
  readonly limits: ReceivedView['limits'];
}

export function ActorScreen({ view, limits }: ActorProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Who opened it from the tree is to hear where they are.
  useEffect(() => heading.current?.focus(), []);
  const { definition, missing, connected, state, status, tags } = view;
  return (
    <article class="actor" aria-labelledby="actor">
      <h2 class="title" id="actor" tabIndex={-1} ref={heading}>
        <bdi>{view.name}</bdi>
      </h2>
      <p class="stands">
        <Status row={view} connected={connected} large={true} />
        <span class="about">
          Program {view.program}, <code>{view.sessionId}</code>, since {moment(view.since)}
        </span>
      </p>
      <p class="hidden" role="status">
        {`Status: ${status}${state === '' ? '' : `, in ${state}`}`}
      </p>
      {tags.length === 0 ? null : (
        <p class="about">
          Tags: <bdi>{tags.join(', ')}</bdi>
        </p>
      )}
      {connected ? null : (
        <p class="notice">Its program has disconnected: this is the last that it told, and nothing is known since.</p>
      )}
      {missing === null ? null : <p class="notice">Not drawn: {missing}.</p>}
      {view.drawn ? <Chart view={{ state, timeline: walkOf(view.log) }} /> : null}
      {definition === null || view.drawn ? null : <Machine machine={definition} lit={view.lit} />}
      {definition === null || status !== 'active' || !connected ? null : (
        <Available machine={definition} lit={view.lit} />
      )}
      <Part title="Error" text={view.error} open={true} />
      <Part title="Output" text={view.output} open={true} />
      <Part title="Context" text={view.context} open={false} />
      <Log view={view} most={limits.steps} />
    </article>
  );
}

/** The way through the states, as far as it is kept. */
function walkOf(log: readonly StepView[]) {
  const states = log.flatMap(({ state }) => (state === null ? [] : [state]));
  return states.map((to, index) => ({ from: states[index - 1] ?? '', to, refused: null }));
}

interface PartProps {
  readonly title: string;
  readonly text: string | null;
  readonly open: boolean;
}

function Part({ title, text, open }: PartProps) {
  if (text === null) return null;
  return (
    <details class="panel" open={open}>
      <summary>{title}</summary>
      <Scrolled title={title} text={text} />
    </details>
  );
}
