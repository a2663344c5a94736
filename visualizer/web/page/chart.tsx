/** The statechart as it was drawn from the machine, with the state that is lit and the way that was walked. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { OperationView, StepView } from '../../view/schema.ts';
import { topOf } from './state.tsx';

type Step = Pick<StepView, 'from' | 'to' | 'refused'>;
type Walked = Pick<OperationView, 'state'> & { readonly timeline: readonly Step[] };

export function Chart({ view }: { readonly view: Walked }) {
  const place = useRef<HTMLElement>(null);
  const { state, timeline } = view;
  const steps = timeline.length;
  useLayoutEffect(() => {
    const box = place.current;
    if (!box) return;
    // The drawing is the build's own, and is cloned: nothing is parsed here.
    if (!box.firstElementChild) {
      const drawing = document.getElementById('chart') as HTMLTemplateElement | null;
      if (drawing) box.append(drawing.content.cloneNode(true));
      const svg = box.querySelector('svg');
      svg?.setAttribute('aria-hidden', 'true');
    }
    light(box, state);
    walk(box, timeline);
    intoSight(box);
  }, [state, steps]);
  return (
    <section class="panel wide" aria-labelledby="chart-title">
      <h2 id="chart-title">Where it stands</h2>
      <p class="hidden">
        The statechart. The current state is {state}. The way: {pathOf(timeline).join(', ')}.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
      <section class="chart-box" ref={place} aria-label="Statechart" tabIndex={0} />
      <p class="legend" aria-hidden="true">
        <span class="key lit">now</span>
        <span class="key walked">walked</span>
        <span class="key refused">refused a fact</span>
      </p>
    </section>
  );
}

const pathOf = (timeline: readonly Step[]): readonly string[] =>
  timeline.filter(({ from, to }) => from !== to).map(({ to }) => to);

/** `WORKING.polling` is also lit by the box around it. */
const holds = (name: string, path: string): boolean => name === path || path.startsWith(`${name}.`);

function light(box: HTMLElement, state: string): void {
  for (const node of box.querySelectorAll<SVGElement>('[data-state]')) {
    const name = node.dataset.state ?? '';
    node.classList.toggle('lit', name === state);
    node.classList.toggle('around', name !== state && holds(name, state));
  }
  // Where the drawing has no part for it, what is around it stands for it.
  if (!box.querySelector('[data-state].lit')) {
    box.querySelector(`[data-state="${CSS.escape(topOf(state))}"]`)?.classList.add('lit');
  }
}

function walk(box: HTMLElement, timeline: readonly Step[]): void {
  const been = timeline.flatMap(({ from, to }) => [from, to]).filter(Boolean);
  const refusing = timeline.filter(({ refused }) => refused !== null).map(({ to }) => to);
  const moves = timeline.filter(({ from, refused }) => from !== '' && refused === null);
  for (const node of box.querySelectorAll<SVGElement>('[data-state]')) {
    const name = node.dataset.state ?? '';
    node.classList.toggle(
      'walked',
      been.some((path) => holds(name, path)),
    );
    node.classList.toggle('refused', refusing.includes(name));
  }
  for (const edge of box.querySelectorAll<SVGElement>('[data-edge]')) {
    const { from = '', to = '' } = edge.dataset;
    // It names each state that it applies in: those inside of one that it comes out of.
    const walked = moves.some((move) => from.split(' ').includes(move.from) && to === move.to && move.from !== to);
    edge.classList.toggle('walked', walked);
  }
}

/** The lit state in the middle of the box, where the box scrolls; the page stays where it is. */
function intoSight(box: HTMLElement): void {
  const lit = box.querySelector('[data-state].lit')?.getBoundingClientRect();
  if (!lit) return;
  const frame = box.getBoundingClientRect();
  box.scrollLeft += lit.left + lit.width / 2 - (frame.left + frame.width / 2);
  box.scrollTop += lit.top + lit.height / 2 - (frame.top + frame.height / 2);
}
