/** Every program that sends, its actors, and of the chosen one all that is kept. */
import { useEffect } from 'preact/hooks';
import type { ReceivedView } from '../../../receiver/view.ts';
import { ConnectionSign, LiveSign } from '../connection.tsx';
import { Frame } from '../frame.tsx';
import { useStream } from '../use-stream.ts';
import { ActorScreen } from './actor.tsx';
import { useChosen, useEscape } from './chosen.ts';
import { Scrolled } from './scrolled.tsx';
import { setup } from './setup.ts';
import { Tree } from './tree.tsx';

export function Inspect() {
  const chosen = useChosen();
  useEscape(chosen);
  const seen = useStream<ReceivedView>(chosen === null ? 'api/received' : `api/received?actor=${chosen}`);
  const view = seen.value;
  const name = view?.actor?.actor === chosen ? view?.actor?.name : undefined;
  useEffect(() => {
    document.title = `${name === undefined ? '' : `${name} – `}Actors – toolop`;
  }, [name]);
  return (
    <Frame where={<span class="ledger">{setup.socket}</span>} acting={false}>
      <div class="heading">
        <h1>Actors</h1>
        <LiveSign {...seen} />
      </div>
      <ConnectionSign {...seen} />
      {view === null ? (
        <p role="status">Reading …</p>
      ) : view.programs.length === 0 ? (
        <Nobody />
      ) : (
        <Both view={view} chosen={chosen} />
      )}
    </Frame>
  );
}

function Both({ view, chosen }: { readonly view: ReceivedView; readonly chosen: number | null }) {
  return (
    <div class={chosen === null ? 'both' : 'both chosen'}>
      <Tree view={view} chosen={chosen} />
      <div class="one">
        {chosen === null ? (
          <p class="nothing">Choose an actor: its states, its context and what happened are shown here.</p>
        ) : (
          <>
            <p class="back">
              <a href="#/">← All actors</a>
            </p>
            {view.actor?.actor === chosen ? (
              <ActorScreen key={chosen} view={view.actor} limits={view.limits} />
            ) : (
              <Missing view={view} chosen={chosen} />
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** It is still being asked for, or it is no longer kept. */
function Missing({ view, chosen }: { readonly view: ReceivedView; readonly chosen: number }) {
  const isKept = view.programs.some(({ actors }) => actors.some(({ actor }) => actor === chosen));
  return <p role="status">{isKept ? 'Reading …' : 'This actor is not kept, or no longer.'}</p>;
}

function Nobody() {
  return (
    <section class="panel" aria-labelledby="nobody">
      <h2 id="nobody">No program has connected yet</h2>
      <p role="status">Any XState program can send here, from the beginning or in the middle of its work:</p>
      <Scrolled
        title="The code"
        text={`import { createWebSocketInspector } from '@statelyai/inspect';\n${setup.code}`}
      />
      <p>What it sends stays on this machine, and in the memory of this command.</p>
    </section>
  );
}
