import type { ProtocolSession, Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import type { SessionContext } from './context.ts';
import { META_ATTEMPT, META_PRINCIPAL, META_REQUEST_DIGEST, META_SHADOW, META_SUBMISSION_KEY } from './names.ts';
import { checkResult } from './payload.ts';
import type { CallOptions } from './rpc/call.ts';
import type { Reply } from './rpc/reply.ts';
import { compileSchema, type SchemaCheck } from './schema.ts';
import type { Tool } from './tools.ts';

export type SubmitOptions = Parameters<ProtocolSession['submit']>[1];

/** What every `tools/call` says of itself, for servers that remember submission keys. */
export function submissionMeta(submission: Submission): Readonly<Record<string, string | number | boolean>> {
  return {
    [META_SUBMISSION_KEY]: submission.submissionKey,
    [META_ATTEMPT]: submission.attempt,
    [META_REQUEST_DIGEST]: submission.requestDigest,
    [META_PRINCIPAL]: submission.principal,
    ...(submission.shadow ? { [META_SHADOW]: true } : {}),
  };
}

/**
 * Sends one `tools/call`, never again by itself. An answer that comes after its time is up goes to `options.late`, unless it
 * proves nothing. `timeoutMs` and `headers`: where they are others than the caller's.
 */
export async function callOnce(
  { connection }: SessionContext,
  params: object,
  options: SubmitOptions,
  outcomeOf: (reply: Reply) => SubmitOutcome,
  wire: Pick<Partial<CallOptions>, 'timeoutMs' | 'headers'> = {},
): Promise<SubmitOutcome> {
  const { timeoutMs, signal, mayWrite } = options;
  const reply = await connection.request('tools/call', params, {
    timeoutMs,
    signal,
    mayWrite,
    freshConnection: true,
    late: (lateReply) => {
      const outcome = outcomeOf(lateReply);
      if (outcome.kind !== 'connectionLost') options.late(outcome);
    },
    ...wire,
  });
  return outcomeOf(reply);
}

/**
 * A `tools/call` that was answered with a result in place of a task: the work is done, and this is what it returned.
 * `unpinned`: the check where the descriptor of the call is not known.
 */
export function outcomeAtOnce(
  context: SessionContext,
  toolName: string,
  value: Readonly<Record<string, unknown>>,
  unpinned: SchemaCheck | null = null,
): SubmitOutcome {
  const tool = context.tools.get(context.pinned.get(toolName) ?? '');
  const checked = checkResult(value, null, tool === undefined ? unpinned : checkOf(tool));
  if (checked.kind === 'payload') return { kind: 'outcome', payload: checked.payload };
  return { kind: 'connectionLost', reason: `answered at once, but ${checked.reason}` };
}

function checkOf({ outputSchema }: Tool): SchemaCheck | null {
  if (outputSchema === null) return null;
  const compiled = compileSchema(outputSchema);
  // Nothing is sent to a tool whose schema cannot be used; were it so, nothing would fit.
  return compiled.kind === 'unusable' ? () => compiled.problem : compiled.check;
}
