/** A server of one protocol with the wire before it, on which a script is played once. */
import type { Truth } from '../history.ts';
import type { Fault, Hand, Step } from '../script.ts';

/** What of a script's hand is about the server and the wire. */
export type Deeds = Pick<
  Hand,
  'complete' | 'completeWithoutResult' | 'statuses' | 'flip' | 'forget' | 'reuse' | 'dropSessions' | 'restart' | 'away'
>;

export interface Arena {
  readonly deeds: Deeds;
  readonly url: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** These in place of all that were set before and not met. */
  fault(faults: readonly Fault[]): Promise<void>;
  /** Operations, or runs of the tool, so far. */
  operations(): Promise<number>;
  /** Requests for this step so far, also those that were lost on the way. */
  count(step: Step): Promise<number>;
  answers(): Promise<number>;
  /** `false`: an operation is still on its way to its end. */
  isQuiet(): Promise<boolean>;
  truth(): Promise<Truth>;
  /** Faults that were set and met nothing: the script was not played. */
  unmet(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** More than any script meets. */
export const FOR_GOOD = 500;

/** Waits until it is so, or until `withinMs` have passed: a contender that gave up never gets there. */
export async function within(withinMs: number, isSo: () => Promise<boolean> | boolean): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

export const notHere = (what: string) => (): Promise<never> =>
  Promise.reject(new Error(`${what}: not on this protocol`));
