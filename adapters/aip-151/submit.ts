import type { ProtocolSession, Submission, SubmitOutcome } from '../../machines/operation-protocol.ts';
import { refusesCredentials, refusesStart } from './classify.ts';
import type { SessionContext } from './context.ts';
import { describe, type Reply } from './http/reply.ts';
import type { Method } from './method.ts';
import { startRequest } from './start-request.ts';
import { startedOperation } from './started.ts';

type SubmitOptions = Parameters<ProtocolSession['submit']>[1];

/** Sends the starting call once (B4). Never again by itself, whatever happens. */
export async function submit(
  { link, settings }: SessionContext,
  submission: Submission,
  options: SubmitOptions,
): Promise<SubmitOutcome> {
  const method = settings.methods.get(submission.tool);
  // Another process has it, perhaps; here nothing can be sent.
  if (method === undefined) return { kind: 'notSent', reason: 'the method is not declared in this process' };
  const start = startRequest(method, submission.arguments, submission);
  if (start.kind === 'unfit') return { kind: 'rejected', reason: start.problem };
  const reply = await link.send(start.request, {
    timeoutMs: options.timeoutMs,
    signal: options.signal,
    mayWrite: options.mayWrite,
    late: (lateReply) => {
      const outcome = submitOutcome(method, lateReply);
      if (outcome.kind !== 'connectionLost') options.late(outcome);
    },
  });
  return submitOutcome(method, reply);
}

function submitOutcome(method: Method, reply: Reply): SubmitOutcome {
  if (reply.kind === 'notWritten') return { kind: 'notSent', reason: reply.reason };
  if (refusesCredentials(reply) || refusesStart(reply)) return { kind: 'rejected', reason: describe(reply) };
  const read = startedOperation(method, reply);
  if (read.kind === 'none') {
    const answered = reply.kind === 'json' && reply.status === 200;
    return { kind: 'connectionLost', reason: answered ? read.reason : describe(reply) };
  }
  // Also where what it says of its end is not possible: it exists, and a status read decides.
  return { kind: 'acknowledged', task: read.task, sessionId: null };
}
