/**
 * One operation under one lease: runs what its committed state owes, turns the outcome into a fact, has it committed,
 * and goes on while something is due. Leaves when nothing is due, unless an input channel has to be held open here.
 */
import type { StoredRecord } from '../operation-ledger.ts';
import { EndpointUnavailable } from '../operation-protocol.ts';
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

  /** Has one event committed as the holder of the lease. */
  async tell({ event, payloads }: Told, options: ApplyOptions = {}): Promise<boolean> {
    const applied = await this.env.store.apply(
      this.operationId,
      event,
      { payloads, leaseOwner: this.env.executorId, ...options },
      this.opened,
    );
    if (applied.kind === 'missing') throw new Error(`the record of ${this.operationId} is gone`);
    this.opened = applied.opened;
    if (applied.kind === 'taken' && options.releaseWhen && applied.opened.record.lease === null) this.#released = true;
    return applied.kind === 'taken';
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
        await this.#perform(effect, resident);
      }
    } finally {
      this.lease.end();
      this.input.close();
      if (!this.#released) await this.#release();
    }
  }

  async #perform(effect: Effect, resident: boolean): Promise<void> {
    const abort = new AbortController();
    this.#effect = { name: effect, abort };
    const watch = this.#watchForOtherEffect(abort);
    const issued = this.issue();
    try {
      const facts = await effects[effect](this, issued, AbortSignal.any([abort.signal, this.#stopping]));
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
      const changed = current.record.revision !== this.opened.record.revision;
      const resident = RESIDENT.has(this.#effect.name);
      if (
        changed &&
        this.#effect.name !== 'submit' &&
        (resident || owedEffect(current.snapshot) !== this.#effect.name)
      ) {
        this.opened = current;
        running.abort();
        return;
      }
      if (resident) {
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
