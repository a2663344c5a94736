import type { TaskView } from '../../machines/operation-protocol.ts';
import { readAs } from '../mcp/read-as.ts';
import { viewOf, WireTask, wireMs } from '../mcp/task-view.ts';

/** A task of this revision, always flat: its times are `ttlMs` and `pollIntervalMs`. */
const Task = WireTask.extend({ ttlMs: wireMs, pollIntervalMs: wireMs });

/** The task in a value of the wire, or `null` if there is none. */
export function taskViewOf(value: unknown): TaskView | null {
  const task = readAs(Task, value);
  return task && viewOf(task, { ttlMs: task.ttlMs, pollIntervalMs: task.pollIntervalMs });
}
