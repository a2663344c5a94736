import { initialTransition, transition } from 'xstate';
import { approvalGate, gateGuards, type ReplyEvent } from './machine.ts';
import { schemaProblems } from './reply-schema.ts';
import type { OpenRound } from './round.ts';

export type Judgement =
  | { readonly kind: 'fits' }
  | {
      readonly kind: 'refused';
      readonly guard: keyof typeof gateGuards | 'notOpen';
      readonly problems: readonly string[];
    };

/** Runs one answer through the gate's chart: whether it may leave, and if not, which condition says so. */
export function judgeReply(round: OpenRound, event: ReplyEvent): Judgement {
  const [open] = initialTransition(approvalGate, round);
  const [next] = transition(approvalGate, open, event);
  if (next.status === 'done') return { kind: 'fits' };
  const guard = (Object.keys(gateGuards) as (keyof typeof gateGuards)[]).find(
    (name) => !gateGuards[name](round, event),
  );
  return {
    kind: 'refused',
    guard: guard ?? 'notOpen',
    problems: guard === 'replyFitsSchema' ? schemaProblems(round.request.schema, event.reply) : [],
  };
}
