/**
 * Why an event was not taken: the first guard that says no, for counting and for messages. Only an explanation:
 * the chart has decided already.
 */
import type { OperationEvent, OperationEventType } from './events.ts';
import { type OperationMachine, type OperationSnapshot, statePath } from './snapshot.ts';

/** Events that a state ignores on purpose, and why. A test walks every state with every event. */
const DUPLICATE = 'a repetition of what is known';
const NOT_ITS_STEP = 'no such step is under way here';

type GuardLike = { readonly guard?: unknown };
interface Composite {
  readonly check?: { readonly name?: string };
  readonly guards?: readonly unknown[];
}

/** Every guard name that an expression rests on, in order of evaluation. */
function namesOf(guard: unknown): readonly string[] {
  if (typeof guard === 'string') return [guard];
  if (typeof guard === 'object' && guard !== null && 'type' in guard) return [String(guard.type)];
  return [];
}

export interface Refusal {
  /** The guards of the candidates that were asked, in order; empty: the state does not listen to this event. */
  readonly guards: readonly string[];
  readonly state: string;
  readonly event: OperationEventType;
  readonly text: string;
}

/** Which atomic guards said no, for the candidate transitions of the event in this state. */
export function explainRefusal(machine: OperationMachine, snapshot: OperationSnapshot, event: OperationEvent): Refusal {
  const state = statePath(snapshot);
  const failed = new Set<string>();
  for (const node of [...snapshot._nodes].sort((a, b) => b.order - a.order)) {
    for (const candidate of node.transitions.get(event.type) ?? []) {
      for (const name of namesOf((candidate as GuardLike).guard)) {
        for (const no of failing(machine, name, snapshot, event)) failed.add(no);
      }
    }
  }
  const guards = [...failed];
  const text =
    snapshot.status !== 'active'
      ? `the operation is over (${state})`
      : guards.length > 0
        ? `refused by ${guards.join(', ')} in ${state}`
        : `${state}: ${event.type.startsWith('input.') || event.type.startsWith('cancel.') ? DUPLICATE : NOT_ITS_STEP}`;
  return { guards, state, event: event.type, text };
}

function failing(
  machine: OperationMachine,
  name: string,
  snapshot: OperationSnapshot,
  event: OperationEvent,
): readonly string[] {
  const implementation = (machine.implementations.guards as Record<string, unknown>)[name];
  const args = { context: snapshot.context, event };
  if (typeof implementation !== 'function') return [];
  const composite = implementation as unknown as Composite;
  if (composite.check && composite.guards) {
    if (composite.check.name === 'checkAnd')
      return composite.guards.flatMap((part) =>
        namesOf(part).flatMap((inner) => failing(machine, inner, snapshot, event)),
      );
    return [];
  }
  return (implementation as (a: typeof args) => boolean)(args) ? [] : [name];
}
