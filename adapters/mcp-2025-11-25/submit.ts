import type { ProtocolSession, Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import { failedSubmission } from '../mcp/classify.ts';
import { hasSession, type SessionContext } from '../mcp/context.ts';
import { META_ATTEMPT, META_PRINCIPAL, META_REQUEST_DIGEST, META_SUBMISSION_KEY } from '../mcp/names.ts';
import { checkResult } from '../mcp/payload.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { compileSchema } from '../mcp/schema.ts';
import { taskViewOf } from './task-view.ts';

type SubmitOptions = Parameters<ProtocolSession['submit']>[1];

/** Sends `tools/call` once, as a task (B4). Never again by itself, whatever happens. */
export async function submit(
  context: SessionContext,
  submission: Submission,
  options: SubmitOptions,
): Promise<SubmitOutcome> {
  const reply = await context.connection.request(
    'tools/call',
    {
      name: submission.tool,
      arguments: submission.arguments,
      task: submission.ttlMs === null ? {} : { ttl: submission.ttlMs },
      _meta: {
        [META_SUBMISSION_KEY]: submission.submissionKey,
        [META_ATTEMPT]: submission.attempt,
        [META_REQUEST_DIGEST]: submission.requestDigest,
        [META_PRINCIPAL]: submission.principal,
      },
    },
    {
      timeoutMs: options.timeoutMs,
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
  if ('task' in reply.value) {
    const task = taskViewOf(reply.value.task);
    if (task === null) return { kind: 'connectionLost', reason: 'a task was made, but its description cannot be read' };
    return { kind: 'acknowledged', task, sessionId: context.connection.sessionId };
  }
  // A server may ignore `task`: then the work is done, and this is its result.
  const tool = context.tools.get(context.pinned.get(toolName) ?? '');
  const output = tool?.outputSchema ? compileSchema(tool.outputSchema) : null;
  // Nothing is sent to a tool whose schema cannot be used; were it so, nothing would fit.
  const check = output?.kind === 'unusable' ? () => output.problem : (output?.check ?? null);
  const checked = checkResult(reply.value, null, check);
  if (checked.kind === 'payload') return { kind: 'outcome', payload: checked.payload };
  return { kind: 'connectionLost', reason: `answered at once, but ${checked.reason}` };
}
