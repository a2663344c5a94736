/** What the wire proxy may be told: one fault for one message, named by method, direction and number. */
import { z } from 'zod';

/** A method; a header. */
const Name = z.string().min(1).max(1_000);
const Text = z.string().max(10_000_000);
const RpcError = z.strictObject({ code: z.number().int(), message: Text, data: z.json().optional() });

/** A request that is replaced is answered here and never reaches its receiver; a response is exchanged for this one. */
const Replacement = z.union(
  [
    /** HTTP only. */
    z.strictObject({
      status: z.number().int().min(200).max(599),
      retryAfter: Name.optional(),
      body: Text.default('replaced on the wire'),
    }),
    /** Text in place of the message, JSON-RPC or not. */
    z.strictObject({ body: Text }),
    z.strictObject({ error: RpcError }),
    z.strictObject({ result: z.record(z.string(), z.json()) }),
  ],
  {
    error:
      'one of these is put in place of a message: { status (200 to 599), retryAfter?, body? }, { body }, ' +
      '{ error: { code, message, data? } }, { result }',
  },
);
/**
 * What stands in place of a message: `status` of the whole exchange (HTTP only; with `retryAfter` as its header), `body` as it is, or a
 * `result` or `error` in the envelope of JSON-RPC, with the id of the request.
 */
export type Replacement = z.infer<typeof Replacement>;

const Action = z.discriminatedUnion('kind', [
  /** Lost. Over HTTP the connection of a lost request (or JSON answer) breaks; a lost event is left out of its stream. */
  z.strictObject({ kind: z.literal('drop') }),
  z.strictObject({ kind: z.literal('delay'), ms: z.number().int().min(1).max(600_000) }),
  z.strictObject({ kind: z.literal('duplicate') }),
  /** Held until the next message of the same direction and of this method (default: the same) has passed. */
  z.strictObject({ kind: z.literal('reorder'), behind: Name.optional() }),
  /** Half of it passes, then the connection is closed. */
  z.strictObject({ kind: z.literal('truncate') }),
  z.strictObject({ kind: z.literal('replace'), with: Replacement }),
]);

/**
 * One fault for one message, or for `times` in a row. Every rule counts every message that fits it; the first one whose turn it is
 * acts.
 */
export const Rule = z
  .strictObject({
    /** Of a response: the method of the request that it answers. */
    method: Name,
    direction: z.enum(['request', 'response', 'notification']),
    /** The first one that is met, counted from when the rule was set. */
    nth: z.number().int().min(1).default(1),
    /** How many in a row. */
    times: z.number().int().min(1).default(1),
    action: Action,
  })
  .refine(({ direction, action }) => direction !== 'notification' || action.kind !== 'replace', {
    error: 'a notification has no answer that could be replaced',
  });
/** With its defaults, as the log shows it. */
export type Rule = z.infer<typeof Rule>;
/** As it is written down: with its defaults left out. */
export type RuleInput = z.input<typeof Rule>;

/** What the control port takes: all rules anew. What is held at that time passes. */
export const Command = z.strictObject({ rules: z.array(Rule).max(1_000) });
