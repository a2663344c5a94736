/** One stream of the server, while it is looked at. */
import { useEffect, useState } from 'preact/hooks';

/** `lost`: tried again. */
export type Connection = 'connecting' | 'live' | 'lost';

export interface Seen<T> {
  readonly value: T | null;
  readonly connection: Connection;
  /** Why the ledger does not answer. */
  readonly trouble: string | null;
}

/** After this long, ms, a stream that the browser gave up is tried again. */
const AGAIN_MS = 2_000;

/** `path`: `null`: nothing is asked for. The value of another path stays until the new one has come. */
export function useStream<T>(path: string | null): Seen<T> {
  const [seen, setSeen] = useState<Seen<T>>({ value: null, connection: 'connecting', trouble: null });
  useEffect(() => {
    if (path === null) return;
    let source: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    const say = (part: Partial<Seen<T>>) => setSeen((before) => ({ ...before, ...part }));
    const open = () => {
      source = new EventSource(path);
      source.addEventListener('seen', ({ data }) =>
        say({ value: JSON.parse(data) as T, connection: 'live', trouble: null }),
      );
      source.addEventListener('trouble', ({ data }) =>
        say({ connection: 'live', trouble: (JSON.parse(data) as { message: string }).message }),
      );
      source.addEventListener('error', () => {
        say({ connection: 'lost' });
        if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
      });
    };
    const close = () => {
      clearTimeout(again);
      source?.close();
      source = null;
    };
    // A browser has few connections for one server: pages that nobody sees leave them to others.
    const turned = () => {
      close();
      if (!document.hidden) open();
    };
    turned();
    document.addEventListener('visibilitychange', turned);
    return () => {
      document.removeEventListener('visibilitychange', turned);
      close();
    };
  }, [path]);
  return seen;
}
