/** Deadlines of the model, as times of a record. */
import type { ToolOperationContext } from '../../../machines/tool-operation/context.ts';
import { type Deadline, FUTURE } from '../system/abstraction.ts';
import type { System } from '../system/system.ts';
import type { WalkStep } from './planning.ts';

export const deadlineIn = (
  { stepDeadline, waitDeadline, input, keyValidUntil, expiry }: ToolOperationContext,
  name: Deadline,
): number | null =>
  ({
    step: stepDeadline,
    wait: waitDeadline,
    input: input?.deadline ?? null,
    key: keyValidUntil,
    expiry: expiry?.latest ?? null,
  })[name];

/** The first deadline that passes on a walk, and how many leases run out while it runs. */
export function deadlineOf(system: System, steps: readonly WalkStep[]) {
  const at = steps.findIndex(({ kind, label }) => kind === 'time' && label.endsWith(' deadline passes'));
  const name = /^the (\w+) deadline/.exec(steps[at]?.label ?? '')?.[1] as Deadline | undefined;
  if (name === undefined) return null;
  const runs = ({ from }: WalkStep) =>
    name === 'wait' || name === 'key' || deadlineIn(system.record(from).snapshot.context, name) === FUTURE;
  let since = at;
  while (since > 0 && runs(steps[since - 1] as WalkStep)) since--;
  const leases = steps.slice(since, at).filter(({ label }) => /^[AB] is (killed|stopped)/.test(label)).length;
  return { name, leases };
}
