/**
 * One operation under one lease: runs what its committed state owes, turns the outcome into a fact, has it committed,
 * and goes on while something is due. Leaves when nothing is due, unless an input channel has to be held open here.
 */
import { randomUUID } from 'node:crypto';
import { LedgerUnavailable } from '../operation-ledger.ts';
import { EndpointUnavailable } from '../operation-protocol.ts';
import type { Effect } from '../tool-operation/machine.ts';
import { type OperationSnapshot, owedEffect } from '../tool-operation/snapshot.ts';
import { ServerGone } from './connections.ts';
import { effects } from './effects/index.ts';
import { type Environment, issuedNow, stampOf } from './environment.ts';
import type { Issued, Told } from './facts.ts';
import { HeldInput } from './held-input.ts';
import { applyKept } from './keep.ts';
import { HeldLease } from './lease.ts';
import { wordsOf } from './log.ts';
import type { ApplyOptions, Opened } from './store.ts';
import { inStep } from './telemetry/steps.ts';
import { EpochIsOver } from './tenure.ts';

/** Effects that last on a channel: the operation stays with the process that holds it while they do. */
const ON_CHANNEL: ReadonlySet<Effect> = new Set(['listen', 'holdInput', 'sendInput', 'deliverInput']);
/** How soon a look at the ledger that failed is tried again, ms. */
const LOOK_AGAIN_MS = 500;

/** After a fault of ours, or one of the ledger, an operation is not taken up again sooner than this, ms. */
export const FAULT_MS = 30_000;
const RETRY_MS = 500;
/** What was committed as long ago as this, ms, is not sent without another look at the epoch: the process may have been stopped. */
const FRESH_MS = 250;

/** A reason that is made once: without one each abort makes an error. */
const ENDED = 'nobody waits for the answer any more';

/** The effect that is being performed. */
interface Running {
  readonly name: Effect;
  readonly abort: AbortController;
  /** Somebody spoke, and the record is being looked at. */
  looksAgain: boolean;
}

export class OperationDrive {
  readonly lease: HeldLease;
  readonly input: HeldInput;
  opened: Opened;
  /** Monotonic time of each name that was given to a write of this drive and not used yet. */
  readonly #senders = new Map<string, number>();
  /** The same, of the name that is being used. */
  #namedAt = 0;
  readonly stopping: AbortSignal;
  #running: Running | null = null;
  /** Somebody spoke since the record was looked at last. */
  #woken = false;
  #released = false;

  constructor(
    readonly env: Environment,
    opened: Opened,
    askedAt: number,
    stopping: AbortSignal,
    /** The call as the ledger keeps it, where this process wrote it. */
    readonly requestText: string | null,
  ) {
    this.opened = opened;
    this.stopping = stopping;
    this.lease = new HeldLease(env, opened.record, askedAt, (revision) => {
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
    this.#woken = true;
    if (this.#running && !this.#running.looksAgain) void this.#lookForOtherEffect(this.#running);
  }

  issue(): Issued {
    return issuedNow(this.env, this.context);
  }

  /**
   * Has one event committed as the holder of the lease. While the ledger is away it is kept and tried again: what a
   * server said once may not be had a second time.
   */
  async tell(told: Told, options: ApplyOptions = {}): Promise<boolean> {
    const applied = await applyKept(
      this.env,
      this.operationId,
      told,
      this.stopping,
      { leaseOwner: this.env.executorId, ...options },
      this.opened,
    );
    if (applied.kind === 'missing') throw new Error(`the record of ${this.operationId} is gone`);
    this.opened = applied.opened;
    if (applied.kind === 'refused') return false;
    if (options.releaseWhen && applied.opened.record.lease === null) this.#released = true;
    return true;
  }

  /** Evidence that came after its effect had ended: taken in from wherever the record is by then. */
  tellLate(evidence: Promise<Told>): void {
    evidence
      .then((told) => applyKept(this.env, this.operationId, told, this.stopping))
      .catch((error: Error) => {
        this.env.log({
          level: 'error',
          event: 'late-answer.lost',
          operationId: this.operationId,
          detail: { why: wordsOf(error) },
        });
      });
  }

  /** A name for one write to the wire. The record will hold the name of whoever was committed as its writer. */
  newSender(): string {
    const sender = randomUUID();
    this.#senders.set(sender, this.env.clock.monotonic());
    return sender;
  }

  /** A human of this process is asked, or a channel is held open: nobody else can go on with it meanwhile. */
  #isResident(effect: Effect): boolean {
    if (this.context.capabilities.input === 'channel') return ON_CHANNEL.has(effect);
    return effect === 'holdInput' && this.env.approval !== null;
  }

  /** The operation can wait without this process: what it owes is due later, and needs nobody to stay. */
  readonly #nothingToDoHere = (next: OperationSnapshot, at: number): boolean => {
    const effect = owedEffect(next);
    if (effect === null || next.status === 'done') return true;
    return !this.#isResident(effect) && (next.context.dueAt ?? Number.POSITIVE_INFINITY) > at;
  };

  #isSender(): boolean {
    return this.context.sender !== null && this.#senders.has(this.context.sender);
  }

  /** Whether the committed writer is this very drive and has not written yet; true once per name. */
  becomesSender(): boolean {
    const { sender } = this.context;
    const named = sender === null ? undefined : this.#senders.get(sender);
    if (sender === null || named === undefined) return false;
    this.#namedAt = named;
    return this.#senders.delete(sender);
  }

