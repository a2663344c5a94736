/** Which actor is looked at: after the `#`, as `#/actor/12`. */
import { useEffect, useState } from 'preact/hooks';

export const hashOf = (actor: number): string => `#/actor/${actor}`;

const chosen = (): number | null => {
  const [, digits] = /^#\/actor\/(\d{1,12})$/.exec(location.hash) ?? [];
  return digits === undefined ? null : Number(digits);
};

export function useChosen(): number | null {
  const [actor, setActor] = useState(chosen);
  useEffect(() => {
    const changed = () => setActor(chosen());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return actor;
}

/** Escape leads back to all of them, and to the one that was looked at. */
export function useEscape(actor: number | null): void {
  useEffect(() => {
    const pressed = ({ key, target }: KeyboardEvent) => {
      if (key !== 'Escape' || actor === null || (target as HTMLElement).tagName === 'INPUT') return;
      location.hash = '#/';
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-actor="${actor}"]`)?.focus());
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [actor]);
}
