import { z } from 'zod';
import type { TaskView } from '../../machines/operation-protocol.ts';
import { ServerStatus } from '../../machines/tool-operation/context.ts';

export const wireMs = z.number().nonnegative().nullish().catch(null);

/**
 * What the revisions call alike in a task: identity and status are demanded, the rest is taken if it is usable. Narrower than
 * the official schemas in what a record can hold, wider in what servers forget to say.
 */
export const WireTask = z.looseObject({
  taskId: z.string().min(1).max(512),
  status: ServerStatus,
  statusMessage: z.string().nullish().catch(null),
  createdAt: z.string().min(1).max(64).nullish().catch(null),
  lastUpdatedAt: z.string().nullish().catch(null),
});

/** The times of a task, which each revision has names of its own for. */
interface Times {
  readonly ttlMs: number | null | undefined;
  readonly pollIntervalMs: number | null | undefined;
}

/** A task that was read, as the executor knows it. Kept verbatim: status, id and `createdAt` (B6). */
export function viewOf(task: z.output<typeof WireTask>, times: Times): TaskView {
  const ttlMs = times.ttlMs ?? null;
  // Both times are the server's, so their difference is free of the distance between the two clocks (B13).
  const age = Date.parse(task.lastUpdatedAt ?? '') - Date.parse(task.createdAt ?? '');
  return {
    taskId: task.taskId,
    taskCreatedAt: task.createdAt ?? null,
    status: task.status,
    statusMessage: task.statusMessage?.slice(0, 4_000) ?? null,
    pollIntervalMs: times.pollIntervalMs ?? null,
    ttlMs,
    remainingTtlMs: ttlMs === null || Number.isNaN(age) ? null : Math.max(0, ttlMs - age),
  };
}
