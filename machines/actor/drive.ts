/**
 * One operation under one lease: runs what its committed state owes, turns the outcome into a fact, has it committed,
 * and goes on while something is due. Leaves when nothing is due, unless an input channel has to be held open here.
 */
import { LedgerUnavailable, type StoredRecord } from '../operation-ledger.ts';
import { EndpointUnavailable } from '../operation-protocol.ts';
import type { OperationEvent } from '../tool-operation/events.ts';
import type { Effect } from '../tool-operation/machine.ts';
import { type OperationSnapshot, owedEffect, statePath } from '../tool-operation/snapshot.ts';
import { ServerGone } from './connections.ts';
import { effects } from './effects/index.ts';
import { type Environment, stampOf } from './environment.ts';
import { claimsOf, type Issued, type Told } from './facts.ts';
import { HeldInput } from './held-input.ts';
import { HeldLease } from './lease.ts';
import type { ApplyOptions, Opened } from './store.ts';

/** States whose effect lasts: the operation stays with this process while they do. */
const RESIDENT: ReadonlySet<Effect> = new Set(['listen', 'holdInput', 'sendInput', 'deliverInput']);

const KEPT_FACT_RETRY_MS = 500;

export class OperationDrive {
  readonly lease: HeldLease;
  readonly input: HeldInput;
  opened: Opened;
  /** The attempt that this very drive took off the queue: only it may send it. */
  begunAttempt: number | null = null;
  /** The round whose answer this very drive took to the wire: only it may write it. */
  begunRound: number | null = null;
  readonly #stopping: AbortSignal;
  #effect: { readonly name: Effect; readonly abort: AbortController } | null = null;
  #wake = new AbortController();
  #released = false;

  constructor(
    readonly env: Environment,
    record: StoredRecord,
    askedAt: number,
    stopping: AbortSignal,
  ) {
    this.opened = env.store.open(record);
    this.#stopping = stopping;
    this.lease = new HeldLease(env, record, askedAt, (revision) => {
      if (revision !== this.opened.record.revision) this.wake();
    });
    this.input = new HeldInput(this);
  }

  get operationId(): string {
    return this.opened.record.operationId;
  }

  get context() {
    return this.opened.snapshot.context;
  }

  /** Somebody else changed the record (a command), or a channel spoke: look again. */
  wake(): void {
    this.#wake.abort();
  }

  issue(): Issued {
    return { claims: claimsOf(this.context, this.env.executionEpoch), sentAt: this.env.time.now() };
  }

