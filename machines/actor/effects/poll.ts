import { stampOf } from '../environment.ts';
import { told } from '../facts.ts';
import type { RunEffect } from './index.ts';
import { noteSession, patience, permit, sessionOf, taskRef } from './requests.ts';

/** Reads the status once. A failed poll says nothing: only the time of the next one changes. */
export const poll: RunEffect = async (drive, issued, signal) => {
  const session = await sessionOf(drive);
  await permit(drive, signal);
  if (signal.aborted) return [];
  const outcome = await session.status(taskRef(drive.context), patience(drive, signal));
  if (signal.aborted && outcome.kind === 'unknown') return [];
  const sessionChanged = drive.env.connections.sessionChanged(drive.context);
  noteSession(drive, outcome);
  return [told.status(outcome, issued, stampOf(drive.env), false, sessionChanged)];
};
