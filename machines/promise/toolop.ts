/**
 * The face for those who use no XState: a call as a promise. Like the actor it is a handle on the ledger record: the same
 * call node attaches to the same operation, from any process and after any restart, and gives the same receipt.
 */
import { requestOf, type ToolCall, ToolCallLimits } from '../actor/call.ts';
import type { CommandAnswer } from '../actor/commands.ts';
import type { Executor } from '../actor/executor.ts';
import { CallRefused } from '../actor/operation-error.ts';
import type { TerminalOutcome } from '../actor/outcome.ts';
import type { OpenRound } from '../approval-gate/round.ts';
import type { Json } from '../digest.ts';
import type { InputReply } from '../operation-protocol.ts';
import type { TerminalReceipt } from '../tool-operation/receipt.ts';
import { CallCancelled, GivenUp, NotSubmitted, OutputMismatch, OutputWithheld, ToolFailed } from './errors.ts';
import { type OutputReader, type OutputSchema, outputReader } from './output.ts';
import { isNews, type Progress, progressOf } from './progress.ts';

/** Of one run, not of the call: another run of the same call node may have others. */
export interface RunOptions<T> {
  /**
   * What the output has to fit, and its type: checked against the result's `structuredContent` where it has one, else
   * against the whole result. Default: nothing is checked, and the output is the whole result.
   */
  readonly output?: OutputSchema<T>;
  /** Stops the *waiting* only (B14): the operation goes on, and the same call node attaches to it again. */
  readonly signal?: AbortSignal;
}

/** A call that completed. */
export interface Completed<T> {
  /** `p<NN>.<sha256>`: for an operator, and for `Executor`. */
  readonly operationId: string;
  /** Of the type that the schema says, or the whole result where none was given. */
  readonly output: T;
  /** What the outcome rests on (B12). */
  readonly receipt: TerminalReceipt;
}

/**
 * A call that is waited for. As an `AsyncIterable` it gives the steps from where the operation stands until it is over; the
 * iteration then ends as the promise does, so an error comes out of either.
 */
export interface Running<T> extends Promise<Completed<T>>, AsyncIterable<Progress> {
  /** Known at once: also while nothing is created yet. */
  readonly operationId: string;
  /** Asks the server for a cancel: a request (B9). What the call came to is said by the promise. */
  cancel(reason?: string): Promise<CommandAnswer>;
}

/** Calls as promises: made by `createToolop`. */
export interface Toolop {
  /**
   * Makes a call, or attaches to the one that its call node made. Rejects with an `OperationError`: `CallRefused`,
   * `OperationParked`, `OperationPurged`, `ToolFailed`, `CallCancelled`, `NotSubmitted`, `GivenUp`, `OutputWithheld` or
   * `OutputMismatch`; with the signal's reason; with `LedgerUnavailable` where the ledger was away when the call was made
   * (run it again, with the same call node). Throws at once for a call, or a schema, that is not one: nothing is made then.
   */
  run<T = Json>(call: ToolCall, options?: RunOptions<T>): Running<T>;
  /** Answers the question of a step (B7). Refused, with a reason, where it is not open any more or the answer does not fit. */
  answer(question: OpenRound, reply: InputReply): Promise<CommandAnswer>;
}

/** Calls as promises, by an executor that was started. */
export function createToolop({ executor }: { readonly executor: Executor }): Toolop {
  return {
    run: (call, options = {}) => running(executor, call, options),
    answer: ({ operationId, round, schemaDigest }, reply) =>
      executor.answer({ operationId, round, schemaDigest, reply }),
  };
}

function running<T>(executor: Executor, call: ToolCall, { output, signal }: RunOptions<T>): Running<T> {
  ToolCallLimits.parse(call);
  const read = outputReader(output);
  const operationId = executor.operationIdOf(call);
  const submitted = signal?.aborted ? Promise.reject(signal.reason) : submit(executor, call, operationId);
  const known = orAborted(submitted, signal);
  const ended = (async () => {
    await known;
    return completed(await executor.wait(operationId, signal), read);
  })();
  async function* steps(): AsyncGenerator<Progress> {
    // Whoever iterates hears of the error there.
    ended.catch(() => undefined);
    let last: Progress | null = null;
    for await (const opened of (await settled(known)) ? executor.follow(operationId, signal) : []) {
      const step = await progressOf(executor.env.ledger, opened);
      if (isNews(step, last)) yield step;
      last = step;
      if (opened.snapshot.context.parked) break;
    }
    await ended;
  }
  return Object.assign(ended, {
    operationId,
    cancel: async (reason?: string) => {
      await submitted;
      return executor.cancel(operationId, 'caller', reason ?? null);
    },
    [Symbol.asyncIterator]: steps,
  });
}

/** Resolves once the operation is known to exist, or to have existed. */
async function submit(executor: Executor, call: ToolCall, operationId: string): Promise<void> {
  const answer = await executor.submit(call);
  if (answer.kind === 'accepted') return;
  // The record is purged before the receipt is: the call node is as good as its receipt.
  const outcome = await executor.outcome(operationId);
  if (outcome?.receipt.requestDigest === requestOf(call).digest) return;
  throw new CallRefused(operationId, answer.reason, answer.next);
}

/** Leaves at an abort; what was begun goes on. */
function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  return new Promise<void>((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

const settled = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

async function completed<T>(outcome: TerminalOutcome, read: OutputReader<T>): Promise<Completed<T>> {
  const { receipt, output } = outcome;
  switch (receipt.outcome) {
    case 'failed':
      throw new ToolFailed(receipt, output);
    case 'cancelled':
      throw new CallCancelled(receipt);
    case 'not_submitted':
      throw new NotSubmitted(receipt);
    case 'given_up':
      throw new GivenUp(receipt);
  }
  if (output === null) throw new OutputWithheld(receipt, outcome.outputPurged ? 'purged' : 'guard');
  const reading = await read(output);
  if (reading.kind === 'misfits') throw new OutputMismatch(receipt, output, reading.issues);
  return { operationId: receipt.operationId, output: reading.value, receipt };
}
