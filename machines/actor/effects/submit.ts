import type { Submission, SubmitOutcome } from '../../operation-protocol.ts';
import type { OperationDrive } from '../drive.ts';
import { stampOf } from '../environment.ts';
import { told } from '../facts.ts';
import { untilDefinite } from '../keep.ts';
import { recordedReplies } from '../question.ts';
import type { RunEffect } from './index.ts';
import { isForeign, noteSession, permit, permitInTime, sessionOf, storedRequest } from './requests.ts';

/** Takes the call off the queue, once the server can be reached and its rate has a place. */
export const beginSubmit: RunEffect = async (drive, issued, signal) => {
  await sessionOf(drive);
  await permit(drive, signal);
  if (signal.aborted) return [];
  return [
    {
      event: {
        ...stampOf(drive.env),
        type: 'submit.begin',
        claims: issued.claims,
        creationAllowed: drive.env.creationAllowed(),
        sender: drive.newSender(),
      },
      payloads: [],
    },
  ];
};

/** A call that was never created goes back on the queue, as its next attempt. */
export const requeue: RunEffect = async (drive, issued) => [
  {
    event: {
      ...stampOf(drive.env),
      type: 'submit.requeue',
      claims: issued.claims,
      creationAllowed: drive.env.creationAllowed(),
    },
    payloads: [],
  },
];

/** Sends the call, if the record names this very drive as its sender; found by anybody else it may have been sent, and is looked up. */
export const submit: RunEffect = async (drive, issued, signal) => {
  const { env, context } = drive;
  if (!drive.becomesSender()) {
    return [{ event: { ...stampOf(env), type: 'sender.lost', claims: issued.claims }, payloads: [] }];
  }
  const notSent = () => {
    const outcome = { kind: 'notSent', reason: 'its executor was stopped, or its execution epoch ended' } as const;
    return [told.submit(outcome, issued, stampOf(env), false)];
  };
  if (drive.stopping.aborted) return notSent();
  const request = await untilDefinite(env, drive.operationId, 'request', drive.stopping, () => storedRequest(drive));
  const input = await untilDefinite(env, drive.operationId, 'answer', drive.stopping, () => answersOf(drive));
  const session = await sessionOf(drive);
  await permitInTime(drive, signal);
  if (!(await untilDefinite(env, drive.operationId, 'epoch', drive.stopping, () => drive.maySend()))) return notSent();
  const tell = async (outcome: SubmitOutcome) => {
    const foreign = outcome.kind === 'acknowledged' && (await isForeign(drive, outcome.task));
    return told.submit(outcome, issued, stampOf(env), foreign);
  };
  const outcome = await session.submit(
    {
      tool: request.tool,
      arguments: request.arguments,
      ttlMs: request.ttlMs,
      submissionKey: context.submissionKey,
      attempt: context.attempt,
      requestDigest: context.requestDigest,
      principal: context.principal,
      ...(env.ledger.kind === 'shadow' ? { shadow: true } : {}),
      ...(input === null ? {} : { input }),
    },
    {
      mayWrite: () => drive.lease.isHeld() && !env.tenure.over.aborted,
      timeoutMs: env.requestTimeoutMs,
      signal,
      // The answer came after we stopped waiting: evidence, whoever holds the lease by now.
      late: (late) => drive.tellLate(tell(late)),
    },
  );
  noteSession(drive, outcome);
  return [await tell(outcome)];
};

/** What the server asked before it made a task, answered. */
async function answersOf({ env, context }: OperationDrive): Promise<NonNullable<Submission['input']> | null> {
  return context.input?.replyDigest ? recordedReplies(env.ledger, context) : null;
}
