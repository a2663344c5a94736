import type { Json } from '../../machines/digest.ts';
import type { Negotiation } from '../../machines/operation-protocol.ts';
import type { Method } from './method.ts';
import { PROTOCOL_VERSION } from './names.ts';
import type { Settings } from './options.ts';
import { startRequest } from './start-request.ts';

/**
 * What was declared of the method, and whether the arguments fit it (B1). Nothing is asked: AIP-151 has no declaration on
 * the wire, and probing by trying is not allowed.
 */
export function negotiate(settings: Settings, tool: string, args: Json): Negotiation {
  const method = settings.methods.get(tool);
  if (method === undefined) {
    return refused('no such method was declared to the adapter', 'declare it in the methods of aip151()');
  }
  const misfit = misfitOf(method, args);
  if (misfit !== null) return refused(misfit, 'correct the arguments');
  // The key is not known yet; whether the arguments fit does not depend on it.
  const start = startRequest(method, args, { submissionKey: '' });
  if (start.kind === 'unfit') return refused(start.problem, 'correct the arguments');
  return {
    kind: 'supported',
    tool: { name: method.name, version: method.version },
    capabilities: {
      cancelSupported: method.cancel,
      cancelEvidence: 'cooperative',
      lookup: method.requestId === undefined ? 'none' : 'repeat',
      deduplicates: method.requestId !== undefined,
      input: 'none',
      inputRedelivery: false,
    },
    session: { sessionId: null, protocolVersion: PROTOCOL_VERSION },
    keyRetentionMs: method.requestId?.retentionMs ?? null,
  };
}

/** The place and the rule, never the value: that can be a secret of the caller. */
function misfitOf(method: Method, args: Json): string | null {
  if (method.misfits === null) return null;
  try {
    const first = method.misfits(args)?.[0];
    if (first === undefined) return null;
    const name: unknown = first.params.missingProperty ?? first.params.additionalProperty;
    const detail = typeof name === 'string' ? ` (${name})` : '';
    return `the arguments do not fit argumentsSchema at ${first.instancePath || '/'}: ${first.message ?? first.keyword}${detail}`;
  } catch (error) {
    return `the arguments cannot be checked: ${(error as Error).message}`.slice(0, 500);
  }
}

function refused(reason: string, next: string): Negotiation {
  return { kind: 'refused', reason, next };
}
