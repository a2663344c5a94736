import { useEffect, useRef, useState } from 'preact/hooks';
import { goTo, hashOf, type ListAddress } from './address.ts';
import { setup } from './setup.ts';
import { toneOf, wordsOf } from './state.tsx';

/** Typing is looked for after this pause, ms. */
const PAUSE_MS = 150;

export function Search({ address }: { readonly address: ListAddress }) {
  const [typed, setTyped] = useState(address.text);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(waiting.current);
    setTyped(address.text);
  }, [address.text]);
  const look = (text: string) => {
    setTyped(text);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => goTo({ ...address, text: text.trim(), page: 0 }, true), PAUSE_MS);
  };
  return (
    <search class="search">
      <label class="hidden" for="search">
        Search by tool, call node or id
      </label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        placeholder="Search by tool, call node or id"
        value={typed}
        onInput={({ currentTarget }) => look(currentTarget.value)}
      />
      <span class="kbd" aria-hidden="true">
        /
      </span>
    </search>
  );
}

interface FiltersProps {
  readonly address: ListAddress;
  readonly counts: Readonly<Record<string, number>>;
}

/** States without an operation are left out, unless one of them is the one that is looked at. */
export function Filters({ address, counts }: FiltersProps) {
  const states = setup.states.filter((state) => (counts[state] ?? 0) > 0 || state === address.state);
  return (
    <nav class="filters" aria-label="Filter by state">
      <ul>
        <Filter address={address} state="all" title="All" counts={counts} />
        <Filter address={address} state="unresolved" title="Unresolved" counts={counts} />
        {states.map((state) => (
          <Filter key={state} address={address} state={state} title={wordsOf(state)} counts={counts} />
        ))}
      </ul>
    </nav>
  );
}

function Filter({ address, state, title, counts }: FiltersProps & { readonly state: string; readonly title: string }) {
  const current = address.state === state;
  return (
    <li>
      <a
        class={`filter tone-${state === 'all' || state === 'unresolved' ? 'none' : toneOf(state)}`}
        href={hashOf({ ...address, state, page: 0 })}
        aria-current={current ? 'true' : undefined}
      >
        <span class="dot" aria-hidden="true" />
        {title} <span class="count">{(counts[state] ?? 0).toLocaleString('en')}</span>
      </a>
    </li>
  );
}
