import { z } from 'zod';
import type { TaskView } from '../../machines/operation-protocol.ts';
import { ServerStatus } from '../../machines/tool-operation/context.ts';
import { readAs } from '../mcp/read-as.ts';

/**
 * A task as it is read, always flat on this revision: identity and status are demanded, the rest is taken if it is usable.
 * Narrower than the official schema in what a record can hold, wider in what servers forget to say.
 */
const WireTask = z.looseObject({
  taskId: z.string().min(1).max(512),
  status: ServerStatus,
  statusMessage: z.string().nullish().catch(null),
  createdAt: z.string().min(1).max(64).nullish().catch(null),
  lastUpdatedAt: z.string().nullish().catch(null),
  ttlMs: z.number().nonnegative().nullish().catch(null),
  pollIntervalMs: z.number().nonnegative().nullish().catch(null),
});

/** The task in a value of the wire, or `null` if there is none. Kept verbatim: status, id and `createdAt` (B6). */
export function taskViewOf(value: unknown): TaskView | null {
  const task = readAs(WireTask, value);
  if (task === null) return null;
  const ttlMs = task.ttlMs ?? null;
  // Both times are the server's, so their difference is free of the distance between the two clocks (B13).
  const age = Date.parse(task.lastUpdatedAt ?? '') - Date.parse(task.createdAt ?? '');
  return {
    taskId: task.taskId,
    taskCreatedAt: task.createdAt ?? null,
    status: task.status,
    statusMessage: task.statusMessage?.slice(0, 4_000) ?? null,
    pollIntervalMs: task.pollIntervalMs ?? null,
    ttlMs,
    remainingTtlMs: ttlMs === null || Number.isNaN(age) ? null : Math.max(0, ttlMs - age),
  };
}
