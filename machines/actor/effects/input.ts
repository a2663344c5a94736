import { parseReply } from '../../approval-gate/reply-schema.ts';
import { stampOf } from '../environment.ts';
import { untilDefinite } from '../keep.ts';
import type { RunEffect } from './index.ts';
import { poll } from './poll.ts';

/**
 * Holds the channel open on which the question will arrive, and goes on reading the status. After a failure the status is
 * read first: a channel to a server that is away would bring its question, as a new round, and break, again and again.
 */
export const listen: RunEffect = async (drive, issued, signal) => {
  if (!drive.input.isOpen() && drive.context.failures > 0) {
    await drive.env.clock.sleep((drive.context.dueAt ?? 0) - drive.env.time.now(), signal);
    return signal.aborted ? [] : poll(drive, issued, signal);
  }
  await drive.input.open(signal);
  const wait = (drive.context.dueAt ?? 0) - drive.env.time.now();
  const news = await drive.input.next(wait, signal);
  if (news) return [await news(drive.issue())];
  if (signal.aborted || (drive.context.dueAt ?? 0) > drive.env.time.now()) return [];
  return poll(drive, issued, signal);
};

/** The question is open on a channel of this process: wait for the human, the deadline, or the end of the channel. */
export const holdInput: RunEffect = async (drive, issued, signal) => {
  if (!drive.input.isOpen()) return [drive.input.ended(issued, 'the process that held the question is gone')];
  const round = await drive.input.round();
  const wait = round.deadline + 1 - drive.env.time.now();
  if (wait <= 0)
    return [{ event: { ...stampOf(drive.env), type: 'input.deadlinePassed', claims: issued.claims }, payloads: [] }];
  drive.input.askHuman(round);
  const news = await drive.input.next(wait, signal);
  return news ? [await news(drive.issue())] : [];
};

/** The answer is recorded: mark that it may be on the wire from now on. */
export const sendInput: RunEffect = async (drive, issued) => {
  if (!drive.input.isOpen())
    return [drive.input.ended(issued, 'the channel of the question is gone; the answer was not written')];
  return [
    {
      event: { ...stampOf(drive.env), type: 'input.send', claims: issued.claims, sender: drive.newSender() },
      payloads: [],
    },
  ];
};

/** Writes the answer, if the record names this very drive; anybody else cannot know whether it was written. */
export const deliverInput: RunEffect = async (drive, issued) => {
  const { env, context } = drive;
  if (!drive.becomesSender() || !drive.input.isOpen())
    return [drive.input.ended(issued, 'the writer of the answer is gone')];
  const digest = context.input?.replyDigest ?? null;
  const text =
    digest === null
      ? null
      : await untilDefinite(env, drive.operationId, 'answer', drive.stopping, () =>
          env.ledger.readPayload(drive.operationId, digest),
        );
  if (text === null) throw new Error(`the stored answer of ${drive.operationId} is gone`);
  try {
    const written = drive.lease.isHeld() && (await drive.input.deliver(parseReply(JSON.parse(text))));
    if (written) return [{ event: { ...stampOf(env), type: 'input.delivered', claims: issued.claims }, payloads: [] }];
    drive.input.close();
    return [
      {
        event: {
          ...stampOf(env),
          type: 'input.notDelivered',
          claims: issued.claims,
          reason: 'the channel was closed before the answer was written',
        },
        payloads: [],
      },
    ];
  } catch (error) {
    drive.input.close();
    return [drive.input.ended(issued, `whether the answer was written is unknown: ${(error as Error).message}`)];
  }
};
