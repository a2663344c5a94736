import { z } from 'zod';
import type { Json } from '../../digest.ts';
import type { SubmitOutcome } from '../../operation-protocol.ts';
import { stampOf } from '../environment.ts';
import { told } from '../facts.ts';
import { untilDefinite } from '../keep.ts';
import type { RunEffect } from './index.ts';
import { isForeign, noteSession, permit, permitInTime, sessionOf } from './requests.ts';

const StoredRequest = z.strictObject({ tool: z.string(), arguments: z.json(), ttlMs: z.number().nullable() });

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
  const request = await untilDefinite(env, drive.operationId, 'request', drive.stopping, () => storedRequest(drive));
  const session = await sessionOf(drive);
  await permitInTime(drive, signal);
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
    },
    {
      mayWrite: () => drive.lease.isHeld(),
      timeoutMs: env.requestTimeoutMs,
      signal,
      // The answer came after we stopped waiting: evidence, whoever holds the lease by now.
      late: (late) => drive.tellLate(tell(late)),
    },
  );
  noteSession(drive, outcome);
  return [await tell(outcome)];
};

async function storedRequest(
  drive: Parameters<RunEffect>[0],
): Promise<{ tool: string; arguments: Json; ttlMs: number | null }> {
  const text = await drive.env.ledger.readPayload(drive.operationId, drive.context.requestDigest);
  if (text === null) throw new Error(`the stored request of ${drive.operationId} is gone`);
  return StoredRequest.parse(JSON.parse(text)) as { tool: string; arguments: Json; ttlMs: number | null };
}
