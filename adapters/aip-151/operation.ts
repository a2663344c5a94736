/** `google.longrunning.Operation` as it is read from JSON. */
import { z } from 'zod';
import type { Json } from '../../machines/digest.ts';
import type { Payload, TaskView } from '../../machines/operation-protocol.ts';
import type { TerminalStatus } from '../../machines/tool-operation/context.ts';
import { encodePath } from './path-template.ts';
import { progressOf } from './progress.ts';
import { readAs } from './read-as.ts';

/** google.rpc.Code: what the `error` of an operation that was cancelled says. */
const CANCELLED = 1;

/**
 * Strict: the message has these five fields and no others. Resources that look alike (a status monitor, an operation of
 * another kind with `name` and `status`) would otherwise be read as "still working" for ever (B2).
 */
const WireOperation = z.strictObject({
  name: z.string().min(1).max(512),
  metadata: z.unknown().optional(),
  /** Left out where it is `false`. */
  done: z.boolean().nullish(),
  error: z
    .looseObject({
      code: z.number().int().min(1).max(16),
      message: z.string().nullish(),
      details: z.array(z.unknown()).nullish(),
    })
    .nullish(),
  response: z.record(z.string(), z.unknown()).nullish(),
});

export type ReadOperation =
  | {
      readonly kind: 'operation';
      readonly task: TaskView;
      readonly payload: Payload | null;
      readonly defect: string | null;
    }
  /** Its name is known, and what it says of the end is not possible. */
  | { readonly kind: 'contradiction'; readonly task: TaskView; readonly reason: string }
  | { readonly kind: 'none'; readonly reason: string };

/** `responseType`: the `@type` that a response must have, if one was declared. */
export function readOperation(value: unknown, responseType: string | undefined): ReadOperation {
  const wire = readAs(WireOperation, value);
  if (wire === null) return { kind: 'none', reason: 'the answer is not a google.longrunning.Operation' };
  if (encodePath(wire.name) === null) return { kind: 'none', reason: "the operation's name cannot be asked for" };
  const { name, metadata, error, response } = wire;
  const done = wire.done ?? false;
  const seen = (status: TaskView['status']): TaskView => ({
    taskId: name,
    // AIP-151 knows no time of creation, no suggested interval and no time to live.
    taskCreatedAt: null,
    status,
    statusMessage: progressOf(metadata),
    pollIntervalMs: null,
    ttlMs: null,
    remainingTtlMs: null,
  });
  const contradiction = (reason: string): ReadOperation => ({ kind: 'contradiction', task: seen('working'), reason });
  const ended = (status: TerminalStatus, payload: Payload | null, defect: string | null = null): ReadOperation => ({
    kind: 'operation',
    task: seen(status),
    payload,
    defect,
  });

  if (error != null && response != null) return contradiction('the operation has both a response and an error');
  if (!done) {
    if (error != null || response != null) return contradiction('the operation is not done, and has a result');
    return { kind: 'operation', task: seen('working'), payload: null, defect: null };
  }
  if (error != null) {
    if (error.code === CANCELLED) return ended('cancelled', null);
    const { code, message, details } = error;
    const data = details == null || details.length === 0 ? {} : { data: details as Json };
    return ended('failed', { kind: 'error', value: { code, message: message ?? '', ...data } });
  }
  // "Some services might not provide the result": done, and nothing to show for it (F6).
  if (response == null) return ended('completed', null, 'the operation is done with neither a response nor an error');
  const defect = defectOf(response, responseType);
  const payload: Payload = { kind: 'result', value: response as Json, isError: false };
  return ended('completed', defect === null ? payload : null, defect);
}

/** Why a response cannot be taken as the result; nothing at all cannot be told from one that got lost (F6). */
function defectOf(response: Readonly<Record<string, unknown>>, responseType: string | undefined): string | null {
  if (Object.keys(response).length === 0) return 'the response is empty: not even a type';
  if (responseType === undefined || bareType(response['@type']) === bareType(responseType)) return null;
  return 'the response is of another type than the declared one';
}

/** A type URL says its type after the last slash. */
function bareType(type: unknown): string | null {
  return typeof type === 'string' ? type.slice(type.lastIndexOf('/') + 1) : null;
}
