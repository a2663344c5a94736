/**
 * `approval-gate`: the human answer to one input round (B7). It is bound to one operation, round and schema digest, has
 * a deadline, and takes exactly one answer, checked against the requested schema before it leaves. The record's own
 * guards check round, digest and deadline once more when the answer is committed.
 */
import { assign, setup } from 'xstate';
import type { InputReply } from '../operation-protocol.ts';
import { schemaProblems } from './reply-schema.ts';
import type { OpenRound } from './round.ts';

interface Context extends OpenRound {
  readonly reply: InputReply | null;
}
export interface ReplyEvent {
  readonly type: 'reply';
  readonly operationId: string;
  readonly round: number;
  readonly schemaDigest: string;
  readonly at: number;
  readonly reply: InputReply;
}
export type GateEvent = ReplyEvent | { readonly type: 'deadline'; readonly at: number } | { readonly type: 'withdraw' };

/** The conditions of one answer, by name and in the order in which a refusal names them. */
export const gateGuards = {
  matchesOperation: (round: OpenRound, event: ReplyEvent) => event.operationId === round.operationId,
  matchesInputRound: (round: OpenRound, event: ReplyEvent) => event.round === round.round,
  matchesSchemaDigest: (round: OpenRound, event: ReplyEvent) => event.schemaDigest === round.schemaDigest,
  beforeDeadline: (round: OpenRound, event: ReplyEvent) => event.at <= round.deadline,
  replyFitsSchema: (round: OpenRound, event: ReplyEvent) =>
    schemaProblems(round.request.schema, event.reply).length === 0,
} as const;

const fits = (event: GateEvent, context: Context) =>
  event.type === 'reply' && Object.values(gateGuards).every((guard) => guard(context, event));

/** The chart of one round. Its output is the answer that was taken; `null` where none was. */
export const approvalGate = setup({
  types: {
    context: {} as Context,
    input: {} as OpenRound,
    events: {} as GateEvent,
    output: {} as InputReply | null,
  },
  guards: {
    isAnAcceptableReply: ({ context, event }) => fits(event, context),
    accepts: ({ context, event }) => fits(event, context) && event.type === 'reply' && event.reply.action === 'accept',
    declines: ({ context, event }) =>
      fits(event, context) && event.type === 'reply' && event.reply.action === 'decline',
    isPastDeadline: ({ context, event }) => event.type === 'deadline' && event.at > context.deadline,
  },
  actions: {
    takeReply: assign({ reply: ({ context, event }) => (event.type === 'reply' ? event.reply : context.reply) }),
  },
}).createMachine({
  id: 'approvalGate',
  description: 'One question, one human, at most one answer.',
  context: ({ input }) => ({ ...input, reply: null }),
  output: ({ context }) => context.reply,
  initial: 'OPEN',
  states: {
    OPEN: {
      description: 'The question is shown; nothing was answered.',
      on: {
        reply: [
          { guard: 'accepts', target: 'ACCEPTED', actions: 'takeReply' },
          { guard: 'declines', target: 'DECLINED', actions: 'takeReply' },
          { guard: 'isAnAcceptableReply', target: 'CANCELLED', actions: 'takeReply' },
        ],
        deadline: { guard: 'isPastDeadline', target: 'EXPIRED' },
        withdraw: 'WITHDRAWN',
      },
    },
    ACCEPTED: { type: 'final', description: 'The human gave the input.' },
    DECLINED: { type: 'final', description: 'The human refused to give it.' },
    CANCELLED: { type: 'final', description: 'The human dismissed the question.' },
    EXPIRED: { type: 'final', description: 'Nobody answered in time.' },
    WITHDRAWN: { type: 'final', description: 'The question is no longer open: the operation went on without it.' },
  },
});
