/**
 * load → transition → commit: the only writer of records. Events of one operation are applied first in, first out.
 * A lost race is loaded again and the event applied again (it may be stale by then: fine). A refused event writes nothing.
 */
import { z } from 'zod';
import type {
  AcceptAnswer,
  CommitAnswer,
  OperationLedger,
  PayloadWrite,
  Step,
  StoredRecord,
  Tombstone,
} from '../operation-ledger.ts';
import { ToolOperationContext } from '../tool-operation/context.ts';
import type { OperationEvent, TerminalAccept } from '../tool-operation/events.ts';
import { acceptFieldsOf } from '../tool-operation/guards.ts';
import { toolOperation } from '../tool-operation/machine.ts';
import { explainRefusal, type Refusal } from '../tool-operation/refusal.ts';
import {
  applyEvent,
  type OperationMachine,
  type OperationSnapshot,
  owedEffect,
  readRecord,
  stampedAt,
  statePath,
  writeSnapshot,
} from '../tool-operation/snapshot.ts';
import { uncertaintyOf } from '../tool-operation/uncertainty.ts';
import { type Log, silent, wordsOf } from './log.ts';
import { type TakenOver, takeOver } from './older-history.ts';
import type { RecordedEvent } from './recorded-event.ts';
import {
  countedUnder,
  measureCommit,
  measureLostRace,
  measureRefusal,
  measureRefusedAcceptance,
} from './telemetry/measure.ts';
import { EpochIsOver } from './tenure.ts';

/** A committed record, opened. */
export interface Opened {
  readonly record: StoredRecord;
  readonly snapshot: OperationSnapshot;
  /** What reading the record needs (R3). */
  readonly minReaderVersion: number;
}

export type Found =
  | { readonly kind: 'record'; readonly opened: Opened }
  | { readonly kind: 'purged'; readonly tombstone: Tombstone }
  | { readonly kind: 'none' };

export type Applied =
  | { readonly kind: 'taken'; readonly opened: Opened; readonly from: string }
  | { readonly kind: 'refused'; readonly opened: Opened; readonly refusal: Refusal }
  | { readonly kind: 'missing' };

export interface ApplyOptions {
  readonly payloads?: readonly PayloadWrite[];
  /** The caller holds the lease and goes on with the operation: keep it unless nothing is due. */
  readonly leaseOwner?: string;
  /** Whether the step gives the lease back: asked with what will be committed. */
  readonly releaseWhen?: (next: OperationSnapshot, at: number) => boolean;
}

export interface StoreOptions {
  readonly ledger: OperationLedger;
  readonly executorId: string;
  readonly newId: () => string;
  readonly machine?: OperationMachine;
  readonly log?: Log;
  /** The `minReaderVersion` to write; a record that needs more keeps what it needs. Default: 1, what every release reads. */
  readonly writes?: () => number;
  /** Told of each event that was applied, after its commit, and of each that was refused. */
  readonly record?: (recorded: RecordedEvent) => void;
}

export class OperationStore {
  readonly #ledger: OperationLedger;
  readonly #machine: OperationMachine;
  readonly #log: Log;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #foreign = new Set<(operationId: string) => void>();
  #unsubscribe: () => void = () => undefined;
  readonly #committed = new Set<(opened: Opened, from: string) => void>();
  readonly #refused = new Map<string, number>();
  /** Commits of this process whose nudge has not come back yet. */
  readonly #own = new Map<string, number>();

  constructor(private readonly options: StoreOptions) {
    this.#ledger = options.ledger;
    this.#machine = options.machine ?? toolOperation;
    this.#log = options.log ?? silent;
  }

  get machine(): OperationMachine {
    return this.#machine;
  }

  /** Refused events by the guard that said no. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  /** Told of each commit of this process, after it. Returns the unsubscribe. */
  onCommit(listener: (opened: Opened, from: string) => void): () => void {
    this.#committed.add(listener);
    return () => this.#committed.delete(listener);
  }