  /**
   * Has one event committed as the holder of the lease. While the ledger is away it is kept and tried again: what a
   * server said once may not be had a second time.
   */
  async tell({ event, payloads }: Told, options: ApplyOptions = {}): Promise<boolean> {
    const { store, executorId, clock } = this.env;
    for (;;) {
      try {
        const applied = await store.apply(
          this.operationId,
          event,
          { payloads, leaseOwner: executorId, ...options },
          this.opened,
        );
        if (applied.kind === 'missing') throw new Error(`the record of ${this.operationId} is gone`);
        this.opened = applied.opened;
        if (applied.kind === 'taken' && options.releaseWhen && applied.opened.record.lease === null)
          this.#released = true;
        if (applied.kind === 'taken') this.#noteBegun(event.type);
        return applied.kind === 'taken';
      } catch (error) {
        if (!(error instanceof LedgerUnavailable) || this.#stopping.aborted) throw error;
        this.env.log({
          level: 'warn',
          event: 'fact.kept',
          operationId: this.operationId,
          detail: { type: event.type, why: error.message },
        });
        await clock.sleep(KEPT_FACT_RETRY_MS, this.#stopping);
      }
    }
  }

  /** Only a step that was committed as ours makes us the sender: the same state reached by another's step does not. */
  #noteBegun(type: OperationEvent['type']): void {
    if (type === 'submit.begin') this.begunAttempt = this.context.attempt;
    if (type === 'input.send') this.begunRound = this.context.inputRound;
  }

  async run(): Promise<void> {
    try {
      await this.#adoptEpoch();
      while (!this.#stopping.aborted && !this.#released) {
        const effect = owedEffect(this.opened.snapshot);
        this.input.keepOnlyFor(effect);
        if (effect === null || this.opened.snapshot.status === 'done') break;
        const resident = RESIDENT.has(effect);
        const wait = (this.context.dueAt ?? Number.POSITIVE_INFINITY) - this.env.time.now();
        if (!resident && wait > 0) break;
        if (!this.lease.isHeld() && effect !== 'submit') return;
        await this.#perform(effect);
      }
    } finally {
      this.lease.end();
      this.input.close();
      if (!this.#released) await this.#release();
    }
  }

  async #perform(effect: Effect): Promise<void> {
    const abort = new AbortController();
    this.#effect = { name: effect, abort };
    const watch = this.#watchForOtherEffect(abort);
    const issued = this.issue();
    try {
      // A shutdown waits for the answer to a submission: giving up on it would make its outcome unknown.
      const signal = effect === 'submit' ? abort.signal : AbortSignal.any([abort.signal, this.#stopping]);
      const facts = await effects[effect](this, issued, signal);
      for (const [index, fact] of facts.entries()) {
        await this.tell(fact, index === facts.length - 1 ? { releaseWhen: nothingToDoHere } : {});
      }
    } catch (error) {
      await this.#explain(error, effect, issued);
    } finally {
      this.#effect = null;
      abort.abort();
      await watch;
    }
  }

  /** A command of another process may change what is owed: stop waiting for the old answer then (never for a submission's). */
  async #watchForOtherEffect(running: AbortController): Promise<void> {
    while (!running.signal.aborted) {
      const woken = this.#wake.signal;
      if (!woken.aborted) await untilAborted(AbortSignal.any([woken, running.signal]));
      if (running.signal.aborted) return;
      this.#wake = new AbortController();
      const current = await this.env.store.load(this.operationId).catch(() => null);
      if (!current || this.#effect === null || running.signal.aborted) return;
      const { name } = this.#effect;
      const changed = current.record.revision !== this.opened.record.revision;
      const outdated = RESIDENT.has(name) || (changed && owedEffect(current.snapshot) !== name);
      if (outdated && name !== 'submit') {
        if (changed) this.opened = current;
        running.abort();
        return;
      }
    }
  }

  async #explain(error: unknown, effect: Effect, issued: Issued): Promise<void> {
    const stamp = stampOf(this.env);
    const base = { ...stamp, claims: issued.claims };
    if (error instanceof ServerGone) {
      await this.tell({ event: { ...base, type: 'server.gone', reason: error.message }, payloads: [] });
      return;
    }
    if (error instanceof EndpointUnavailable) {
      if (error.sessionLost) await this.env.connections.loseSession(this.context);
      await this.tell(
        { event: { ...base, ...unreachable(effect, error.message) }, payloads: [] },
        { releaseWhen: nothingToDoHere },
      );
      return;
    }
    throw error;
  }

  async #adoptEpoch(): Promise<void> {
    if (this.context.executionEpoch >= this.env.executionEpoch) return;
    await this.tell({
      event: { ...stampOf(this.env), type: 'epoch.adopt', executionEpoch: this.env.executionEpoch },
      payloads: [],
    });
  }

  async #release(): Promise<void> {
    const { record } = this.opened;
    if (record.lease === null) return;
    const current = await this.env.ledger.load(this.operationId).catch(() => null);
    const dueAt = current ? current.dueAt : this.context.dueAt;
    await this.env.ledger
      .releaseLease(this.operationId, this.env.executorId, record.lease.epoch, dueAt)
      .catch((error: Error) => {
        this.env.log({
          level: 'warn',
          event: 'lease.release-failed',
          operationId: this.operationId,
          detail: { why: error.message },
        });
      });
  }

  /** For the log: where the operation stands. */
  describe(): string {
    return statePath(this.opened.snapshot);
  }
}

/** The operation can wait without this process: what it owes is due later, and needs no channel held open. */
function nothingToDoHere(next: OperationSnapshot, at: number): boolean {
  const effect = owedEffect(next);
  if (effect === null || next.status === 'done') return true;
  return !RESIDENT.has(effect) && (next.context.dueAt ?? Number.POSITIVE_INFINITY) > at;
}

/** Nothing was sent: the same fact as an answer that never came, for the effect that was owed. */
function unreachable(effect: Effect, reason: string) {
  switch (effect) {
    case 'beginSubmit':
    case 'submit':
      return { type: 'submit.notSent', reason } as const;
    case 'lookup':
      return { type: 'lookup.failed', reason } as const;
    case 'fetchResult':
      return { type: 'result.failed', reason } as const;
    case 'sendCancel':
      return { type: 'cancel.unanswered', reason } as const;
    default:
      return { type: 'poll.failed', reason } as const;
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
