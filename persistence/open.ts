import { resolve } from 'node:path';
import { z } from 'zod';
import {
  LedgerIncompatible,
  type LedgerKind,
  type OperationLedger,
  shadowNamespace,
} from '../machines/operation-ledger.ts';
import { SeenHistory } from './history.ts';
import { Keys, KIND_SWITCH, LAYOUT, SCHEMA } from './keys.ts';
import { ScriptLedger } from './ledger.ts';
import { refuseNewerLayout } from './migrations.ts';
import { isClusterAddress, isRedisAddress, publicAddress } from './redis/address.ts';
import { digits, optionalText, text } from './replies.ts';
import type { ScriptHost } from './script-host.ts';
import { Store } from './store.ts';

/** How a ledger is opened, or made. Only the namespace is needed. */
export interface LedgerOptions {
  /** Separates the call nodes of unrelated programs that share a store. */
  readonly namespace: string;
  /**
   * `shadow`: opens, or makes, the ledger of this namespace's shadows (R1), which has the namespace `<namespace>/shadow` and
   * shares with it what is known of servers (rates, task ids). Default: `operations`.
   */
  readonly kind?: LedgerKind;
  /** How many partitions a new namespace gets (16 on Redis, 64 on a cluster, 1 in a file). An existing one keeps its number. */
  readonly partitions?: number;
  /** How long a step is sent again before its outcome is reported as unknown. Default: 15 s. */
  readonly definiteWithinMs?: number;
  /** How long opening tries to reach the store. Default: as a step. */
  readonly openWithinMs?: number;
  /** How long one attempt waits for the store. Default: 5 s. */
  readonly attemptMs?: number;
  /**
   * How many replicas must have what must not be forgotten (creating, sending, accepting) before it counts as taken. Default:
   * one where the primary has a replica. `'none'`: a failover may forget these too. Short of replicas nothing is sent to a server.
   */
  readonly waitForReplicas?: number | 'none';
  /**
   * Where this process keeps the highest history mark it has seen of each partition, so that a restart notices too when the
   * ledger has forgotten steps. Several processes and ledgers may share it. Default: in memory only.
   */
  readonly historyFile?: string;
  /** Default: 1 MiB. */
  readonly maxSnapshotBytes?: number;
  /** Default: 16 MiB. */
  readonly maxPayloadBytes?: number;
  /** For tests: a clock in ms in place of the store's own. */
  readonly now?: () => number;
}

const MAX_PARTITIONS = 1024;

/**
 * Opens a ledger, and makes it where there is none yet.
 * @param address `redis://host:port` (or `rediss://`), `redis+cluster://host:port,host:port`,
 *   `redis+sentinel://host:port,host:port/<name of the primary>`, or the path of a file (its directories are made)
 * @throws LedgerUnavailable the store cannot be asked
 * @throws LedgerIncompatible the store was made by another version, or with another number of partitions
 */
