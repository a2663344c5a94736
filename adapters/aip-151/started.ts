import { field } from './field.ts';
import type { Reply } from './http/reply.ts';
import type { Method } from './method.ts';
import { type ReadOperation, readOperation } from './operation.ts';

/**
 * The operation in the answer to a start. Only HTTP 200 can hold one: 202 says "accepted for processing" in a protocol
 * that is not this one (B2, B8).
 */
export function startedOperation(method: Method, reply: Reply): ReadOperation {
  if (reply.kind !== 'json' || reply.status !== 200)
    return { kind: 'none', reason: 'the answer is not HTTP 200 with JSON' };
  const steps = method.operationAt?.split('.') ?? [];
  return readOperation(
    steps.reduce<unknown>((value, name) => field(value, name), reply.value),
    method.responseType,
  );
}
