/** The forms that an adapter's outcomes must have, whatever the server said: written down here a second time. */
import { z } from 'zod';

const id = z.string().min(1).max(512);
const ms = z.number().min(0).refine(Number.isFinite);
const words = z.string();
const view = z.strictObject({
  taskId: id,
  taskCreatedAt: z.string().min(1).max(64).nullable(),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().max(4_000).nullable(),
  pollIntervalMs: ms.nullable(),
  ttlMs: ms.nullable(),
  remainingTtlMs: ms.nullable(),
});
const payload = z.union([
  z.strictObject({ kind: z.literal('result'), value: z.object({}).loose(), isError: z.boolean() }),
  z.strictObject({
    kind: z.literal('error'),
    value: z.strictObject({ code: z.number().int(), message: words, data: z.unknown().optional() }),
  }),
]);
const unknown = z.strictObject({
  kind: z.literal('unknown'),
  reason: words,
  retryAfterMs: ms.max(86_400_000).optional(),
  sessionLost: z.boolean().optional(),
});
const questions = z.record(z.string(), z.strictObject({ message: words, schema: z.object({}).loose() }));
const because = (kind: string) => z.strictObject({ kind: z.literal(kind), reason: words });
const notFound = because('notFound');

export const OUTCOMES = {
  submit: z.union([
    z.strictObject({ kind: z.literal('acknowledged'), task: view, sessionId: z.string().max(512).nullable() }),
    z.strictObject({ kind: z.literal('outcome'), payload }),
    z.strictObject({
      kind: z.literal('notSent'),
      reason: words,
      retryAfterMs: ms.optional(),
      sessionLost: z.boolean().optional(),
    }),
    because('rejected'),
    because('connectionLost'),
    z.strictObject({ kind: z.literal('inputRequired'), requests: questions, requestState: z.string().nullable() }),
  ]),
  status: z.union([
    z.strictObject({
      kind: z.literal('status'),
      task: view,
      payload: payload.optional(),
      inputRequests: questions.optional(),
    }),
    notFound,
    unknown,
  ]),
  result: z.union([z.strictObject({ kind: z.literal('result'), payload }), because('invalid'), notFound, unknown]),
  cancel: z.union([
    z.strictObject({ kind: z.literal('confirmed'), task: view.extend({ status: z.literal('cancelled') }) }),
    z.strictObject({ kind: z.literal('acknowledged') }),
    because('refused'),
    because('unsupported'),
    unknown,
  ]),
  lookup: z.union([
    z.strictObject({ kind: z.literal('found'), task: view }),
    z.strictObject({ kind: z.literal('neverCreated'), closedThroughAttempt: z.number().int().min(0) }),
    z.strictObject({
      kind: z.literal('expiredWithReceipt'),
      taskId: id,
      taskCreatedAt: z.string().max(64).nullable(),
      status: z.enum(['completed', 'failed', 'cancelled']),
      payload: payload.optional(),
    }),
    because('unavailable'),
    unknown,
  ]),
  answer: z.union([z.strictObject({ kind: z.literal('delivered') }), because('notDelivered'), unknown]),
  negotiate: z.union([
    z.strictObject({
      kind: z.literal('supported'),
      tool: z.strictObject({ name: id, version: z.string().regex(/^[0-9a-f]{64}$/) }),
      capabilities: z.strictObject({
        cancelSupported: z.boolean(),
        cancelEvidence: z.enum(['terminal', 'cooperative']),
        lookup: z.enum(['none', 'closing', 'repeat']),
        deduplicates: z.boolean(),
        input: z.enum(['channel', 'status', 'none']),
        inputRedelivery: z.boolean(),
      }),
      session: z.strictObject({ sessionId: z.string().max(512).nullable(), protocolVersion: z.string().max(32) }),
      keyRetentionMs: ms.nullable(),
    }),
    z.strictObject({ kind: z.literal('refused'), reason: words, next: words }),
  ]),
};
