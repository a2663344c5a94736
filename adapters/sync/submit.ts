import type { Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import { failedSubmission } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { callOnce, outcomeAtOnce, type SubmitOptions, submissionMeta } from '../mcp/tools-call.ts';
import { limitOf } from './limit.ts';

/**
 * Sends `tools/call` once, without a task, and waits as long as the tool's published limit says (B1), whatever the
 * patience for other requests is. Then nothing is known, and nothing is sent again: a later answer is evidence.
 */
export async function submit(
  context: SessionContext,
  submission: Submission,
  options: SubmitOptions,
): Promise<SubmitOutcome> {
  const limit = await limitOf(context, submission.tool, options.signal);
  if (limit.kind !== 'limit') return limit;
  return callOnce(
    context,
    { name: submission.tool, arguments: submission.arguments, _meta: submissionMeta(submission) },
    options,
    (reply) => submitOutcome(context, submission.tool, reply),
    { timeoutMs: limit.ms + context.settings.limitGraceMs },
  );
}

function submitOutcome(context: SessionContext, toolName: string, reply: Reply): SubmitOutcome {
  if (reply.kind !== 'result') return failedSubmission(reply, hasSession(context));
  return outcomeAtOnce(context, toolName, reply.value);
}
