import type { LookupOutcome, LookupRequest, ProtocolSession } from '../../machines/operation-protocol.ts';
import { isUnimplemented, refusesStart, unknownOf } from './classify.ts';
import type { SessionContext } from './context.ts';
import { startRequest } from './start-request.ts';
import { startedOperation } from './started.ts';

type LookupOptions = NonNullable<Parameters<ProtocolSession['lookup']>[1]>;

/**
 * The same call under the same request id (AIP-155): a server that got the first one answers with the operation it made
 * then, one that did not makes it now. Either way there is one, so the answer is never "never created". Whether the
 * server still remembers the id is for the caller to know, who has the time of the first sending.
 */
export async function lookup(
  { link, settings, resumed }: SessionContext,
  request: LookupRequest,
  options: LookupOptions = {},
): Promise<LookupOutcome> {
  const { tool, call } = request;
  const method = settings.methods.get(tool);
  if (method === undefined) return { kind: 'unknown', reason: 'the method is not declared in this process' };
  if (method.requestId === undefined) return unavailable('the API declares no request id (AIP-155)');
  if (call === undefined) return unavailable('what was sent is not known, so it cannot be repeated');
  if (resumed !== null && resumed.name === tool && resumed.version !== method.version) {
    return unavailable('the method was declared otherwise when the call was sent: repeated, it would be another call');
  }
  const start = startRequest(method, call.arguments, request);
  if (start.kind === 'unfit') return unavailable(start.problem);
  const reply = await link.send(start.request, { timeoutMs: settings.requestTimeoutMs, ...options });
  // Refused now says nothing of the first sending, and will be the same next time.
  if (refusesStart(reply) || isUnimplemented(reply)) return unavailable('the server refuses the repeated call');
  const read = startedOperation(method, reply);
  if (read.kind !== 'none') return { kind: 'found', task: read.task };
  return reply.kind === 'json' && reply.status === 200 ? { kind: 'unknown', reason: read.reason } : unknownOf(reply);
}

function unavailable(reason: string): LookupOutcome {
  return { kind: 'unavailable', reason };
}
