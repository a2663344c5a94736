import type { Seen } from './use-stream.ts';

/** Whether what is shown is what is so. */
export function ConnectionSign({ connection, trouble }: Pick<Seen<unknown>, 'connection' | 'trouble'>) {
  if (trouble !== null) return <p class="notice tone-stuck">The ledger does not answer: {trouble}</p>;
  if (connection === 'lost') {
    return <p class="notice tone-stuck">The page has lost its server: what is shown may be old. Trying again …</p>;
  }
  return null;
}

export function LiveSign({ connection, trouble }: Pick<Seen<unknown>, 'connection' | 'trouble'>) {
  const live = connection === 'live' && trouble === null;
  return (
    <span class={live ? 'live on' : 'live'}>
      <span class="dot" aria-hidden="true" />
      {live ? 'Live' : connection === 'connecting' ? 'Connecting' : 'Not live'}
    </span>
  );
}
