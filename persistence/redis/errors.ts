import { LedgerUnavailable } from '../../machines/operation-ledger.ts';

/** What the server's error codes mean for somebody who runs a ledger, and what to do. */
const ADVICE: Readonly<Record<string, string>> = {
  READONLY: 'it is a read-only replica. Point the address at the primary, or promote this server',
  OOM: 'its memory is full (maxmemory). Raise maxmemory or move other data away; the ledger itself must not be evicted',
  NOREPLICAS: 'too few replicas are in touch with it (min-replicas-to-write). Bring the replicas back',
  LOADING: 'it is still loading its data after a start. Wait',
  MASTERDOWN: 'it is a replica without its primary. Point the address at the primary',
  BUSY: 'another script keeps it busy. Look at SLOWLOG, or wait',
  MISCONF: 'it refuses writes because it could not write to its disk. Look at its log and at the free disk space',
  CLUSTERDOWN: 'its cluster is incomplete. Bring the missing nodes back',
  TRYAGAIN: 'its cluster is moving these keys right now. Wait',
  ASK: 'its cluster is moving these keys right now. Wait',
  MOVED: 'another node of its cluster has these keys. Give the address as redis+cluster://host:port,host:port',
  NOAUTH: 'it wants a password. Put user and password into the address',
  WRONGPASS: 'it does not accept this user and password. Check the address',
  NOPERM: 'this user may not do this. Allow it EVAL, EVALSHA and the commands in the scripts, on the keys toolop:*',
};

/**
 * Turns what ioredis rejects with into a `LedgerUnavailable`. A script that failed is a bug and stays what it is.
 * @param connection the last error of the connection itself, which often says more than the command's
 */
export function unavailable(error: unknown, where: string, connection: Error | undefined): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof LedgerUnavailable) return error;
  const code = /^[A-Z]+(?= )/.exec(error.message)?.[0] ?? '';
  const advice = ADVICE[code];
  if (advice !== undefined) {
    return new LedgerUnavailable(`Redis at ${where} did not take the step: ${advice}. (${error.message})`, {
      cause: error,
    });
  }
  if (error.name === 'ReplyError') return error;
  const cause = connection ?? error;
  const what = reasonOf(cause);
  return new LedgerUnavailable(
    `Redis at ${where} did not answer (${what}); whether the step was taken is unknown. ` +
      'Check that the server runs and that this machine can reach it; the step can safely be sent again.',
    { cause },
  );
}

/** A refused connection to a name with several addresses has its words in the single errors. */
function reasonOf(error: Error): string {
  const first = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? first.message : error.message;
}
