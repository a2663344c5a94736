/** Whether a real record is the one of the model: everything that a decision reads, and nothing that only differs by name. */
import type { ToolOperationContext } from '../../../machines/tool-operation/context.ts';
import { type OperationSnapshot, owedEffect, statePath } from '../../../machines/tool-operation/snapshot.ts';

type Context = ToolOperationContext;

const FEATURES: Readonly<Record<string, (context: Context) => unknown>> = {
  'execution epoch': ({ executionEpoch }) => executionEpoch,
  attempt: ({ attempt }) => attempt,
  'closed through': ({ closedThroughAttempt }) => closedThroughAttempt,
  'sent through': ({ sentThroughAttempt }) => sentThroughAttempt,
  sender: ({ sender }) => sender !== null,
  'cancel generation': ({ cancelGeneration }) => cancelGeneration,
  'task id': ({ taskId }) => taskId !== null,
  'server status': ({ serverStatus }) => serverStatus,
  cancel: ({ cancel }) => cancel && { heard: cancel.heard },
  input: ({ input }) =>
    input && {
      delivery: input.delivery,
      replied: input.replyDigest !== null,
      possiblyRepeat: input.possiblyRepeat,
    },
  paused: ({ pausedAt }) => pausedAt !== null,
  terminal: ({ terminal }) => terminal?.status ?? null,
  result: ({ result }) => result?.kind ?? null,
  candidate: ({ candidate }) => candidate?.kind ?? null,
  'audit result': ({ auditResult }) => auditResult?.kind ?? null,
  released: ({ outputVerdict }) => outputVerdict?.released ?? null,
  'not submitted': ({ notSubmitted }) => notSubmitted?.outcome ?? null,
  missing: ({ missing }) => missing && { sessionChanged: missing.sessionChanged },
  parked: ({ parked }) => parked?.reason ?? null,
  'given up': ({ givenUp }) => givenUp !== null,
  'effect reconciliation': ({ effectReconciliationRequired }) => effectReconciliationRequired,
  inbox: ({ inbox }) =>
    new Set(inbox.map(({ kind, taskId, status }) => `${kind} ${taskId !== undefined} ${status}`)).size,
};

/** What differs, in words; `null`: nothing. */
export function differs(real: OperationSnapshot, model: OperationSnapshot): string | null {
  const [is, should] = [statePath(real), statePath(model)];
  if (is !== should) return `the record is in ${is}, the model in ${should}`;
  if (owed(real) !== owed(model)) return `the record owes ${owed(real)}, the model ${owed(model)}`;
  for (const [name, of] of Object.entries(FEATURES)) {
    const [here, there] = [JSON.stringify(of(real.context)), JSON.stringify(of(model.context))];
    if (here !== there) return `${name}: ${here} in the record, ${there} in the model`;
  }
  return null;
}

const owed = (snapshot: OperationSnapshot) => (snapshot.status === 'done' ? null : owedEffect(snapshot));
