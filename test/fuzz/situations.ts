/** One record in each state of the chart, and facts of a server fed into it. */
import { type Issued, type Told, told } from '../../machines/actor/facts.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { explainRefusal } from '../../machines/tool-operation/refusal.ts';
import { applyEvent, type OperationSnapshot } from '../../machines/tool-operation/snapshot.ts';
import { claimsOf, into, play, START } from '../machines/scenario.ts';
import { assertLawful } from './checks.ts';
import type { Verdict } from './target.ts';

export const SITUATIONS: readonly OperationSnapshot[] = Object.values(into).map(
  (steps) => play({ title: 'a way in', steps }).snapshot,
);

export const situation = (at: number): OperationSnapshot => SITUATIONS[at % SITUATIONS.length] as OperationSnapshot;

export function issuedIn({ context }: OperationSnapshot, payloadLimit = 1_000_000): Issued {
  return { claims: claimsOf(context), sentAt: START + 700_000, payloadLimit };
}
export const STAMP = { at: START + 700_100, random: 0.5 };

/** What the chart makes of it must be lawful; a refusal must have its reason. */
export function feedChart(before: OperationSnapshot, { event }: Pick<Told, 'event'>): Verdict {
  const after = applyEvent(toolOperation, before, event);
  assertLawful(before, after, event);
  if (after !== before) return 'accepted';
  explainRefusal(toolOperation, before, event);
  return 'refused';
}
export { told };
