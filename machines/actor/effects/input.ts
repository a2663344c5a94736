import type { OperationDrive } from '../drive.ts';
import { stampOf } from '../environment.ts';
import type { Issued, Told } from '../facts.ts';
import { untilDefinite } from '../keep.ts';
import { recordedReplies, recordedReply } from '../question.ts';
import type { RunEffect } from './index.ts';
import { poll } from './poll.ts';
import { noteSession, patiently, permit, sessionOf, taskRef } from './requests.ts';

/**
 * Holds the channel open on which the question will arrive, and goes on reading the status. After a failure the status is
 * read first: a channel to a server that is away would bring its question, as a new round, and break, again and again.
 */
export const listen: RunEffect = async (drive, issued, signal) => {
  if (!onChannel(drive)) return poll(drive, issued, signal);
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

/** The question is open: wait for the human, the deadline, or the end of the channel it came on. */
export const holdInput: RunEffect = async (drive, issued, signal) => {
  if (onChannel(drive) && !drive.input.isOpen())
    return [drive.input.ended(issued, 'the process that held the question is gone')];
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
  if (onChannel(drive) && !drive.input.isOpen())
    return [drive.input.ended(issued, 'the channel of the question is gone; the answer was not written')];
  return [
    {
      event: { ...stampOf(drive.env), type: 'input.send', claims: issued.claims, sender: drive.newSender() },
      payloads: [],
    },
  ];
};

/** Sends the answer, where the protocol has a request for it; else it is written on the channel of the question. */
export const deliverInput: RunEffect = (drive, issued, signal) =>
  onChannel(drive) ? writeOnChannel(drive, issued) : sendByKey(drive, issued, signal);

/** Only the committed sender writes: anybody else cannot know whether it was written. */
async function writeOnChannel(drive: OperationDrive, issued: Issued): Promise<readonly Told[]> {
  if (!drive.becomesSender() || !drive.input.isOpen())
    return [drive.input.ended(issued, 'the writer of the answer is gone')];
  const reply = await whenReadable(drive, () => recordedReply(drive.env.ledger, drive.context));
  try {
    const written = drive.lease.isHeld() && (await drive.input.deliver(reply));
    if (written) return [delivered(drive, issued)];
    drive.input.close();
    return [notDelivered(drive, issued, 'the channel was closed before the answer was written')];
  } catch (error) {
    drive.input.close();
    return [drive.input.ended(issued, `whether the answer was written is unknown: ${(error as Error).message}`)];
  }
}

/** A server that knows its questions by key ignores an answer that it has: sent by whoever finds it owed, until it is heard. */
async function sendByKey(drive: OperationDrive, issued: Issued, signal: AbortSignal): Promise<readonly Told[]> {
  const session = await sessionOf(drive);
  if (!session.answerInput) throw new Error(`${drive.context.protocol} has no request that answers a question`);
  const { replies } = await whenReadable(drive, () => recordedReplies(drive.env.ledger, drive.context));
  await permit(drive, signal);
  if (signal.aborted) return [];
  const answerInput = session.answerInput.bind(session);
  const outcome = await patiently(drive, signal, (patience) => answerInput(taskRef(drive.context), replies, patience));
  noteSession(drive, outcome);
  return [outcome.kind === 'delivered' ? delivered(drive, issued) : notDelivered(drive, issued, outcome.reason)];
}

const whenReadable = <T>(drive: OperationDrive, read: () => Promise<T>): Promise<T> =>
  untilDefinite(drive.env, drive.operationId, 'answer', drive.stopping, read);

const delivered = (drive: OperationDrive, { claims }: Issued): Told => ({
  event: { ...stampOf(drive.env), type: 'input.delivered', claims },
  payloads: [],
});

/** The status tells whether it is still asked for; then it goes out once more. */
const notDelivered = (drive: OperationDrive, { claims }: Issued, reason: string): Told => ({
  event: { ...stampOf(drive.env), type: 'input.notDelivered', claims, reason },
  payloads: [],
});

const onChannel = (drive: OperationDrive): boolean => drive.context.capabilities.input === 'channel';
