import type { Json } from '../../../machines/digest.ts';
import { isTerminal, type TaskRecord } from '../../mcp/server/record.ts';
import type { Questions, ServerStore } from '../../mcp/server/store.ts';

type Wire = Record<string, unknown>;

/** A task, flat, as it answers a call or is found by a look-up. */
export function wireTask(task: TaskRecord): Wire {
  return {
    taskId: task.taskId,
    status: task.status,
    ...(task.message === null ? {} : { statusMessage: task.message }),
    createdAt: task.createdAt,
    lastUpdatedAt: task.updatedAt,
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollMs,
  };
}

/** What `tasks/get` answers: everything that is outstanding, or what the task ended with. */
export async function detailedTask(task: TaskRecord, store: ServerStore): Promise<Wire> {
  const { ending } = task;
  const outcome = task.status === 'completed' && ending?.kind === 'result' ? { result: ending.value } : {};
  const fault = task.status === 'failed' && ending?.kind === 'error' ? { error: ending.value } : {};
  const open = isTerminal(task.status) ? {} : outstanding(await store.questions(task.taskId));
  // An answer may have come between the two reads.
  const asks = task.status === 'input_required' && Object.keys(open).length > 0;
  const status = task.status === 'input_required' && !asks ? 'working' : task.status;
  return {
    ...wireTask(task),
    resultType: 'complete',
    status,
    ...(asks ? { inputRequests: open } : {}),
    ...outcome,
    ...fault,
  };
}

export function outstanding({ asked, answers }: Questions): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !Object.hasOwn(answers, key)));
}
