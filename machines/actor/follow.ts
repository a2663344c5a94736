import { LedgerUnavailable } from '../operation-ledger.ts';
import type { Environment } from './environment.ts';
import type { Opened, OperationStore } from './store.ts';

/** The committed states of one record, each once, until it is over (or purged, having been over) or the signal aborts. */
export async function* followOperation(
  env: Pick<Environment, 'ledger' | 'store' | 'clock'>,
  operationId: string,
  signal?: AbortSignal,
): AsyncGenerator<Opened> {
  const fresh: Opened[] = [];
  let changed = new AbortController();
  // One listener for all the waiting: a caller's signal may last as long as its process.
  const leave = () => changed.abort();
  signal?.addEventListener('abort', leave, { once: true });
  const unsubscribe = env.store.onForeignChange((id) => id === operationId && changed.abort());
  const unsubscribeLocal = env.store.onCommit((opened) => {
    if (opened.record.operationId !== operationId) return;
    fresh.push(opened);
    changed.abort();
  });
  let seen = 0;
  try {
    while (!signal?.aborted) {
      changed = new AbortController();
      const opened = fresh.shift() ?? (await loadOr(env.store, operationId));
      if (opened === 'purged') return;
      if (opened && Number(opened.record.revision) > seen) {
        seen = Number(opened.record.revision);
        yield opened;
      }
      if (opened?.snapshot.status === 'done') return;
      if (fresh.length > 0) continue;
      await env.clock.sleep(FOLLOW_MS, changed.signal);
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    unsubscribe();
    unsubscribeLocal();
  }
}

/** How long a follower trusts the nudges, ms. */
const FOLLOW_MS = 1_000;

/** `null` while the ledger is away: a follower waits for it. */
async function loadOr(store: OperationStore, operationId: string): Promise<Opened | 'purged' | null> {
  try {
    const found = await store.find(operationId);
    if (found.kind === 'record') return found.opened;
    if (found.kind === 'purged') return 'purged';
    throw new Error(`there is no operation ${operationId} in this ledger`);
  } catch (error) {
    if (error instanceof LedgerUnavailable) return null;
    throw error;
  }
}