  /** Told of operations that another process changed. Lossy, as the nudges of the ledger are. Returns the unsubscribe. */
  onForeignChange(listener: (operationId: string) => void): () => void {
    if (this.#foreign.size === 0) this.#unsubscribe = this.#ledger.onChange((operationId) => this.#nudged(operationId));
    this.#foreign.add(listener);
    return () => {
      this.#foreign.delete(listener);
      if (this.#foreign.size === 0) this.#unsubscribe();
    };
  }

  /** A step of this process: the nudge that follows it is no news here, and may come before its answer. */
  async announcing<T>(operationId: string, step: () => Promise<T>): Promise<T> {
    if (this.#foreign.size === 0) return step();
    this.#own.set(operationId, (this.#own.get(operationId) ?? 0) + 1);
    try {
      return await step();
    } catch (error) {
      this.#isOwn(operationId);
      throw error;
    }
  }

  /** Whether a nudge of a step of this process was to come; it has come now, or never will. */
  #isOwn(operationId: string): boolean {
    const own = this.#own.get(operationId) ?? 0;
    if (own > 1) this.#own.set(operationId, own - 1);
    else this.#own.delete(operationId);
    return own > 0;
  }

  #nudged(operationId: string): void {
    if (this.#isOwn(operationId)) return;
    for (const listener of this.#foreign) listener(operationId);
  }

  open(record: StoredRecord): Opened {
    return { record, ...readRecord(record.operationId, record.snapshot, this.#machine) };
  }

  async load(operationId: string): Promise<Opened | null> {
    const record = await this.#ledger.load(operationId);
    return record && this.open(record);
  }

  /** The committed record, opened, or what is left of a purged one. */
  async find(operationId: string): Promise<Found> {
    const found = await this.#ledger.find(operationId);
    return found.kind === 'record' ? { kind: 'record', opened: this.open(found.record) } : found;
  }

  /** The `minReaderVersion` of a new record. */
  get writes(): number {
    return this.options.writes?.() ?? 1;
  }

  /** Applies one event to the committed record. `known` saves the load when it is still current. */
  apply(operationId: string, event: OperationEvent, options: ApplyOptions = {}, known?: Opened): Promise<Applied> {
    const before = this.#queues.get(operationId) ?? Promise.resolve();
    const mine = before.then(
      () => this.#apply(operationId, event, options, known),
      () => this.#apply(operationId, event, options),
    );
    this.#queues.set(operationId, mine);
    const forget = () => {
      if (this.#queues.get(operationId) === mine) this.#queues.delete(operationId);
    };
    mine.then(forget, forget);
    return mine;
  }

  async #apply(operationId: string, told: OperationEvent, options: ApplyOptions, known?: Opened): Promise<Applied> {
    let event = told;
    let opened = known ?? (await this.load(operationId));
    let mayBeOld = known !== undefined;
    let over: TakenOver | null = null;
    for (;;) {
      if (!opened) return { kind: 'missing' };
      const from = statePath(opened.snapshot);
      const next = applyEvent(this.#machine, opened.snapshot, over?.kind === 'first' ? over.event : event);
      if (next === opened.snapshot) {
        if (mayBeOld) {
          // What was refused against a remembered record may fit the committed one.
          const current = await this.load(operationId);
          mayBeOld = false;
          if (current && current.record.revision !== opened.record.revision) {
            opened = current;
            continue;
          }
        }
        this.#record(opened, event, null);
        return { kind: 'refused', opened, refusal: this.#countRefusal(opened, event) };
      }
      const stamped = stampedAt(next, event.at);
      const applied = over?.kind === 'first' ? over.event : event;
      const committed = await this.#commit(opened, stamped, from, applied, options, over?.how);
      if (committed === 'olderHistory') {
        over = takeOver(opened.snapshot, next, event);
        continue;
      }
      if (committed === 'switchedOff' || committed === 'creationOff') {
        // The chart says what becomes of a call that nobody may send any more, or not now.
        event = refusedByLedger(event, committed);
        continue;
      }
      if (committed) {
        measureCommit(opened, committed, applied);
        this.#record(opened, applied, committed);
        for (const listener of this.#committed) listener(committed, from);
        // A step beside whoever drives the operation is news to them, in this process too.
        if (options.leaseOwner === undefined) for (const listener of this.#foreign) listener(operationId);
        // A step that came first; to begin it was all that this event wanted.
        if (over?.kind !== 'first' || over.event.type === event.type) return { kind: 'taken', opened: committed, from };
        opened = committed;
        over = null;
        continue;
      }
      over = null;
      opened = await this.load(operationId);
      mayBeOld = false;
    }
  }

  /** `null`: the race was lost. Throws `EpochIsOver` where it would send something under an epoch that is over. */
  async #commit(
    opened: Opened,
    next: OperationSnapshot,
    from: string,
    event: OperationEvent,
    options: ApplyOptions,
    olderHistory: 'keep' | 'adopt' | undefined,
  ): Promise<Opened | 'switchedOff' | 'creationOff' | 'olderHistory' | null> {
    const { record } = opened;
    const { context } = next;
    // The last fence: what a record cannot hold must not become one, for nobody could open it again.
    const fits = fitsAfter(opened.snapshot.context, context);
    if (!fits.success) {
      const why = z.prettifyError(fits.error);
      throw new RangeError(
        `${event.type} would make a record that cannot be opened again: ${why}; nothing was written`,
      );
    }
    const state = statePath(next);
    const final = next.status === 'done';
    // What needed a newer reader once goes on to need it.
    const minReaderVersion = Math.max(opened.minReaderVersion, this.writes);
    const dueAt = final ? null : context.dueAt;
    const step = {
      operationId: record.operationId,
      commandId: this.options.newId(),
      snapshot: writeSnapshot(next, minReaderVersion),
      state,
      fields: acceptFieldsOf(context),
      scope: record.scope,
      dueAt,
      payloads: options.payloads ?? [],
      history: isQuiet(event, from, state)
        ? null
        : { at: event.at, event: event.type, from, to: state, executor: this.options.executorId, ...noteOf(event) },
    };
    const uncertainty = { before: uncertaintyOf(from), after: uncertaintyOf(state) };
    const releaseLease = options.releaseWhen?.(next, event.at) ?? false;
    // Who keeps the lease goes on by itself, and a line that nobody would read is waited for by nobody.
    const quiet = step.history === null && options.leaseOwner !== undefined && !releaseLease;
    const write = (): Promise<AcceptAnswer | CommitAnswer> =>
      final && event.type === 'terminal.accept'
        ? this.#accept(step, record, event, next)
        : this.#ledger.commit({
            ...step,
            quiet,
            ...(uncertainty.before === null && uncertainty.after === null ? {} : { uncertainty }),
            expectedRevision: record.revision,
            // What is taken over is not sent by anybody: it lets nothing be created.
            ...(owedEffect(next) === 'submit' && state !== from && olderHistory === undefined
              ? { creates: context.protocol }
              : {}),
            ...(olderHistory === undefined ? {} : { olderHistory }),
            ...(options.leaseOwner === undefined ? {} : { leaseOwner: options.leaseOwner, releaseLease }),
          });
    const answer = await (quiet ? write() : this.announcing(record.operationId, write));
    switch (answer.kind) {
      case 'committed':
      case 'accepted':
        if (final) setTimeout(() => this.#own.delete(record.operationId), 1_000).unref();
        return {
          record: {
            ...record,
            revision: answer.revision,
            snapshot: step.snapshot,
            state,
            dueAt,
            lease: releaseLease || final ? null : record.lease,
          },
          snapshot: next,
          minReaderVersion,
        };
      case 'switchedOff':
      case 'creationOff':
      case 'olderHistory':
        return answer.kind;
      case 'epochOver':
        throw new EpochIsOver(context.executionEpoch, answer.epoch);
      case 'duplicate':
        // Somebody else accepted it first: a lost race, if the record says so too.
        if ((await this.load(record.operationId))?.snapshot.status === 'done') {
          measureLostRace(context, event);
          return null;
        }
        measureRefusedAcceptance(context, answer.kind);
        throw new Error(`the ledger refused the acceptance of ${record.operationId}: it has a receipt already`);
      case 'mismatch':
        measureRefusedAcceptance(context, answer.field);
        throw new Error(
          `the ledger refused the acceptance of ${record.operationId}: field ${answer.field} does not match`,
        );
      default:
        measureLostRace(context, event);
        this.#log({
          level: 'debug',
          event: 'commit.race-lost',
          operationId: record.operationId,
          detail: { state: from, by: event.type },
        });
        return null;
    }
  }

  async #accept(
    step: Step,
    record: StoredRecord,
    event: TerminalAccept,
    next: OperationSnapshot,
  ): Promise<AcceptAnswer> {
    const receipt = next.output;
    if (!receipt) throw new Error('a final state without a receipt');
    return this.#ledger.acceptTerminal({
      ...step,
      expectedRevision: record.revision,
      expected: event.expected,
      receipt: JSON.stringify(receipt),
      receiptId: receipt.receiptId,
    });
  }

  /** Whoever writes it down may fail: the operation does not. */
  #record({ record: { operationId, revision, snapshot } }: Opened, event: OperationEvent, after: Opened | null): void {
    const { record } = this.options;
    if (!record) return;
    const what = { operationId, revision, before: snapshot, event, after: after?.record.snapshot ?? null };
    try {
      record({ schema: 'toolop.recordedEvent', version: 1, ...what });
    } catch (error) {
      this.#log({ level: 'warn', event: 'event.not-recorded', operationId, detail: { why: wordsOf(error) } });
    }
  }

  #countRefusal(opened: Opened, event: OperationEvent): Refusal {
    const refusal = explainRefusal(this.#machine, opened.snapshot, event);
    measureRefusal(opened.snapshot.context, refusal);
    for (const guard of countedUnder(refusal)) this.#refused.set(guard, (this.#refused.get(guard) ?? 0) + 1);
    if ('claims' in event) this.#noteRefused(opened, event, refusal);
    this.#log({
      level: 'debug',
      event: 'event.refused',
      operationId: opened.record.operationId,
      detail: { type: event.type, why: refusal.text },
    });
    return refusal;
  }

  /** For whoever asks later what happened to the call. Nobody waits for it, and nothing depends on it. */
  #noteRefused({ record }: Opened, { type, at }: OperationEvent, refusal: Refusal): void {
    const { operationId, revision } = record;
    const refused = countedUnder(refusal);
    const place = { at, event: type, from: refusal.state, to: refusal.state, executor: this.options.executorId };
    this.#ledger.noteRefused(operationId, revision, { ...place, refused }).catch((error: unknown) => {
      this.#log({ level: 'debug', event: 'refusal.not-noted', operationId, detail: { why: wordsOf(error) } });
    });
  }
}

