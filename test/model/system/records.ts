/**
 * Records and what is done to them, each once: snapshots are numbered, and every step of the production chart and every
 * performance of the production executor is kept under the numbers it depends on.
 */
import { effects as production } from '../../../machines/actor/effects/index.ts';
import type { Payload } from '../../../machines/operation-protocol.ts';
import type { ParkReason } from '../../../machines/tool-operation/context.ts';
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import type { Effect } from '../../../machines/tool-operation/machine.ts';
import { toolOperation } from '../../../machines/tool-operation/machine.ts';
import type { TerminalReceipt } from '../../../machines/tool-operation/receipt.ts';
import {
  applyEvent,
  newOperation,
  type OperationMachine,
  type OperationSnapshot,
  owedEffect,
  statePath,
} from '../../../machines/tool-operation/snapshot.ts';
import { abstracted, CURSOR, DEADLINES, type Deadline, ROUND, withContext } from './abstraction.ts';
import { type Effects, type Method, type Performance, perform, type Situation } from './performance.ts';
import { type AnswerCode, type Contract, capabilitiesOf, outcomeOf } from './server.ts';
import { firstContext } from './values.ts';

/** A number of a snapshot. */
export type RecordId = number;

/** What the model reads of a record, looked up once. */
export interface KnownRecord {
  readonly id: RecordId;
  readonly snapshot: OperationSnapshot;
  readonly path: string;
  readonly effect: Effect | null;
  readonly done: boolean;
  readonly receipt: TerminalReceipt | null;
  readonly parked: ParkReason | null;
}

export interface StepTaken {
  readonly to: RecordId;
  readonly taken: boolean;
  readonly cursorMoved: boolean;
  readonly roundMoved: boolean;
}

/** Thrown where a performance is not known yet: await it and ask again. */
export class NotPerformedYet extends Error {
  constructor(readonly known: Promise<void>) {
    super('not performed yet');
  }
}

/** What became of writing an answer: on the wire, provably not, or nobody knows. */
export type Written = true | false | 'throws';

export class Records {
  readonly #all: KnownRecord[] = [];
  readonly #ids = new Map<string, RecordId>();
  readonly #events = new Map<string, number>();
  readonly #steps = new Map<string, StepTaken>();
  readonly #performances = new Map<string, Performance>();
  readonly #times = new Map<string, RecordId | null>();

  constructor(
    readonly machine: OperationMachine = toolOperation,
    private readonly effects: Effects = production,
  ) {}

  get size(): number {
    return this.#all.length;
  }
  get steps(): number {
    return this.#steps.size;
  }

  get(id: RecordId): KnownRecord {
    return this.#all[id] as KnownRecord;
  }

  first(contract: Contract): RecordId {
    return this.#idOf(newOperation(firstContext(capabilitiesOf(contract)), this.machine));
  }

  /** One event of the chart; `stale`: issued before the cursor, or the round, moved. */
  apply(id: RecordId, event: OperationEvent, staleCursor: boolean, staleRound: boolean): StepTaken {
    const fresh = JSON.stringify(event);
    let number = this.#events.get(fresh);
    if (number === undefined) {
      number = this.#events.size;
      this.#events.set(fresh, number);
    }
    const key = `${id} ${number} ${staleCursor ? 1 : 0}${staleRound ? 1 : 0}`;
    const known = this.#steps.get(key);
    if (known) return known;
    const { snapshot } = this.get(id);
    const told =
      'claims' in event && (staleCursor || staleRound)
        ? {
            ...event,
            claims: {
              ...event.claims,
              pollCursor: CURSOR - (staleCursor ? 1 : 0),
              inputRound: ROUND - (staleRound ? 1 : 0),
            },
          }
        : event;
    const next = applyEvent(this.machine, snapshot, told);
    const step = {
      to: next === snapshot ? id : this.#idOf(next),
      taken: next !== snapshot,
      cursorMoved: next.context.pollCursor !== CURSOR,
      roundMoved: next.context.inputRound !== ROUND,
    };
    this.#steps.set(key, step);
    return step;
  }

  /** The record after a deadline passed; `null` where it has none to pass. */
  passed(id: RecordId, deadline: Deadline): RecordId | null {
    const key = `${id} ${deadline}`;
    const known = this.#times.get(key);
    if (known !== undefined) return known;
    const { snapshot } = this.get(id);
    const change = DEADLINES[deadline](snapshot.context);
    const to = change ? this.#idOf(withContext(snapshot, { ...snapshot.context, ...change })) : null;
    this.#times.set(key, to);
    return to;
  }

  /** Throws `NotPerformedYet` the first time. `answer`: `null` for none. */
  perform(
    id: RecordId,
    effect: Effect,
    situation: Situation,
    answer: { readonly code: AnswerCode; readonly method: Method } | Written | null,
    result: Payload,
  ): Performance {
    const what = typeof answer === 'object' && answer !== null ? `${answer.method} ${answer.code}` : String(answer);
    const key = `${id} ${effect} ${Object.values(situation).join()} ${what} ${result.kind}`;
    const known = this.#performances.get(key);
    if (known) return known;
    const given =
      answer === null ? undefined : typeof answer === 'object' ? outcomeOf(answer.code, answer.method) : answer;
    throw new NotPerformedYet(
      perform(this.effects, this.get(id).snapshot, effect, situation, given, result).then((performance) => {
        this.#performances.set(key, performance);
      }),
    );
  }

  #idOf(raw: OperationSnapshot): RecordId {
    const snapshot = withContext(raw, abstracted(raw.context));
    const path = statePath(snapshot);
    const key = `${path} ${JSON.stringify(snapshot.context)}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#all.length;
    if (id > 0xffff) throw new Error('more than 65,536 records: something counts without end');
    this.#ids.set(key, id);
    this.#all.push({
      id,
      snapshot,
      path,
      effect: snapshot.status === 'done' ? null : owedEffect(snapshot),
      done: snapshot.status === 'done',
      receipt: raw.output ?? null,
      parked: snapshot.context.parked?.reason ?? null,
    });
    return id;
  }
}