export async function openLedger(address: string, options: LedgerOptions): Promise<OperationLedger> {
  const { namespace: named, kind = 'operations', partitions } = options;
  if (named === '' || named.length > 200) throw new RangeError('a namespace has 1 to 200 characters');
  if (partitions !== undefined && !(Number.isInteger(partitions) && partitions >= 1 && partitions <= MAX_PARTITIONS)) {
    throw new RangeError(`a ledger has 1 to ${MAX_PARTITIONS} partitions, not ${partitions}`);
  }
  const namespace = kind === 'shadow' ? shadowNamespace(named) : named;
  const { waitForReplicas: replicas } = options;
  if (typeof replicas === 'number' && !(Number.isInteger(replicas) && replicas >= 0 && replicas <= 16)) {
    throw new RangeError(`waitForReplicas is a number from 0 to 16, or "none", not ${replicas}`);
  }
  const storeOptions = {
    namespace,
    servers: named,
    definiteWithinMs: options.definiteWithinMs ?? 15_000,
    ...(options.now ? { now: options.now } : {}),
  };
  const host = await openHost(address, namespace, options);
  try {
    const door = new Store(host, 0, {
      ...storeOptions,
      definiteWithinMs: options.openWithinMs ?? storeOptions.definiteWithinMs,
      seen: new SeenHistory('', null),
    });
    const { partitions: found, layout } = await agree(door, kind, partitions, defaultPartitions(address));
    // Only of a ledger that is there: a wrong address leaves no file behind.
    const where = isRedisAddress(address) ? publicAddress(address) : resolve(address);
    const seen = new SeenHistory(`${where} ${namespace}`, options.historyFile ?? null);
    const store = new Store(host, found, { ...storeOptions, layout, seen });
    if (kind === 'shadow') await markShadow(store);
    return new ScriptLedger(store, kind, {
      snapshotBytes: options.maxSnapshotBytes ?? 1024 ** 2,
      payloadBytes: options.maxPayloadBytes ?? 16 * 1024 ** 2,
    });
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** Sixteen hash tags are spread too unevenly over the primaries of a cluster. */
const defaultPartitions = (address: string): number =>
  isClusterAddress(address) ? 64 : isRedisAddress(address) ? 16 : 1;

/** Only what the address needs is loaded: a client of Redis, or an engine for a file. */
async function openHost(address: string, namespace: string, options: LedgerOptions): Promise<ScriptHost> {
  const attemptMs = options.attemptMs ?? 5000;
  if (isRedisAddress(address)) {
    const { RedisHost } = await import('./redis/host.ts');
    return new RedisHost({
      url: address,
      channel: new Keys(namespace).channel,
      commandTimeoutMs: attemptMs,
      ...(options.waitForReplicas === undefined ? {} : { waitForReplicas: options.waitForReplicas }),
    });
  }
  if (address === '' || /^[a-z][a-z+.-]*:\/\//i.test(address)) {
    throw new RangeError(
      'a ledger address begins with redis://, rediss://, redis+cluster:// or redis+sentinel://, or is the path of a file',
    );
  }
  const { EmbeddedHost } = await import('./embedded/host.ts');
  return EmbeddedHost.open(resolve(address), attemptMs);
}

interface Agreed {
  readonly partitions: number;
  readonly layout: number;
}

/** Reads what the namespace was made with, or makes it. A store of another version is left untouched. */
async function agree(store: Store, kind: LedgerKind, wanted: number | undefined, fallback: number): Promise<Agreed> {
  const [schema, stored, found, layout] = await store.write(z.tuple([text, text, text, digits]), {
    script: 'open',
    keys: [store.keys.meta],
    args: [SCHEMA, String(wanted ?? fallback), kind, String(LAYOUT)],
  });
  if (schema !== SCHEMA) {
    throw new LedgerIncompatible(
      `the ledger "${store.namespace}" has schema ${schema}, this version reads schema ${SCHEMA}; it was left untouched. Use the version that wrote it, or another namespace`,
    );
  }
  // Made before there were kinds: of operations.
  if ((found || 'operations') !== kind) {
    throw new LedgerIncompatible(
      `the ledger "${store.namespace}" was made for ${found || 'operations'}, and cannot be opened for ${kind} (R1); it was left untouched. Use another namespace`,
    );
  }
  refuseNewerLayout(store.namespace, Number(layout));
  const partitions = Number(stored);
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
    throw new LedgerIncompatible(
      `the ledger "${store.namespace}" says it has "${stored}" partitions, which cannot be; it was left untouched`,
    );
  }
  if (wanted !== undefined && wanted !== partitions) {
    throw new LedgerIncompatible(
      `the ledger "${store.namespace}" was made with ${partitions} partitions, not ${wanted}; it was left untouched. Leave the number out, or use another namespace`,
    );
  }
  return { partitions, layout: Number(layout) };
}

/**
 * Every script looks at its own partition. Nobody has a ledger of shadows in hand before all of its partitions say so, also
 * where whoever made it died in the middle.
 */
async function markShadow(store: Store): Promise<void> {
  for (const partition of store.partitions) {
    const keys = [partition.switches];
    if ((await store.read(optionalText, { script: 'read', keys, args: [KIND_SWITCH] })) === 'shadow') continue;
    await store.write(text, {
      script: 'switch',
      keys,
      args: [KIND_SWITCH, 'shadow'],
      confirm: true,
      history: { partition },
    });
  }
}