/** Whether a context is one after a step: what the step left alone was checked when it came. */
function fitsAfter(before: ToolOperationContext, after: ToolOperationContext) {
  const { shape } = ToolOperationContext;
  const same = (name: string) => Object.is(Reflect.get(before, name), Reflect.get(after, name));
  const fit = Object.entries(after).every(
    ([name, value]) => same(name) || (name in shape && shape[name as keyof typeof shape].safeParse(value).success),
  );
  return fit ? FITS : ToolOperationContext.safeParse(after);
}
const FITS = { success: true } as const;

/** The ledger says that the adapter of this step is not active (R4), or that nothing is to be created now (R3). */
function refusedByLedger(event: OperationEvent, why: 'switchedOff' | 'creationOff'): OperationEvent {
  if (event.type !== 'submit.begin') throw new Error(`${event.type} lets nothing be created`);
  return why === 'switchedOff' ? { ...event, adapterEnded: true } : { ...event, creationAllowed: false };
}

/** An unchanged status is the common case of a long wait, and a parked operation asks for ever: neither leaves a line. */
function isQuiet(event: OperationEvent, from: string, to: string): boolean {
  if (from !== to) return false;
  return event.type === 'poll.status' || (from.startsWith('PARKED') && /^(poll|lookup)\./.test(event.type));
}

function noteOf(event: OperationEvent): { note?: string } {
  if ('reason' in event && event.reason) return { note: event.reason.slice(0, 500) };
  if ('task' in event) return { note: event.task.status };
  return {};
}
