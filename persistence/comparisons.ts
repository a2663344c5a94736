import type { OperationLedger } from '../machines/operation-ledger.ts';
import { optionalText, pairs, text, texts } from './replies.ts';
import { refuseLarger } from './steps.ts';
import type { Store } from './store.ts';

const MAX_BYTES = 64 * 1024;

/** What is known of each shadow beside its ordinary call (R1), by operation. */
export class Comparisons {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async *all(): AsyncGenerator<{ readonly operationId: string; readonly text: string }> {
    for (const { comparisons } of this.#store.partitions) {
      const entries = pairs(await this.#store.read(texts, { script: 'entries', keys: [comparisons], args: [] }));
      for (const [operationId, entry] of entries) yield { operationId, text: entry };
    }
  }

  of(operationId: string): Promise<string | null> {
    const keys = [this.#store.partitionOf(operationId).comparisons];
    return this.#store.read(optionalText, { script: 'read', keys, args: [operationId] });
  }

  async set(...[operationId, seen, entry]: Parameters<OperationLedger['setComparison']>): Promise<string> {
    refuseLarger('comparison', operationId, entry, MAX_BYTES);
    const keys = [this.#store.partitionOf(operationId).comparisons];
    return this.#store.write(text, { script: 'replace', keys, args: [operationId, seen ?? '', entry] });
  }
}
