/** What the contract lends to its parts. */
import type { OperationLedger } from '../../machines/operation-ledger.ts';
import type { LedgerOptions } from '../../persistence/index.ts';
import { Keys, type PartitionKeys } from '../../persistence/keys.ts';
import type { Stored } from '../../persistence/packing.ts';
import type { ScriptName } from '../../persistence/scripts.ts';
import type { StoreUnderTest } from './contract.ts';
import { NAMESPACE } from './steps.ts';

export interface Lent {
  readonly store: StoreUnderTest;
  readonly ledger: OperationLedger;
  now(): number;
  pass(ms: number): void;
  open(options?: Partial<LedgerOptions>): Promise<OperationLedger>;
}

export const META = `toolop:{${NAMESPACE}/meta}`;

export const keysOf = (operationId: string): PartitionKeys =>
  new Keys(NAMESPACE).partition(Number(operationId.slice(1, 3)));

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
