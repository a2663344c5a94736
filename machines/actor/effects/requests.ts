/** What the effects share: a place in the server's rate, a bounded wait, a name for the task. */
import type { ProtocolSession, TaskRef, TaskView } from '../../operation-protocol.ts';
import type { ToolOperationContext } from '../../tool-operation/context.ts';
import type { OperationDrive } from '../drive.ts';
import { untilDefinite } from '../keep.ts';

/** Waits for a place in the rate of this server, shared by all executors (B8). */
export async function permit(drive: OperationDrive, signal: AbortSignal): Promise<void> {
  const { ledger, clock, rate } = drive.env;
  for (;;) {
    const { waitMs } = await ledger.takePermit(drive.context.endpoint.id, rate.qps, rate.burst);
    if (waitMs <= 0 || signal.aborted) return;
    // A little apart, so that those who were refused together do not come back together.
    await clock.sleep(waitMs * (1 + clock.random() * 0.5), signal);
    if (signal.aborted) return;
  }
}

export function taskRef(context: ToolOperationContext): TaskRef {
  if (context.taskId === null) throw new Error('this state owes a request about a task whose id is not known');
  return { taskId: context.taskId, taskCreatedAt: context.taskCreatedAt, tool: context.tool.name };
}

/** A session that was refused says nothing of the task: the next request opens a new one. */
export function noteSession(
  drive: OperationDrive,
  outcome: { readonly kind: string; readonly sessionLost?: boolean },
): void {
  if (outcome.sessionLost) drive.env.connections.loseSession(drive.context);
}

/** F9: whose task is this? First come, first served, in the ledger. */
export async function isForeign(drive: OperationDrive, task: Pick<TaskView, 'taskId'>): Promise<boolean> {
  const { env, context, operationId } = drive;
  const owner = await untilDefinite(env, operationId, 'ownTask', drive.stopping, () =>
    env.ledger.ownTask(context.endpoint.id, task.taskId, operationId),
  );
  return owner !== operationId;
}

export const sessionOf = (drive: OperationDrive): Promise<ProtocolSession> =>
  drive.env.connections.session(drive.context);

/** A wait of at most the request timeout; giving up only stops the waiting. */
export function patience(drive: OperationDrive, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(drive.env.requestTimeoutMs)]);
}
