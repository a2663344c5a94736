/**
 * Why an event was not taken: the guards that said no, for counting and for messages. Only an explanation: the chart
 * has decided already.
 */
import { and, not, or } from 'xstate';
import type { OperationEvent, OperationEventType } from './events.ts';
import { guards as atoms } from './guards.ts';
import { ignoredBecause } from './ignored.ts';
import { type OperationMachine, type OperationSnapshot, statePath } from './snapshot.ts';

export interface Refusal {
  /** The atomic guards that said no, in order (`not x`: where `x` held); empty: the state does not listen to this event. */
  readonly guards: readonly string[];
  readonly state: string;
  readonly event: OperationEventType;
  readonly text: string;
}

/** A composite of xstate: a function that carries how it checks and what. */
interface Composite {
  readonly check?: unknown;
  readonly guards?: readonly unknown[];
}
type Predicate = (args: { context: OperationSnapshot['context']; event: OperationEvent }) => boolean;

const checkOf = (composite: unknown) => (composite as Composite).check;
const AND = checkOf(and([]));
const OR = checkOf(or([]));
const NOT = checkOf(not(''));

/** Which atomic guards said no, for the candidate transitions of the event in this state. */
export function explainRefusal(machine: OperationMachine, snapshot: OperationSnapshot, event: OperationEvent): Refusal {
  const state = statePath(snapshot);
  const over = snapshot.status !== 'active';
  // The root only listens for an older epoch's evidence and for a newer epoch: of no interest to anything else.
  const rootIsAsked = event.type === 'epoch.adopt' || atoms.isFromOlderEpoch(snapshot.context, event);
  const candidates = [...snapshot._nodes]
    .sort((a, b) => b.order - a.order)
    .filter((node) => !over && (node.parent !== undefined || rootIsAsked))
    .flatMap((node) => node.transitions.get(event.type) ?? []);
  const guards = [...new Set(candidates.flatMap(({ guard }) => naysayers(machine, guard, snapshot, event, true)))];
  const text = over
    ? `the operation is over (${state})`
    : guards.length > 0
      ? `refused by ${guards.join(', ')} in ${state}`
      : `${state}: ${ignoredBecause(state, event.type) ?? 'not an event of this chart'}`;
  return { guards, state, event: event.type, text };
}

/** The atomic guards because of which `guard` is not `wanted`; empty if it is. */
function naysayers(
  machine: OperationMachine,
  guard: unknown,
  snapshot: OperationSnapshot,
  event: OperationEvent,
  wanted: boolean,
): readonly string[] {
  const name = typeof guard === 'string' ? guard : null;
  const implementation = name === null ? guard : (machine.implementations.guards as Record<string, unknown>)[name];
  if (typeof implementation !== 'function') return [];
  const { check, guards: parts = [] } = implementation as unknown as Composite;
  const of = (part: unknown, want: boolean) => naysayers(machine, part, snapshot, event, want);
  if (check === NOT) return parts.flatMap((part) => of(part, !wanted));
  if (check === AND || check === OR) {
    const answers = parts.map((part) => of(part, wanted));
    // All must agree, or one is enough: by De Morgan the other way round when the composite should be false.
    const allMustAgree = (check === AND) === wanted;
    return allMustAgree || answers.every((no) => no.length > 0) ? answers.flat() : [];
  }
  const holds = (implementation as Predicate)({ context: snapshot.context, event });
  return holds === wanted ? [] : [wanted ? `${name}` : `not ${name}`];
}
