import { resolve } from 'node:path';
import { z } from 'zod';
import {
  LedgerIncompatible,
  type LedgerKind,
  type OperationLedger,
  shadowNamespace,
} from '../machines/operation-ledger.ts';
import { Keys, KIND_SWITCH, SCHEMA } from './keys.ts';
import { ScriptLedger } from './ledger.ts';
import { text } from './replies.ts';
import type { ScriptHost } from './script-host.ts';
import { Store } from './store.ts';

export interface LedgerOptions {
  /** Separates the call nodes of unrelated programs that share a store. */
  readonly namespace: string;
  /**
   * `shadow`: opens, or makes, the ledger of this namespace's shadows (R1), which has the namespace `<namespace>/shadow` and
   * shares with it what is known of servers (rates, task ids). Default: `operations`.
   */
  readonly kind?: LedgerKind;
  /** How many partitions a new namespace gets (16 on Redis, 1 in a file). An existing one keeps its number. */
  readonly partitions?: number;
  /** How long a step is sent again before its outcome is reported as unknown. Default: 15 s. */
  readonly definiteWithinMs?: number;
  /** How long opening tries to reach the store. Default: as a step. */
  readonly openWithinMs?: number;
  /** How long one attempt waits for the store. Default: 5 s. */
  readonly attemptMs?: number;
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
 * @param address `redis://...` or `rediss://...`, or the path of a file (its directories are made)
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
  const storeOptions = {
    namespace,
    servers: named,
    definiteWithinMs: options.definiteWithinMs ?? 15_000,
    ...(options.now ? { now: options.now } : {}),
  };
  const host = await openHost(address, namespace, options.attemptMs ?? 5000);
  try {
    const door = new Store(host, 0, {
      ...storeOptions,
      definiteWithinMs: options.openWithinMs ?? storeOptions.definiteWithinMs,
    });
    const found = await agree(door, kind, partitions, isRedis(address) ? 16 : 1);
    const store = new Store(host, found, storeOptions);
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

const isRedis = (address: string): boolean => /^rediss?:\/\//.test(address);

/** Only what the address needs is loaded: a client of Redis, or an engine for a file. */
async function openHost(address: string, namespace: string, attemptMs: number): Promise<ScriptHost> {
  if (isRedis(address)) {
    const { RedisHost } = await import('./redis/host.ts');
    return new RedisHost({ url: address, channel: new Keys(namespace).channel, commandTimeoutMs: attemptMs });
  }
  if (address === '' || /^[a-z]+:\/\//i.test(address)) {
    throw new RangeError('a ledger address begins with redis:// or rediss://, or is the path of a file');
  }
  const { EmbeddedHost } = await import('./embedded/host.ts');
  return EmbeddedHost.open(resolve(address), attemptMs);
}

/** Reads what the namespace was made with, or makes it. A store of another version is left untouched. */
async function agree(store: Store, kind: LedgerKind, wanted: number | undefined, fallback: number): Promise<number> {
  const [schema, stored, found] = await store.write(z.tuple([text, text, text]), {
    script: 'open',
    keys: [store.keys.meta],
    args: [SCHEMA, String(wanted ?? fallback), kind],
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
  return partitions;
}

/**
 * Every script looks at its own partition. Nobody has a ledger of shadows in hand before all of its partitions say so, also
 * where whoever made it died in the middle.
 */
async function markShadow(store: Store): Promise<void> {
  for (const { switches } of store.partitions) {
    await store.write(text, { script: 'switch', keys: [switches], args: [KIND_SWITCH, 'shadow'] });
  }
}
