/** Keys of the list: arrows move along the rows, Enter opens one (it is a link), `/` goes to the search. */
import { useEffect } from 'preact/hooks';

const MOVES: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(last, at + 1),
  ArrowUp: (at) => Math.max(0, at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

export function useListKeys(list: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === '/' && !typing) {
        event.preventDefault();
        document.getElementById('search')?.focus();
        return;
      }
      const move = MOVES[event.key];
      const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>('a.open') ?? [])];
      if (!move || links.length === 0) return;
      const at = links.indexOf(target as HTMLAnchorElement);
      // In a field only the way down leads to the rows; elsewhere Home and End are the page's.
      if ((typing && event.key !== 'ArrowDown') || (at < 0 && event.key !== 'ArrowDown')) return;
      event.preventDefault();
      links[move(at, links.length - 1)]?.focus();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [list]);
}
