import { randomUUID } from 'node:crypto';
import { type Claim, LedgerRegressed, type OperationLedger, type StoredRecord } from '../machines/operation-ledger.ts';
import { claimed, loaded, released, renewed } from './replies.ts';
import { wholeMs } from './steps.ts';
import type { Store } from './store.ts';

type ClaimAsk = Parameters<OperationLedger['claimDue']>[0];

/** What one partition answered. */
interface Look {
  readonly now: number;
  readonly records: readonly StoredRecord[];
  readonly nextDueAt: number | null;
  /** It has more that is due. */
  readonly more: boolean;
}

/** Claiming what is due, and holding it. */
export class Leases {
  readonly #store: Store;
  #turn = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * One script per partition, all at once; those that have more are asked again while there is room. What was claimed is
   * answered also when a partition could not be asked: that one is due to be asked again.
   */
  async claimDue(ask: ClaimAsk): Promise<Claim> {
    await this.#store.refuseOlderLayout();
    const records: StoredRecord[] = [];
    const regressed = new Map<number, LedgerRegressed>();
    const nextDue = new Map<number, number>();
    let problem: unknown = null;
    let epochOver: number | null = null;
    let latest = 0;

    let open = this.#inTurn(ask.partitions ?? [...this.#store.partitions.keys()]);
    // Whoever is told in one partition that its epoch is over gets nothing in any other for long.
    while (open.length > 0 && records.length < ask.limit && problem === null && epochOver === null) {
      const room = ask.limit - records.length;
      const share = Math.max(1, Math.floor(room / open.length));
      const asked = open.slice(0, room);
      const looks = await Promise.allSettled(asked.map((partition) => this.#claim(partition, share, ask)));
      const again = looks.flatMap((look, i) => {
        const partition = asked[i] as number;
        if (look.status === 'rejected' && look.reason instanceof LedgerRegressed) {
          regressed.set(partition, look.reason);
          return [];
        }
        if (look.status === 'rejected') {
          problem = look.reason;
          return [partition];
        }
        if ('epochOver' in look.value) {
          epochOver = look.value.epochOver;
          return [];
        }
        const { now, nextDueAt, more } = look.value;
        latest = Math.max(latest, now);
        records.push(...look.value.records);
        if (nextDueAt === null) nextDue.delete(partition);
        else nextDue.set(partition, nextDueAt);
        return more ? [partition] : [];
      });
      open = [...open.slice(asked.length), ...again];
    }
    if (problem !== null && records.length === 0) throw problem;
    for (const partition of open) nextDue.set(partition, 0);
    return {
      claimed: records,
      now: latest,
      nextDueAt: nextDue.size === 0 ? null : Math.min(...nextDue.values()),
      nextDue,
      regressed,
      ...(epochOver === null ? {} : { epochOver }),
    };
  }

  async renew(...[operationId, owner, epoch, ms]: Parameters<OperationLedger['renewLease']>) {
    const keys = await this.#leaseKeys(operationId);
    if (keys === null) return null;
    const args = [operationId, owner, epoch, wholeMs(ms)];
    const [kind, until, revision] = await this.#store.write(renewed, { script: 'renew', keys, args });
    return kind === 'lost' ? null : { until, revision };
  }

  /** Tells everybody: whoever looks for what is due counted on the end of the lease. */
  async release(
    ...[operationId, owner, epoch, dueAt, revision]: Parameters<OperationLedger['releaseLease']>
  ): Promise<void> {
    const keys = await this.#leaseKeys(operationId);
    if (keys === null) return;
    const args = [operationId, owner, epoch, dueAt === null ? '' : wholeMs(dueAt), revision];
    await this.#store.write(released, { script: 'release', keys, args, nudge: operationId });
  }

  /** Begins with another one each time, so that none waits for the others. */
  #inTurn<T>(list: readonly T[]): readonly T[] {
    const first = this.#turn++ % Math.max(1, list.length);
    return [...list.slice(first), ...list.slice(0, first)];
  }

  async #claim(partition: number, limit: number, ask: ClaimAsk): Promise<Look | { readonly epochOver: number }> {
    const keys = this.#store.partition(partition);
    const scopes = this.#inTurn(ask.scopes);
    const answer = await this.#store.write(claimed, {
      script: 'claim',
      keys: [
        keys.operationPrefix,
        keys.claims,
        keys.claimEnds,
        keys.switches,
        ...scopes.map((scope) => keys.due(scope)),
      ],
      args: [
        randomUUID(),
        ask.owner,
        wholeMs(ask.leaseMs),
        String(limit),
        String(ask.executionEpoch),
        ...scopes.map((scope) => wholeMs(ask.overdueMs?.(partition, scope) ?? 0)),
      ],
      history: { partition: keys },
    });
    if (answer[0] === 'epoch-over') return { epochOver: answer[1] };
    const [now, nextDueAt, records] = answer;
    return { now, records, nextDueAt, more: records.length === limit && nextDueAt !== null && nextDueAt <= now };
  }

  /** A lease's owner knows the operation, the keys need its scope too; that never changes. */
  async #leaseKeys(operationId: string): Promise<string[] | null> {
    const partition = this.#store.partitionOf(operationId);
    const op = partition.operation(operationId);
    const keys = [op, partition.tombstones];
    const found = await this.#store.write(loaded, { script: 'load', keys, args: [operationId] });
    return found.length === 8 ? [op, partition.due(found[3])] : null;
  }
}

/** One partition whose history went backwards does not keep the others waiting. */
export function orRegressed(error: unknown): LedgerRegressed {
  if (error instanceof LedgerRegressed) return error;
  throw error;
}
