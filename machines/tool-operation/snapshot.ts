/**
 * The way of a record through the chart, pure: open it, apply an event, write it down.
 * What a stored text says is validated before it becomes a snapshot (a missing field would become `NaN` later, and
 * xstate restores an unknown state without a word).
 */
import { type AnyActorScope, createActor, initialTransition, type SnapshotFrom } from 'xstate';
import { z } from 'zod';
import { LedgerIncompatible } from '../operation-ledger.ts';
import { MACHINE_VERSION, READER_VERSION, RECORD_SCHEMA, ToolOperationContext } from './context.ts';
import { OPERATION_EVENT_TYPES, type OperationEvent } from './events.ts';
import { type Effect, toolOperation } from './machine.ts';

export type OperationSnapshot = SnapshotFrom<typeof toolOperation>;
/** The chart, or a variant of it with other guards (tests prove by it that the chart decides). */
export type OperationMachine = typeof toolOperation;

const StoredSnapshot = z.strictObject({
  schema: z.literal(RECORD_SCHEMA),
  machineVersion: z.number().int(),
  /** Absent: 1. Records of version 1 do not say it, because their readers would not know it. */
  minReaderVersion: z.number().int().min(1).optional(),
  value: z.union([z.string(), z.record(z.string(), z.string())]),
  context: z.unknown(),
});
const Versioned = z.looseObject({
  schema: z.string(),
  machineVersion: z.number(),
  minReaderVersion: z.number().optional(),
});

/** The snapshot of a new call node, in SUBMITTING / queued. Throws a `ZodError` for a context that is not one. */
export function newOperation(
  context: ToolOperationContext,
  machine: OperationMachine = toolOperation,
): OperationSnapshot {
  const [snapshot] = initialTransition(machine, ToolOperationContext.parse(context));
  if (snapshot.status !== 'active') throw new Error(`a new operation did not start: ${String(snapshot.error)}`);
  return snapshot;
}

/** The stored form: JSON text, opaque to the ledger. `minReaderVersion`: 1 to `READER_VERSION`. */
export function writeSnapshot(snapshot: OperationSnapshot, minReaderVersion = 1): string {
  return JSON.stringify({
    schema: RECORD_SCHEMA,
    machineVersion: MACHINE_VERSION,
    ...(minReaderVersion === 1 ? {} : { minReaderVersion }),
    value: snapshot.value,
    context: snapshot.context,
  });
}

export interface ReadRecord {
  readonly snapshot: OperationSnapshot;
  /** What the record needs: whoever writes it again needs no less. */
  readonly minReaderVersion: number;
}

export function readSnapshot(
  operationId: string,
  text: string,
  machine: OperationMachine = toolOperation,
): OperationSnapshot {
  return readRecord(operationId, text, machine).snapshot;
}

/**
 * Throws `LedgerIncompatible` for a record of another version or shape; nothing is changed by trying. A field that this
 * release does not know is refused, too, at any version: a step taken without knowing what it means could make it a lie, and
 * a writer that adds one raises `minReaderVersion`.
 */
export function readRecord(operationId: string, text: string, machine: OperationMachine = toolOperation): ReadRecord {
  const where = `record ${operationId}`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new LedgerIncompatible(
      `${where} is not JSON; it was left untouched. Restore it from a backup or give the operation up.`,
    );
  }
  const versioned = Versioned.safeParse(json);
  if (
    versioned.success &&
    (versioned.data.schema !== RECORD_SCHEMA || versioned.data.machineVersion > MACHINE_VERSION)
  ) {
    throw new LedgerIncompatible(
      `${where} was written by a newer version (${versioned.data.schema}, machine ${versioned.data.machineVersion}; this one reads ${RECORD_SCHEMA}, machine ${MACHINE_VERSION}); it was left untouched. Upgrade this executor.`,
    );
  }
  const needed = versioned.data?.minReaderVersion ?? 1;
  if (needed > READER_VERSION) {
    throw new LedgerIncompatible(
      `${where} needs a reader of version ${needed}, this one is of version ${READER_VERSION}; it was left untouched. Upgrade this executor.`,
    );
  }
  const stored = checked(where, StoredSnapshot, json);
  const context = checked(where, ToolOperationContext, stored.context);
  try {
    const snapshot = machine.resolveState({ value: stored.value, context });
    return { snapshot, minReaderVersion: stored.minReaderVersion ?? 1 };
  } catch (error) {
    throw new LedgerIncompatible(
      `${where} is in a state that this version does not have: ${(error as Error).message}; it was left untouched.`,
    );
  }
}

function checked<T extends z.ZodType>(where: string, schema: T, value: unknown): z.output<T> {
  let why: string;
  try {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    why = z.prettifyError(parsed.error);
  } catch (error) {
    // A check of a length reads the `length` of anything, and throws for one that cannot be compared; recursion has an end.
    why = (error as Error).message;
  }
  throw new LedgerIncompatible(`${where} is not a ${RECORD_SCHEMA}: ${why}; it was left untouched.`);
}

const known: ReadonlySet<string> = new Set(OPERATION_EVENT_TYPES);

/** Applies one event. A refused or unknown one gives back the very same snapshot. */
export function applyEvent(
  machine: OperationMachine,
  snapshot: OperationSnapshot,
  event: OperationEvent,
): OperationSnapshot {
  if (!known.has(event.type) || snapshot.status !== 'active') return snapshot;
  return machine.transition(snapshot, event, scopeOf(machine));
}

/** A snapshot as it is committed: it says when it came about, ms of the ledger's clock. */
export const stampedAt = (next: OperationSnapshot, at: number): OperationSnapshot =>
  ({ ...next, context: { ...next.context, updatedAt: at } }) as OperationSnapshot;

const scopes = new WeakMap<OperationMachine, AnyActorScope>();

/**
 * What a transition is given of the actor around it. The chart has no actions and no children, so one that does nothing is
 * made for each chart; xstate's own `transition` makes one for each event, which costs as much as the transition.
 */
function scopeOf(machine: OperationMachine): AnyActorScope {
  const known = scopes.get(machine);
  if (known) return known;
  const nothing = () => undefined;
  // It is never started, and has no context.
  const self = createActor(machine, { input: undefined as never });
  const { system } = self;
  const inert = { id: '', sessionId: '', logger: nothing, defer: nothing, emit: nothing, stopChild: nothing };
  const scope: AnyActorScope = { ...inert, self, system, actionExecutor: nothing };
  scopes.set(machine, scope);
  return scope;
}

/** The path of the active state, e.g. `WORKING.polling`. */
export function statePath(snapshot: Pick<OperationSnapshot, 'value'>): string {
  const { value } = snapshot;
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([parent, child]) => `${parent}.${String(child)}`)
    .join(' ');
}

/** The brief's state name (B5): the first part of the path. */
export function stateName(snapshot: Pick<OperationSnapshot, 'value'>): string {
  return statePath(snapshot).split('.')[0] as string;
}

/** What the committed state owes the world, or `null`: a function of the state, never of how one came there. */
export function owedEffect(snapshot: OperationSnapshot): Effect | null {
  const { machine } = snapshot;
  const effects = owedBy.get(machine) ?? new Map<string, Effect | null>();
  if (effects.size === 0) owedBy.set(machine, effects);
  const path = statePath(snapshot);
  const known = effects.get(path);
  if (known !== undefined) return known;
  const owed = Object.values(snapshot.getMeta()).find((meta) => meta?.effect)?.effect ?? null;
  effects.set(path, owed);
  return owed;
}

/** By path: asked many times a step. */
const owedBy = new WeakMap<object, Map<string, Effect | null>>();
