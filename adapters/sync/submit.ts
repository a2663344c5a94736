import type { ProtocolSession, Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import { failedSubmission } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { outcomeAtOnce, submissionMeta } from '../mcp/tools-call.ts';
import { limitOf } from './limit.ts';

type SubmitOptions = Parameters<ProtocolSession['submit']>[1];

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
  const reply = await context.connection.request(
    'tools/call',
    { name: submission.tool, arguments: submission.arguments, _meta: submissionMeta(submission) },
    {
      timeoutMs: limit.ms + context.settings.limitGraceMs,
      signal: options.signal,
      mayWrite: options.mayWrite,
      freshConnection: true,
      late: (lateReply) => {
        const outcome = submitOutcome(context, submission.tool, lateReply);
        if (outcome.kind !== 'connectionLost') options.late(outcome);
      },
    },
  );
  return submitOutcome(context, submission.tool, reply);
}

function submitOutcome(context: SessionContext, toolName: string, reply: Reply): SubmitOutcome {
  if (reply.kind !== 'result') return failedSubmission(reply, hasSession(context));
  return outcomeAtOnce(context, toolName, reply.value);
}
