import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from './address.ts';

export type RedisClient = Redis | Cluster;

/** How often the map of a cluster is read again, ms: a frozen node sends nobody elsewhere. */
const MAP_MS = 2_000;
/** How soon what a cluster could not take just now (a failover, a moving slot) is tried again, ms. */
const REDIRECT_MS = 100;

export interface Patience {
  /** How long one attempt may take, ms. */
  readonly commandTimeoutMs: number;
  /** `false`: whoever listens waits for ever. */
  readonly givesUp: boolean;
}

/** Opens the connections to one server, to the primary that Sentinels name, or to every node of a cluster. */
export function connectTo(address: RedisAddress, { commandTimeoutMs, givesUp }: Patience): RedisClient {
  const common = {
    // 6.0.0 decodes some large RESP3 numbers wrongly.
    protocol: 2 as const,
    connectTimeout: commandTimeoutMs,
    keepAlive: 10_000,
    enableReadyCheck: true,
    // After a failover the old address may answer as a replica: look again who is primary.
    reconnectOnError: (error: Error) => /^(READONLY|NOREPLICAS|LOADING|MASTERDOWN)/.test(error.message),
    ...(givesUp
      ? {
          commandTimeout: commandTimeoutMs,
          // A command timeout keeps the socket: only this ends a half-open one.
          socketTimeout: commandTimeoutMs * 3,
        }
      : {}),
  } satisfies RedisOptions;
  const access = {
    ...(address.tls ? { tls: {} } : {}),
    ...(address.kind !== 'single' && address.username !== undefined ? { username: address.username } : {}),
    ...(address.kind !== 'single' && address.password !== undefined ? { password: address.password } : {}),
  } satisfies RedisOptions;
  if (address.kind === 'cluster') {
    return new Cluster([...address.nodes], {
      redisOptions: { ...common, ...access },
      clusterRetryStrategy: reconnectDelay,
      retryDelayOnFailover: REDIRECT_MS,
      retryDelayOnClusterDown: REDIRECT_MS,
      retryDelayOnTryAgain: REDIRECT_MS,
      slotsRefreshTimeout: commandTimeoutMs,
      slotsRefreshInterval: MAP_MS,
      // A certificate is for the name, not for the number that it stands for.
      ...(address.tls ? { dnsLookup: (name, found) => found(null, name) } : {}),
    });
  }
  const alone = {
    ...common,
    // A dead server is reported by the next attempt, not by silence; a script is safe to send again.
    maxRetriesPerRequest: givesUp ? 1 : null,
    retryStrategy: reconnectDelay,
  } satisfies RedisOptions;
  if (address.kind === 'single') return new Redis(address.url, alone);
  const client = new Redis({
    ...alone,
    ...access,
    sentinels: [...address.sentinels],
    name: address.master,
    db: address.db,
    role: 'master',
    sentinelRetryStrategy: reconnectDelay,
    sentinelCommandTimeout: commandTimeoutMs,
    // A primary that was replaced while it was stopped goes on answering: only the Sentinels know.
    failoverDetector: true,
    ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    ...(address.sentinelPassword === undefined ? {} : { sentinelPassword: address.sentinelPassword }),
  });
  comeBack(client);
  return client;
}

/**
 * ioredis 6.0.0 gives a connection up for good when a failover is announced just while it asks the Sentinels who is primary: it
 * takes what its detector does then for a `disconnect` of ours. Whoever did not leave comes back.
 */
function comeBack(client: Redis): void {
  let left = false;
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false): void => {
    left ||= !reconnect;
    disconnect(reconnect);
  };
  const connect = (): void => {
    if (!left && client.status === 'end') client.connect().catch(() => undefined);
  };
  client.on('end', () => void setTimeout(connect, reconnectDelay(1)).unref());
}

function reconnectDelay(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 5), 500) * (0.75 + Math.random() / 2);
}
