/** What the human of the model says, as a command to an executor. */

import type { Executor } from '../../../machines/index.ts';
import type { ToolOperationContext } from '../../../machines/tool-operation/context.ts';
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { Divergence } from './divergence.ts';

export function command(
  executor: Executor,
  id: string,
  context: ToolOperationContext,
  event: OperationEvent,
  taskId: string,
) {
  const note = 'seen in the log of the server';
  switch (event.type) {
    case 'cancel.request':
      return executor.cancel(id, 'human');
    case 'input.reply':
      return executor.answer({
        operationId: id,
        round: context.inputRound,
        schemaDigest: context.input?.schemaDigest ?? '',
        reply: { action: 'decline' },
      });
    case 'reconcile.giveUp':
      return executor.reconcile(id, 'human', { verb: 'give-up', note });
    case 'reconcile.neverCreated':
      return executor.reconcile(id, 'human', { verb: 'never-created', note });
    case 'reconcile.accept':
      return executor.reconcile(id, 'human', { verb: 'accept', status: event.status, payload: null, note });
    case 'reconcile.attach':
      return executor.reconcile(id, 'human', { verb: 'attach', taskId });
    default:
      throw new Divergence(`no human says ${event.type}`);
  }
}