  /**
   * Right before a call is written: whether this executor is still at work, under an epoch that is not over (R3). A process
   * that was stopped since the commit, or waited for a place, may not have heard of a raise, so it looks.
   */
  async maySend(): Promise<boolean> {
    const { tenure, clock } = this.env;
    if (clock.monotonic() - this.#namedAt > FRESH_MS) await tenure.look();
    return !tenure.over.aborted && !this.stopping.aborted;
  }

  async run(): Promise<void> {
    let notBefore = 0;
    // A shutdown waits for the answer to a submission: giving up on it would make its outcome unknown.
    const stop = () => this.#running?.name !== 'submit' && this.#running?.abort.abort(ENDED);
    this.stopping.addEventListener('abort', stop);
    try {
      await this.#adoptEpoch();
      while (!this.#released) {
        if (this.context.executionEpoch > this.env.executionEpoch)
          throw new EpochIsOver(this.env.executionEpoch, this.context.executionEpoch);
        const effect = owedEffect(this.opened.snapshot);
        const isSender = effect === 'submit' && this.#isSender();
        // Nobody else knows that a call was not written yet: its sender says so before it leaves.
        if (this.stopping.aborted && !isSender) break;
        this.input.keepOnlyFor(effect);
        if (effect === null || this.opened.snapshot.status === 'done') break;
        const resident = this.#isResident(effect);
        const wait = (this.context.dueAt ?? Number.POSITIVE_INFINITY) - this.env.time.now();
        if (!resident && wait > 0) break;
        // Nobody is asked here and nothing is held: an answer of somebody else makes it due, or its deadline.
        if (!resident && effect === 'holdInput') notBefore = (this.context.input?.deadline ?? 0) + 1;
        if (notBefore > this.env.time.now()) break;
        // Whoever was committed as the sender goes on without a lease: what became of the call is its to tell.
        if (!this.lease.isHeld() && !isSender) return;
        await inStep(this.env, this.opened, effect, () => this.#perform(effect));
      }
    } catch (error) {
      if (error instanceof LedgerUnavailable) notBefore = this.env.time.now() + RETRY_MS;
      else if (!(error instanceof EpochIsOver)) notBefore = this.env.time.now() + FAULT_MS;
      throw error;
    } finally {
      this.stopping.removeEventListener('abort', stop);
      this.lease.end();
      this.input.close();
      if (!this.#released) await this.#release(notBefore);
    }
  }

  async #perform(effect: Effect): Promise<void> {
    const running: Running = { name: effect, abort: new AbortController(), looksAgain: false };
    this.#running = running;
    if (this.#woken) void this.#lookForOtherEffect(running);
    const issued = this.issue();
    try {
      const facts = await effects[effect](this, issued, running.abort.signal);
      let taken = facts.length === 0;
      for (const [index, fact] of facts.entries()) {
        const last = index === facts.length - 1;
        if (await this.tell(fact, last ? { releaseWhen: this.#nothingToDoHere } : {})) taken = true;
      }
      // What the chart does not take must not be asked again at once.
      if (!taken) await this.env.clock.sleep(this.context.policy.minPollIntervalMs, this.stopping);
    } catch (error) {
      await this.#explain(error, effect, issued);
    } finally {
      this.#running = null;
      // What the adapter goes on with by itself knows by it that nobody waits here.
      running.abort.abort(ENDED);
    }
  }

  /** A command of another process may change what is owed: stop waiting for the old answer then (never for a submission's). */
  async #lookForOtherEffect(running: Running): Promise<void> {
    running.looksAgain = true;
    while (this.#woken && this.#running === running && !running.abort.signal.aborted) {
      this.#woken = false;
      const current = await this.env.store.load(this.operationId).catch(() => null);
      if (!current) {
        // The ledger is away, or its record cannot be read now: whoever stopped listening would not hear of anything any more.
        this.#woken = true;
        await this.env.clock.sleep(LOOK_AGAIN_MS, running.abort.signal);
        continue;
      }
      if (this.#running !== running || running.abort.signal.aborted) break;
      const changed = Number(current.record.revision) > Number(this.opened.record.revision);
      const outdated = this.#isResident(running.name) || (changed && owedEffect(current.snapshot) !== running.name);
      if (outdated && running.name !== 'submit') {
        if (changed) this.opened = current;
        running.abort.abort(ENDED);
      }
    }
    running.looksAgain = false;
  }

  async #explain(error: unknown, effect: Effect, issued: Issued): Promise<void> {
    const stamp = stampOf(this.env);
    const base = { ...stamp, claims: issued.claims };
    if (error instanceof ServerGone) {
      await this.tell(
        { event: { ...base, type: 'server.gone', reason: error.message }, payloads: [] },
        { releaseWhen: this.#nothingToDoHere },
      );
      return;
    }
    if (error instanceof EndpointUnavailable) {
      if (error.sessionLost) this.env.connections.loseSession(this.context);
      await this.tell(
        { event: { ...base, ...unreachable(effect, error.message) }, payloads: [] },
        { releaseWhen: this.#nothingToDoHere },
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

  async #release(notBefore: number): Promise<void> {
    const { lease, revision } = this.opened.record;
    if (lease === null) return;
    const dueAt = this.context.dueAt === null ? null : Math.max(this.context.dueAt, notBefore);
    try {
      await this.env.ledger.releaseLease(this.operationId, this.env.executorId, lease.epoch, dueAt, revision);
    } catch (error) {
      const detail = { why: wordsOf(error) };
      this.env.log({ level: 'warn', event: 'lease.release-failed', operationId: this.operationId, detail });
    }
  }
}

/** Nothing was sent: the same fact as an answer that never came, for the effect that was owed. */
export function unreachable(effect: Effect, reason: string) {
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
