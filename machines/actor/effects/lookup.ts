import type { LookupOutcome, ProtocolSession } from '../../operation-protocol.ts';
import { mayRepeatCall } from '../../tool-operation/guards.ts';
import type { OperationDrive } from '../drive.ts';
import { stampOf } from '../environment.ts';
import { told } from '../facts.ts';
import type { RunEffect } from './index.ts';
import { isForeign, noteSession, patiently, permit, sessionOf, storedRequest } from './requests.ts';

/** By key, or by an id that an executor of an older epoch brought and that nobody has verified yet. */
export const lookup: RunEffect = async (drive, issued, signal) => {
  const { env } = drive;
  const session = await sessionOf(drive);
  await permit(drive, signal);
  const outcome = await patiently(drive, signal, (patience) => ask(drive, session, patience));
  noteSession(drive, outcome);
  const named = outcome.kind === 'found' ? outcome.task : outcome.kind === 'expiredWithReceipt' ? outcome : null;
  const foreign = named !== null && (await isForeign(drive, named));
  return [told.lookup(outcome, issued, stampOf(env), foreign)];
};

async function ask(drive: OperationDrive, session: ProtocolSession, signal: AbortSignal): Promise<LookupOutcome> {
  const { env, context } = drive;
  const candidate =
    context.taskId === null ? context.inbox.find((entry) => entry.taskId !== undefined)?.taskId : undefined;
  if (candidate !== undefined) {
    const status = await session.status({ taskId: candidate, taskCreatedAt: null, tool: context.tool.name }, signal);
    if (status.kind === 'status') return { kind: 'found', task: status.task };
    if (status.kind === 'unknown') return status;
  }
  const refused = await notAskable(drive);
  if (refused !== null) return refused;
  const call = context.capabilities.lookup === 'repeat' ? { call: await storedRequest(drive) } : {};
  return session.lookup(
    {
      tool: context.tool.name,
      submissionKey: context.submissionKey,
      attempt: context.sentThroughAttempt,
      requestDigest: context.requestDigest,
      principal: context.principal,
      ...(env.ledger.kind === 'shadow' ? { shadow: true } : {}),
      ...call,
    },
    { mayWrite: () => drive.lease.isHeld() && !env.tenure.over.aborted, signal },
  );
}

/** Why the key is not asked for, or `null`. A look-up that repeats the call must not create what nobody wants any more. */
async function notAskable({ env, context, operationId }: OperationDrive): Promise<LookupOutcome | null> {
  if (context.capabilities.lookup === 'none') {
    return { kind: 'unavailable', reason: 'the server declared no look-up by submission key' };
  }
  if (context.capabilities.lookup === 'closing') return null;
  if (mayRepeatCall(context, env.time.now())) {
    const active = (await env.ledger.adapterState(context.protocol, operationId)) === 'active';
    const { allowed, epoch } = await env.ledger.creationOf(operationId);
    if (active && allowed && epoch <= env.executionEpoch && env.creationAllowed()) return null;
    return { kind: 'unknown', reason: 'creating operations is switched off' };
  }
  return { kind: 'unavailable', reason: 'only the call itself could be repeated, and that might create an operation' };
}
