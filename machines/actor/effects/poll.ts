import type { InputRequests } from '../../operation-protocol.ts';
import type { ToolOperationContext } from '../../tool-operation/context.ts';
import { stampOf } from '../environment.ts';
import { type Issued, type Told, told } from '../facts.ts';
import { type Asked, askedBefore, askedWithStatus, keyDigest } from '../question.ts';
import { measurePoll } from '../telemetry/measure.ts';
import type { RunEffect } from './index.ts';
import { noteSession, patiently, permit, type Reader, sessionOf, taskRef } from './requests.ts';

/** Reads the status once. A failed poll says nothing: only the time of the next one changes. */
export const poll: RunEffect = (drive, issued, signal) => readStatus(drive, issued, signal);

/** The same for whoever has a reason to look before the time. */
export async function readStatus(drive: Reader, issued: Issued, signal: AbortSignal): Promise<readonly Told[]> {
  const { env, context } = drive;
  const session = await sessionOf(drive);
  await permit(drive, signal);
  if (signal.aborted) return [];
  measurePoll(context);
  const outcome = await patiently(drive, signal, (patience) => session.status(taskRef(context), patience));
  if (signal.aborted && outcome.kind === 'unknown') return [];
  const sessionChanged = env.connections.sessionChanged(context);
  noteSession(drive, outcome);
  const stamp = stampOf(env);
  const status = told.status(outcome, issued, stamp, false, sessionChanged);
  const asked =
    outcome.kind === 'status' && outcome.task.status === 'input_required' && outcome.inputRequests
      ? openQuestions(context, outcome.inputRequests)
      : null;
  return asked === null ? [status] : [status, told.requested(asked, issued, stamp)];
}

/**
 * What is outstanding and was not answered. The server lists everything each time: a recorded answer that never arrived
 * goes out first, under its own round; a question that was answered is never asked again.
 */
function openQuestions(context: ToolOperationContext, requests: InputRequests): Asked | null {
  const { input } = context;
  const listed = new Map(Object.entries(requests).map(([key, request]) => [keyDigest(key), [key, request] as const]));
  if (input?.delivery === 'recorded' && input.keys.some((key) => listed.has(key))) {
    return askedBefore(input);
  }
  const fresh = [...listed].filter(([key]) => !context.answeredKeys.includes(key)).map(([, entry]) => entry);
  return fresh.length === 0 ? null : askedWithStatus(Object.fromEntries(fresh));
}
