import type { TaskView } from '../../machines/operation-protocol.ts';
import { readAs } from '../mcp/read-as.ts';
import { viewOf, WireTask, wireMs } from '../mcp/task-view.ts';

/** A `Task` of this revision: its times are `ttl` and `pollInterval`, ms. */
const Task = WireTask.extend({ ttl: wireMs, pollInterval: wireMs });

/** The task in a value of the wire, or `null` if there is none. */
export function taskViewOf(value: unknown): TaskView | null {
  const task = readAs(Task, value);
  return task && viewOf(task, { ttlMs: task.ttl, pollIntervalMs: task.pollInterval });
}
