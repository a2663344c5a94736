/** What a waiting caller sees of an operation: committed states only. */
import { openRound } from '../actor/question.ts';
import type { Opened } from '../actor/store.ts';
import type { OpenRound } from '../approval-gate/round.ts';
import type { OperationLedger } from '../operation-ledger.ts';
import type { ServerStatus } from '../tool-operation/context.ts';
import { owedEffect, stateName } from '../tool-operation/snapshot.ts';

/** One committed step that changed what a caller can see. */
export interface Progress {
  /** `p<NN>.<sha256>`. */
  readonly operationId: string;
  /** Of the statechart: `SUBMITTING`, `WORKING`, `INPUT_REQUIRED`, ... */
  readonly state: string;
  /** The protocol's own word, verbatim; `null`: none was told yet. */
  readonly status: ServerStatus | null;
  /** What the server said with it. */
  readonly message: string | null;
  /** `null`: the server has named none. In logs it is treated as a secret. */
  readonly taskId: string | null;
  /** An open question: give it back, answered, to `toolop.answer`. */
  readonly question: OpenRound | null;
  /** When it was committed, ms of ledger time. */
  readonly at: number;
}

export async function progressOf(ledger: OperationLedger, opened: Opened): Promise<Progress> {
  const { context } = opened.snapshot;
  return {
    operationId: context.operationId,
    state: stateName(opened.snapshot),
    status: context.serverStatus,
    message: context.statusMessage,
    taskId: context.taskId,
    question: owedEffect(opened.snapshot) === 'holdInput' ? await openRound(ledger, opened) : null,
    at: context.updatedAt,
  };
}

/** Polls that told nothing new are no progress. */
export const isNews = (step: Progress, last: Progress | null): boolean =>
  last === null ||
  step.state !== last.state ||
  step.status !== last.status ||
  step.message !== last.message ||
  step.taskId !== last.taskId ||
  step.question?.round !== last.question?.round;
