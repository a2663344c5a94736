/** What the contract of our hosts works with: a ledger, and the store behind its back. */
import * as vitest from 'vitest';
import type { OperationLedger } from '../../../machines/operation-ledger.ts';
import { type LedgerOptions, openLedger } from '../../../persistence/index.ts';
import { Keys, type PartitionKeys } from '../../../persistence/keys.ts';
import type { Stored } from '../../../persistence/packing.ts';
import type { ScriptHost } from '../../../persistence/script-host.ts';
import type { ScriptName } from '../../../persistence/scripts.ts';
import { type Bench, type LedgerUnderTest, setUp } from '../../kit/ledger-contract/bench.ts';
import { NAMESPACE } from '../steps.ts';

/** A store under test, behind the ledger's back. */
export interface StoreUnderTest {
  readonly address: string;
  /** Runs single scripts, as a client that sends one again. */
  host(): Promise<ScriptHost>;
  /** Sets or (with `null`) removes the field of a hash. */
  plant(key: string, field: string, value: string | null): Promise<void>;
  /** Replaces a text, or (with `null`) removes whatever stands under the key. */
  replace(key: string, by: ((text: Buffer) => Buffer) | null): Promise<void>;
  /** Takes a member out of a sorted set. */
  unrank(key: string, member: string): Promise<void>;
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** The same store, as the public suite knows it. */
export const asLedger = (store: StoreUnderTest): LedgerUnderTest => ({
  open: (options) => openLedger(store.address, options),
  clear: () => store.clear(),
  stop: () => store.stop(),
});

export interface StoreBench extends Bench {
  readonly store: StoreUnderTest;
  open(options?: Partial<LedgerOptions>): Promise<OperationLedger>;
}

export function setUpStore(start: () => Promise<StoreUnderTest>): StoreBench {
  let store: StoreUnderTest;
  const bench = setUp(vitest, async () => {
    store = await start();
    return asLedger(store);
  });
  return Object.defineProperty(bench as StoreBench, 'store', { get: () => store });
}

export const META = `toolop:{${NAMESPACE}/meta}`;

export const keysOf = (operationId: string): PartitionKeys =>
  new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));

export const partitionKey = (operationId: string, name: string): string =>
  `toolop:1:{${NAMESPACE}/${operationId.slice(0, 3)}}:${name}`;

/** One script of the history, as a client that has seen nothing of it yet; its reply without the mark. */
export async function runOnHistory(
  host: ScriptHost,
  { mark }: PartitionKeys,
  script: ScriptName,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const [reply] = (await host.run(script, [...keys, mark], [...args, '', '1', '0'])) as unknown[];
  return reply;
}

/** One script, as it stands: what a client sends that does not look before. */
export async function runScript(
  store: StoreUnderTest,
  script: ScriptName,
  keys: readonly string[],
  args: readonly Stored[],
): Promise<unknown> {
  const host = await store.host();
  try {
    return await host.run(script, keys, args);
  } finally {
    await host.close();
  }
}

/** A text as it stands in the store; there has to be one. */
export async function textUnder(store: StoreUnderTest, key: string): Promise<Buffer> {
  let found = Buffer.alloc(0);
  await store.replace(key, (text) => {
    found = Buffer.from(text);
    return text;
  });
  return found;
}

/** The fields of a hash, of whatever kind. */
export async function entriesUnder(store: StoreUnderTest, key: string): Promise<ReadonlyMap<string, unknown>> {
  const flat = (await runScript(store, 'entries', [key], [''])) as unknown[];
  return new Map(flat.flatMap((field, i) => (i % 2 === 0 ? [[String(field), flat[i + 1]] as const] : [])));
}
