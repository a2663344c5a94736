import type { Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import { failedSubmission } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { callOnce, outcomeAtOnce, type SubmitOptions, submissionMeta } from '../mcp/tools-call.ts';
import { taskViewOf } from './task-view.ts';

/** Sends `tools/call` once, as a task (B4). Never again by itself, whatever happens. */
export function submit(
  context: SessionContext,
  submission: Submission,
  options: SubmitOptions,
): Promise<SubmitOutcome> {
  return callOnce(
    context,
    {
      name: submission.tool,
      arguments: submission.arguments,
      task: submission.ttlMs === null ? {} : { ttl: submission.ttlMs },
      _meta: submissionMeta(submission),
    },
    options,
    (reply) => submitOutcome(context, submission.tool, reply),
  );
}

function submitOutcome(context: SessionContext, toolName: string, reply: Reply): SubmitOutcome {
  if (reply.kind !== 'result') return failedSubmission(reply, hasSession(context));
  if ('task' in reply.value) {
    const task = taskViewOf(reply.value.task);
    if (task === null) return { kind: 'connectionLost', reason: 'a task was made, but its description cannot be read' };
    return { kind: 'acknowledged', task, sessionId: context.connection.sessionId };
  }
  // A server may ignore `task`: then the work is done, and this is its result.
  return outcomeAtOnce(context, toolName, reply.value);
}
