/** One effect a file entry: what each state owes (`meta.effect`), performed once; its outcome comes back as facts. */
import type { Effect } from '../../tool-operation/machine.ts';
import type { OperationDrive } from '../drive.ts';
import type { Issued, Told } from '../facts.ts';
import { acceptTerminal } from './accept.ts';
import { sendCancel } from './cancel.ts';
import { deliverInput, holdInput, listen, sendInput } from './input.ts';
import { lookup } from './lookup.ts';
import { poll } from './poll.ts';
import { fetchResult } from './result.ts';
import { beginSubmit, requeue, submit } from './submit.ts';

/** `signal` ends the waiting for an answer, never the operation. */
export type RunEffect = (drive: OperationDrive, issued: Issued, signal: AbortSignal) => Promise<readonly Told[]>;

export const effects: Readonly<Record<Effect, RunEffect>> = {
  beginSubmit,
  submit,
  requeue,
  lookup,
  poll,
  listen,
  holdInput,
  sendInput,
  deliverInput,
  sendCancel,
  fetchResult,
  acceptTerminal,
};
