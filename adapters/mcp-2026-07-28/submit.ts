import type { Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import { failedSubmission } from '../mcp/classify.ts';
import { hasSession } from '../mcp/context.ts';
import { isObject } from '../mcp/fields.ts';
import { describe } from '../mcp/rpc/connection.ts';
import type { Reply } from '../mcp/rpc/reply.ts';
import { findTool } from '../mcp/tools.ts';
import { callOnce, outcomeAtOnce, type SubmitOptions, submissionMeta } from '../mcp/tools-call.ts';
import type { Context } from './context.ts';
import { mirroringOf, parameterHeaders } from './headers.ts';
import { HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION } from './names.ts';
import { inputResponsesOf, questionsOf } from './questions.ts';
import { taskViewOf } from './task-view.ts';

const BEFORE_DISPATCH = [HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION];

/**
 * Sends `tools/call` once (B4); the server decides whether a task is made. Never again by itself, whatever happens, and
 * the response stream of a call that was written stays open when its time is up: on this revision closing it is a cancel
 * (B14), and the answer may still come.
 */
export async function submit(context: Context, submission: Submission, options: SubmitOptions): Promise<SubmitOutcome> {
  const failure = await readDescriptor(context, submission.tool, options.signal);
  if (failure !== null) return { kind: 'notSent', reason: `tools/list, before the call: ${describe(failure)}` };
  const { input } = submission;
  const requestState = input?.requestState ?? null;
  return callOnce(
    context,
    {
      name: submission.tool,
      arguments: submission.arguments,
      ...(input === undefined ? {} : { inputResponses: inputResponsesOf(input.replies) }),
      ...(requestState === null ? {} : { requestState }),
      _meta: submissionMeta(submission),
    },
    options,
    (reply) => submitOutcome(context, submission.tool, reply),
    { headers: mirroredHeaders(context, submission) },
  );
}

/**
 * An executor that took a call over has not read the tool's descriptor, and needs it: a call without the headers that it
 * asks for is refused for good, and a result that comes at once could not be checked. The reply: why it cannot be read.
 */
async function readDescriptor(context: Context, name: string, signal: AbortSignal | undefined): Promise<Reply | null> {
  if (context.latest.has(name)) return null;
  const search = await findTool(context.connection, name, context.settings, signal);
  if (search.kind === 'failed') return search.reply;
  // A tool that is gone is for the server to refuse.
  if (search.kind === 'absent') return null;
  const { tool } = search;
  context.latest.set(name, tool);
  context.tools.set(tool.version, tool);
  if (!context.pinned.has(name)) context.pinned.set(name, tool.version);
  return null;
}

/** By the newest descriptor, whatever the call is pinned to: the server compares them with its own. */
function mirroredHeaders(context: Context, submission: Submission): Readonly<Record<string, string>> {
  const tool = context.connection.overHttp ? context.latest.get(submission.tool) : undefined;
  const mirroring = tool === undefined ? null : mirroringOf(tool.inputSchema);
  return mirroring?.kind === 'mirrored' ? parameterHeaders(mirroring.parameters, submission.arguments) : {};
}

function submitOutcome(context: Context, toolName: string, reply: Reply): SubmitOutcome {
  if (reply.kind === 'error' && BEFORE_DISPATCH.includes(reply.code)) {
    return { kind: 'rejected', reason: describe(reply) };
  }
  if (reply.kind !== 'result') return failedSubmission(reply, hasSession(context));
  const { value } = reply;
  switch (value.resultType) {
    case 'task': {
      const task = taskViewOf(value);
      if (task === null) {
        return { kind: 'connectionLost', reason: 'a task was made, but its description cannot be read' };
      }
      return { kind: 'acknowledged', task, sessionId: null };
    }
    case 'input_required':
      return inputRequired(context, value);
    case undefined:
    case 'complete':
      return outcomeAtOnce(context, toolName, value, () => 'the descriptor of the call is gone');
    default:
      return { kind: 'connectionLost', reason: 'the answer has a resultType that this revision does not know' };
  }
}

/** Questions before there is a task, or only a state to come back with (a server that sheds load). */
function inputRequired(
  context: Context,
  { inputRequests, requestState }: Readonly<Record<string, unknown>>,
): SubmitOutcome {
  const requests = questionsOf(inputRequests, context.settings);
  const asked = isObject(inputRequests) ? Object.keys(inputRequests).length : 0;
  if (Object.keys(requests).length === 0 && (asked > 0 || typeof requestState !== 'string')) {
    return { kind: 'connectionLost', reason: 'the answer asks for input, but for none that this client can give' };
  }
  return { kind: 'inputRequired', requests, requestState: typeof requestState === 'string' ? requestState : null };
}
