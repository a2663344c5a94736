import { sha256 } from '../machines/digest.ts';
import {
  LedgerIncompatible,
  type OperationLedger,
  type SideAnswer,
  type StoredRollout,
} from '../machines/operation-ledger.ts';
import type { PartitionKeys } from './keys.ts';
import { optionalText, sideTaken, text, toRecord } from './replies.ts';
import { refuseLarger } from './steps.ts';
import type { Store } from './store.ts';

const FIELD = 'rollout';
const MAX_BYTES = 64 * 1024;
const NEVER: StoredRollout = { version: '0', text: '' };

/** The rollout rules, a copy in every partition, and the sides that call nodes took by them (R1, R2). */
export class Rollouts {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  all(): Promise<readonly StoredRollout[]> {
    return Promise.all(this.#store.partitions.map((partition) => this.#in(partition)));
  }

  of(operationId: string): Promise<StoredRollout> {
    return this.#in(this.#store.partitionOf(operationId));
  }

  async set(
    ...[rules, replaced]: Parameters<OperationLedger['setRollout']>
  ): ReturnType<OperationLedger['setRollout']> {
    refuseLarger('rollout rules', `the namespace "${this.#store.namespace}"`, rules, MAX_BYTES);
    // A failover may have left one partition behind the others: the new number is above all of them.
    const numbers = (await this.all()).map(({ version }) => Number.parseInt(version, 10));
    const version = `${Math.max(...numbers) + 1}.${sha256(rules).slice(0, 12)}`;
    for (const [index, partition] of this.#store.partitions.entries()) {
      const args = [version, rules, index === 0 ? replaced : ''];
      const now = await this.#store.write(text, {
        script: 'rollout',
        keys: [partition.switches],
        args,
        confirm: true,
        history: { partition },
      });
      if (index === 0 && now !== version) return { kind: 'conflict', version: now };
    }
    return { kind: 'set', version };
  }

  async takeSide(ask: Parameters<OperationLedger['takeSide']>[0]): Promise<SideAnswer> {
    const { operationId, version, side, why } = ask;
    const partition = this.#store.partitionOf(operationId);
    const look = (confirm: boolean) =>
      this.#store.write(sideTaken, {
        script: 'side',
        keys: [partition.operation(operationId), partition.sides, partition.switches, partition.tombstones],
        args: [operationId, version, side ?? '', why],
        confirm,
        history: { partition },
      });
    // A side that a failover forgot would be decided anew.
    let answer = await look(side !== null);
    // Whoever makes the record may still wait for a replica: what its caller is not told yet, nobody else is.
    if (answer[0] === 'record' && toRecord(operationId, answer[1]).revision === '1') answer = await look(true);
    switch (answer[0]) {
      case 'record':
        return { kind: 'record', record: toRecord(operationId, answer[1]) };
      case 'purged':
        return { kind: 'purged', tombstone: answer[1] };
      case 'side':
        return { kind: 'side', ...answer[1] };
      case 'rules':
        return { kind: 'rules', rollout: stored(answer[1]) };
      default:
        return { kind: 'none' };
    }
  }

  async #in({ switches }: PartitionKeys): Promise<StoredRollout> {
    return stored((await this.#store.read(optionalText, { script: 'read', keys: [switches], args: [FIELD] })) ?? '');
  }
}

/** `version text`, as the scripts keep it. */
function stored(value: string): StoredRollout {
  if (value === '') return NEVER;
  const [, version, rules] = /^(\d+\.[0-9a-f]{12}) (.*)$/s.exec(value) ?? [];
  if (version !== undefined && rules !== undefined) return { version, text: rules };
  throw new LedgerIncompatible(
    `a partition has rollout rules without a version ("${value.slice(0, 40)}"); they were left untouched. Restore the field "${FIELD}" of its switches, or remove it, and set the rules anew`,
  );
}
