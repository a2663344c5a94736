import { stampOf } from '../environment.ts';
import { told } from '../facts.ts';
import type { RunEffect } from './index.ts';
import { noteSession, patiently, permit, sessionOf, taskRef } from './requests.ts';

/** Sends the protocol's cancel, after the intent was committed (B9). */
export const sendCancel: RunEffect = async (drive, issued, signal) => {
  const session = await sessionOf(drive);
  await permit(drive, signal, 'next');
  const outcome = await patiently(drive, signal, (patience) => session.cancel(taskRef(drive.context), patience));
  noteSession(drive, outcome);
  return [told.cancel(outcome, issued, stampOf(drive.env))];
};
