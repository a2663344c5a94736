import type { Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import type { SessionContext } from './context.ts';
import { META_ATTEMPT, META_PRINCIPAL, META_REQUEST_DIGEST, META_SUBMISSION_KEY } from './names.ts';
import { checkResult } from './payload.ts';
import { compileSchema } from './schema.ts';

/** What every `tools/call` says of itself, for servers that remember submission keys. */
export function submissionMeta(submission: Submission): Readonly<Record<string, string | number>> {
  return {
    [META_SUBMISSION_KEY]: submission.submissionKey,
    [META_ATTEMPT]: submission.attempt,
    [META_REQUEST_DIGEST]: submission.requestDigest,
    [META_PRINCIPAL]: submission.principal,
  };
}

/** A `tools/call` that was answered with a result in place of a task: the work is done, and this is what it returned. */
export function outcomeAtOnce(
  context: SessionContext,
  toolName: string,
  value: Readonly<Record<string, unknown>>,
): SubmitOutcome {
  const tool = context.tools.get(context.pinned.get(toolName) ?? '');
  const output = tool?.outputSchema ? compileSchema(tool.outputSchema) : null;
  // Nothing is sent to a tool whose schema cannot be used; were it so, nothing would fit.
  const check = output?.kind === 'unusable' ? () => output.problem : (output?.check ?? null);
  const checked = checkResult(value, null, check);
  if (checked.kind === 'payload') return { kind: 'outcome', payload: checked.payload };
  return { kind: 'connectionLost', reason: `answered at once, but ${checked.reason}` };
}
