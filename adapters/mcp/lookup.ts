import { z } from 'zod';
import type { LookupOutcome, LookupRequest, TaskView } from '../../machines/operation-protocol.ts';
import { TerminalStatus } from '../../machines/tool-operation/context.ts';
import { METHOD_NOT_FOUND, unknownOf } from './classify.ts';
import { hasSession, type SessionContext } from './context.ts';
import type { KeySupport } from './key-support.ts';
import { METHOD_LOOKUP } from './names.ts';
import { readAs } from './read-as.ts';
import { receiptOutcome } from './receipt.ts';

const NeverCreated = z.looseObject({
  neverCreated: z.literal(true),
  closedThroughAttempt: z.number().int().nonnegative(),
});
const Expired = z.looseObject({
  expiredWithReceipt: z.looseObject({
    taskId: z.string().min(1).max(512),
    createdAt: z.string().max(64).nullish(),
    status: TerminalStatus,
    result: z.record(z.string(), z.unknown()).optional().catch(undefined),
  }),
});

/** In what the revisions differ. */
export interface LookupRevision {
  /** What the server declared; `null`: it was not asked here, and the caller knows from the record. */
  readonly declared: KeySupport | null;
  /** What a call is that returned a result with `isError`. */
  readonly errorResultIs: 'completed' | 'failed';
  /** Reads a task in the words of the revision; `null`: it cannot be read. */
  readonly foundOf: (task: unknown) => LookupOutcome | null;
}

/** Where what is found is a task that can be followed. */
export const foundBy =
  (taskViewOf: (value: unknown) => TaskView | null): LookupRevision['foundOf'] =>
  (value) => {
    const task = taskViewOf(value);
    return task && { kind: 'found', task };
  };

/**
 * Asks a server that remembers submission keys what became of a call (B4, B13; design section 6). A server that did not
 * declare it is not asked (B1: never probe by trying).
 */
export async function lookupByKey(
  context: SessionContext,
  submission: LookupRequest,
  { declared, foundOf, errorResultIs }: LookupRevision,
  signal?: AbortSignal,
): Promise<LookupOutcome> {
  const { connection, settings } = context;
  if (declared !== null && !declared.lookup) {
    return { kind: 'unavailable', reason: 'the server declares no look-up by submission key' };
  }
  const reply = await connection.request(
    METHOD_LOOKUP,
    {
      key: submission.submissionKey,
      throughAttempt: submission.attempt,
      requestDigest: submission.requestDigest,
      principal: submission.principal,
    },
    { timeoutMs: settings.requestTimeoutMs, signal },
  );
  if (reply.kind === 'error' && reply.code === METHOD_NOT_FOUND) {
    return { kind: 'unavailable', reason: 'the server has no look-up by submission key (-32601)' };
  }
  if (reply.kind !== 'result') return unknownOf(reply, hasSession(context));

  const answers = ['found', 'neverCreated', 'expiredWithReceipt'].filter((name) => name in reply.value);
  if (answers.length !== 1) return { kind: 'unknown', reason: 'the look-up did not give exactly one answer' };
  const found = 'found' in reply.value ? foundOf(reply.value.found) : null;
  if (found !== null) return found;
  const never = readAs(NeverCreated, reply.value);
  if (never !== null) return { kind: 'neverCreated', closedThroughAttempt: never.closedThroughAttempt };
  const expired = readAs(Expired, reply.value);
  if (expired !== null) {
    return receiptOutcome(context, submission.tool, expired.expiredWithReceipt, errorResultIs, signal);
  }
  return { kind: 'unknown', reason: "the look-up's answer cannot be read" };
}
