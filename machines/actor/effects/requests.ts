/** What the effects share: a place in the server's rate, a bounded wait, a name for the task. */
import { z } from 'zod';
import type { Json } from '../../digest.ts';
import type { ProtocolSession, TaskRef, TaskView } from '../../operation-protocol.ts';
import type { ToolOperationContext } from '../../tool-operation/context.ts';
import type { OperationDrive } from '../drive.ts';
import type { Environment, Rate } from '../environment.ts';
import { untilDefinite } from '../keep.ts';
import { Line } from '../line.ts';
import { measurePlace } from '../telemetry/measure.ts';

const StoredRequest = z.strictObject({ tool: z.string(), arguments: z.json(), ttlMs: z.number().nullable() });

/**
 * How old a permit may be when its request is sent, ms. An older one was overtaken by time: the process was stopped or
 * stalled, and sending now would add to what the rate has allowed to others since.
 */
const USE_BY_MS = 250;

/** Who asks: a drive, or somebody who only reads. */
export type Reader = Pick<OperationDrive, 'env' | 'context'>;

const lines = new WeakMap<Environment, Map<string, Line>>();
const takenAt = new WeakMap<Reader, number>();

/** Waits for a place in the rate of this server, shared by all executors (B8). A cancel gets the next one (G4). */
export async function permit(drive: Reader, signal: AbortSignal, lane?: 'next'): Promise<void> {
  const take = lane === 'next' ? nextPlace : placeInLine;
  const askedAt = drive.env.clock.monotonic();
  // Late twice in a row: it is the ledger that is slow.
  if (!(await take(drive, signal))) await take(drive, signal);
  const at = drive.env.clock.monotonic();
  takenAt.set(drive, at);
  measurePlace(drive.context, at - askedAt);
}

/** Right before sending what had its permit before the commit. */
export async function permitInTime(drive: Reader, signal: AbortSignal): Promise<void> {
  const age = drive.env.clock.monotonic() - (takenAt.get(drive) ?? Number.NEGATIVE_INFINITY);
  if (age > USE_BY_MS) await permit(drive, signal, 'next');
}

/** `false`: the place came too late to be used. */
async function nextPlace({ env, context }: Reader, signal: AbortSignal): Promise<boolean> {
  const { ledger, clock, rate } = env;
  const askedAt = clock.monotonic();
  const { waitMs } = await ledger.takePermit(context.endpoint.id, rate.qps, burstOf(rate), 'next');
  if (waitMs > 0) await clock.sleep(waitMs, signal);
  return signal.aborted || clock.monotonic() - askedAt - waitMs <= USE_BY_MS;
}

/** Only the first of those who wait in this process asks the ledger: a thousand would keep it busy with refusals. */
async function placeInLine({ env, context }: Reader, signal: AbortSignal): Promise<boolean> {
  const { ledger, clock, rate } = env;
  let inTime = true;
  const ask = async () => {
    const askedAt = clock.monotonic();
    const { waitMs } = await ledger.takePermit(context.endpoint.id, rate.qps, burstOf(rate));
    inTime = clock.monotonic() - askedAt <= USE_BY_MS;
    return waitMs;
  };
  const line = lineOf(env, context.endpoint.id);
  if (line.isEmpty && (await ask()) === 0) return inTime;
  await line.behindOthers(signal, async () => {
    for (;;) {
      const waitMs = await ask();
      if (waitMs === 0 || signal.aborted) return;
      // A little apart, so that executors which were refused together do not come back together.
      await clock.sleep(waitMs * (1 + clock.random() * 0.5), signal);
      if (signal.aborted) return;
    }
  });
  return inTime || signal.aborted;
}

/**
 * What was allowed as long ago as a permit is good for may arrive together with what is allowed now: so much less may be
 * allowed at once, and the server never sees more than the stated burst.
 */
const burstOf = ({ qps, burst }: Rate): number => Math.max(1, burst - Math.ceil((qps * USE_BY_MS) / 1_000));

function lineOf(env: Environment, endpointId: string): Line {
  const ofExecutor = lines.get(env) ?? new Map<string, Line>();
  lines.set(env, ofExecutor);
  const line = ofExecutor.get(endpointId) ?? new Line();
  ofExecutor.set(endpointId, line);
  return line;
}

export function taskRef(context: ToolOperationContext): TaskRef {
  if (context.taskId === null) throw new Error('this state owes a request about a task whose id is not known');
  return { taskId: context.taskId, taskCreatedAt: context.taskCreatedAt, tool: context.tool.name };
}

/** A session that was refused says nothing of the task: the next request opens a new one. */
export function noteSession(drive: Reader, outcome: { readonly kind: string; readonly sessionLost?: boolean }): void {
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

export const sessionOf = (drive: Reader): Promise<ProtocolSession> => drive.env.connections.session(drive.context);

/** Waits for an answer for at most the request timeout; giving up only stops the waiting. */
export async function patiently<T>(
  { env }: Reader,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const giveUp = () => over.abort(signal.reason);
  if (signal.aborted) giveUp();
  const timer = setTimeout(
    () => over.abort(new DOMException('no answer in time', 'TimeoutError')),
    env.requestTimeoutMs,
  );
  timer.unref();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await ask(over.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

/** The call as the ledger keeps it. */
export async function storedRequest({
  env,
  context,
  operationId,
  requestText,
}: OperationDrive): Promise<{ tool: string; arguments: Json; ttlMs: number | null }> {
  const text = requestText ?? (await env.ledger.readPayload(operationId, context.requestDigest));
  if (text === null) throw new Error(`the stored request of ${operationId} is gone`);
  return StoredRequest.parse(JSON.parse(text)) as { tool: string; arguments: Json; ttlMs: number | null };
}
