/** One operation: where it stands in the chart, how it came there, and what that rests on. */
import { useEffect, useRef } from 'preact/hooks';
import type { OperationView, PurgedView } from '../../view/schema.ts';
import { Actions } from './actions.tsx';
import { Chart } from './chart.tsx';
import { ConnectionSign, LiveSign } from './connection.tsx';
import { Evidence } from './evidence.tsx';
import { Facts } from './facts.tsx';
import { Question } from './question.tsx';
import { Receipt } from './receipt.tsx';
import { StateSign } from './state.tsx';
import { useNow } from './time.ts';
import { Timeline } from './timeline.tsx';
import { useStream } from './use-stream.ts';

type Missing = { readonly schema: 'none'; readonly operationId: string };

export function LiveOperation({ operationId }: { readonly operationId: string }) {
  const seen = useStream<OperationView | PurgedView | Missing>(
    `api/operation?${new URLSearchParams({ id: operationId })}`,
  );
  const view = seen.value;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName);
      if (event.key === 'Escape' && !typing && !document.querySelector('dialog[open]')) history.back();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  return (
    <>
      <p class="back">
        <a href="#/">← All operations</a>
        <LiveSign {...seen} />
      </p>
      <ConnectionSign {...seen} />
      {view === null || view.operationId !== operationId ? (
        <p role="status">{seen.connection === 'lost' ? `There is nothing to show of ${operationId}.` : 'Reading …'}</p>
      ) : view.schema === 'operationView.v1' ? (
        <OperationScreen view={view} still={false} />
      ) : (
        <Heading title={operationId}>
          <p role="status">{view.schema === 'none' ? 'There is no such operation in this ledger.' : view.words}</p>
        </Heading>
      )}
    </>
  );
}

/** `still`: the view stands in a file: nothing is asked for, and nothing grows older. */
export function OperationScreen({ view, still }: { readonly view: OperationView; readonly still: boolean }) {
  const now = useNow(view.now, still);
  useEffect(() => {
    document.title = `${view.state} – ${view.callNodeId} – toolop`;
  }, [view.state, view.callNodeId]);
  return (
    <Heading title={view.callNodeId}>
      <p class="stands">
        <StateSign state={view.state} large={true} />
        {view.statusMessage === null ? null : (
          <span class="said">
            Server: <bdi>{view.statusMessage}</bdi>
          </span>
        )}
      </p>
      <p class="hidden" role="status">
        {`State: ${view.state}`}
      </p>
      {view.shadow ? <p class="notice">A shadow: only compared with the ordinary call, and nobody's outcome.</p> : null}
      {view.parked && view.state.startsWith('PARKED') ? <Parked view={view} parked={view.parked} /> : null}
      {view.question ? <Question view={view} question={view.question} now={now} still={still} /> : null}
      {view.receipt ? <Receipt receipt={view.receipt} output={view.output} shadow={view.shadow} /> : null}
      <Actions view={view} still={still} />
      <Facts view={view} now={now} />
      <Chart view={view} />
      <Timeline view={view} />
      <Evidence view={view} />
    </Heading>
  );
}

function Heading({ title, children }: { readonly title: string; readonly children: preact.ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Who opened it from the list is to hear where they are.
  useEffect(() => heading.current?.focus(), []);
  return (
    <article class="operation">
      <h1 tabIndex={-1} ref={heading}>
        <bdi>{title}</bdi>
      </h1>
      {children}
    </article>
  );
}

function Parked({
  view,
  parked,
}: {
  readonly view: OperationView;
  readonly parked: { reason: string; note: string | null };
}) {
  return (
    <section class="panel tone-stuck" aria-label="Parked">
      <h2>Parked: {parked.reason}</h2>
      <p>
        What became of the call is unknown, and nothing is sent again on a guess. It waits for late evidence, or for
        somebody who decides.
      </p>
      {parked.note === null ? null : (
        <p class="quoted">
          <bdi>{parked.note}</bdi>
        </p>
      )}
      {view.verbs.length === 0 ? null : <p>Can be said now: {view.verbs.join(', ')}</p>}
    </section>
  );
}
