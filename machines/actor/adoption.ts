/** Adoption by batches (R3): what is open under an older execution epoch is taken over by the ledger's, before anybody claims it. */
import { randomUUID } from 'node:crypto';
import type { OperationLedger, OperationSummary } from '../operation-ledger.ts';
import { readable } from './open-operations.ts';
import { operationsOf } from './operations.ts';
import { OperationStore } from './store.ts';

/** What a run has done so far (R3). */
export interface Adoption {
  /** The epoch that takes over: the ledger's as it was at the beginning. */
  readonly epoch: number;
  /** Operations looked at so far. */
  readonly seen: number;
  /** Taken over by this run, by the epoch they were under before. */
  readonly adopted: ReadonlyMap<number, number>;
  /** Left for the moment: their sender holds a lease and is still to say what came of the call. */
  readonly sending: number;
  /** Written by another version: left alone. */
  readonly unreadable: number;
}

/** Pace, progress and early end of a run. */
export interface AdoptOptions {
  /** Operations adopted at the same time. Default 64. */
  readonly batch?: number;
  /** Told after each batch. */
  readonly onProgress?: (adoption: Adoption) => void;
  /** Ends it after the batch under way; what was adopted stays adopted. */
  readonly signal?: AbortSignal;
}

/**
 * Walks the open operations. Idempotent, so one that was interrupted is begun again. A record that somebody changes meanwhile
 * is adopted as it is then.
 */
export async function adoptAll(ledger: OperationLedger, options: AdoptOptions = {}): Promise<Adoption> {
  const { batch = 64, onProgress, signal } = options;
  const walk = new Walk(ledger, await ledger.epoch());
  let group: OperationSummary[] = [];
  const adoptGroup = async () => {
    const now = await ledger.now();
    await Promise.all(group.map((summary) => walk.adopt(summary, now)));
    group = [];
    onProgress?.(walk.adoption);
  };
  for await (const summary of operationsOf(ledger)) {
    if (signal?.aborted) break;
    group.push(summary);
    if (group.length >= batch) await adoptGroup();
  }
  if (group.length > 0) await adoptGroup();
  return walk.adoption;
}

class Walk {
  readonly #store: OperationStore;
  readonly #adopted = new Map<number, number>();
  #seen = 0;
  #sending = 0;
  #unreadable = 0;

  constructor(
    ledger: OperationLedger,
    private readonly epoch: number,
  ) {
    const executorId = `adoption-${randomUUID()}`;
    let intents = 0;
    this.#store = new OperationStore({ ledger, executorId, newId: () => `${executorId}:${intents++}` });
  }

  get adoption(): Adoption {
    return {
      epoch: this.epoch,
      seen: this.#seen,
      adopted: new Map(this.#adopted),
      sending: this.#sending,
      unreadable: this.#unreadable,
    };
  }

  async adopt({ operationId, state, snapshot }: OperationSummary, now: number): Promise<void> {
    this.#seen += 1;
    const opened = readable(operationId, snapshot);
    if (opened === null) this.#unreadable += 1;
    if (opened === null || opened.status === 'done' || opened.context.executionEpoch >= this.epoch) return;
    if (state === 'SUBMITTING.sending' && (await this.#isHeld(operationId, now))) {
      this.#sending += 1;
      return;
    }
    const applied = await this.#store.apply(operationId, {
      type: 'epoch.adopt',
      at: now,
      random: 0,
      executionEpoch: this.epoch,
    });
    const { executionEpoch } = opened.context;
    if (applied.kind === 'taken') this.#adopted.set(executionEpoch, (this.#adopted.get(executionEpoch) ?? 0) + 1);
  }

  async #isHeld(operationId: string, now: number): Promise<boolean> {
    const opened = await this.#store.load(operationId);
    return (opened?.record.lease?.until ?? 0) > now;
  }
}
