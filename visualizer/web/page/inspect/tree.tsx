/** The actors of each program, each under the one that made it. */
import { useRef, useState } from 'preact/hooks';
import type { ActorRow, ProgramView, ReceivedView } from '../../../receiver/view.ts';
import { useListKeys } from '../list-keys.ts';
import { clock, moment } from '../time.ts';
import { hashOf } from './chosen.ts';
import { Status } from './status.tsx';

interface TreeProps {
  readonly view: ReceivedView;
  readonly chosen: number | null;
}

export function Tree({ view, chosen }: TreeProps) {
  const { programs, droppedActors, droppedPrograms, limits } = view;
  const [text, setText] = useState('');
  const list = useRef<HTMLElement>(null);
  useListKeys(list);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    <nav class="tree" aria-label="Actors" ref={list}>
      <label class="search">
        <span class="hidden">Find actors by name or state</span>
        <input
          id="search"
          type="search"
          placeholder="Name or state"
          value={text}
          autocomplete="off"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <span class="kbd" aria-hidden="true">
          /
        </span>
      </label>
      {[...programs].reverse().map((program) => (
        <Program key={program.program} program={program} words={words} chosen={chosen} />
      ))}
      {droppedActors + droppedPrograms > 0 ? (
        <p class="about">
          At most {limits.actors} actors are kept: {counted(droppedActors, 'older actor')} and{' '}
          {counted(droppedPrograms, 'older program')} were dropped.
        </p>
      ) : null}
    </nav>
  );
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

interface ProgramProps {
  readonly program: ProgramView;
  readonly words: readonly string[];
  readonly chosen: number | null;
}

function Program({ program: { program, origin, since, until, refused, actors }, words, chosen }: ProgramProps) {
  const fits = ({ name, state, status }: ActorRow) =>
    words.every((word) => `${name}\n${state}\n${status}`.toLowerCase().includes(word));
  // Of a search, rows without what is above them.
  const rows = words.length === 0 ? actors : actors.filter(fits).map((row) => ({ ...row, parent: null }));
  const id = `program-${program}`;
  return (
    <section class="program" aria-labelledby={id}>
      <h2 id={id}>
        Program {program}
        {origin === null ? null : <bdi class="id"> {origin}</bdi>}
      </h2>
      <p class="about" role="status" title={moment(until ?? since)}>
        {until === null ? `Connected since ${clock(since).slice(0, 8)}` : `Disconnected at ${clock(until).slice(0, 8)}`}
      </p>
      {refused === null ? null : (
        <p class="why">
          {counted(refused.count, 'frame')} refused; the last: <bdi>{refused.last}</bdi>
        </p>
      )}
      {rows.length === 0 ? (
        <p class="about">{actors.length === 0 ? 'It has told of no actor yet.' : 'No actor fits.'}</p>
      ) : (
        <Branch rows={forestOf(rows)} chosen={chosen} connected={until === null} />
      )}
    </section>
  );
}

interface Grown {
  readonly row: ActorRow;
  readonly inner: readonly Grown[];
}

/** Each once, whatever a program says of who made whom: also who was made by nobody that is kept, or in a circle. */
function forestOf(rows: readonly ActorRow[]): readonly Grown[] {
  const placed = new Set<number>();
  const inner = new Map<number | null, ActorRow[]>();
  for (const row of rows) inner.set(row.parent, [...(inner.get(row.parent) ?? []), row]);
  const grow = (row: ActorRow): readonly Grown[] => {
    if (placed.has(row.actor)) return [];
    placed.add(row.actor);
    return [{ row, inner: (inner.get(row.actor) ?? []).flatMap(grow) }];
  };
  return [...(inner.get(null) ?? []), ...rows].flatMap(grow);
}

interface BranchProps {
  readonly rows: readonly Grown[];
  readonly chosen: number | null;
  readonly connected: boolean;
}

function Branch({ rows, chosen, connected }: BranchProps) {
  return (
    <ul class="branch">
      {rows.map(({ row, inner }) => (
        <li key={row.actor}>
          <div class="leaf">
            <a
              class="open"
              href={hashOf(row.actor)}
              data-actor={row.actor}
              aria-current={row.actor === chosen ? 'true' : undefined}
            >
              <bdi>{row.name}</bdi>
            </a>
            <Status row={row} connected={connected} />
          </div>
          {inner.length === 0 ? null : <Branch rows={inner} chosen={chosen} connected={connected} />}
        </li>
      ))}
    </ul>
  );
}
