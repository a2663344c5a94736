import { started } from '../../../support/bench.ts';
import { accepted, until } from '../../../support/rig.ts';
import { aStatus, told } from '../events.ts';
import type { Story } from '../harness.ts';
import { HOLD, withoutItsResult } from '../situations.ts';

type Said = 'completed' | 'cancelled' | 'input_required';

/** Where the record stands once the server said so: in `state`, or still polling as if nothing had been said. */
function saying(said: Said, state: string): Story['tell'] {
  return async ({ bench, executor: start }) => {
    const executor = await start();
    const id = await accepted(executor, bench.call(said === 'input_required' ? { ask: 1 } : HOLD));
    if (said !== 'input_required') {
      const { snapshot } = await until(executor, id, (current) => current === 'WORKING.polling');
      const taskId = snapshot.context.taskId ?? '';
      await bench.server.control(
        said === 'completed' ? { op: 'complete', taskId } : { op: 'status', taskId, status: said },
      );
    }
    const { record } = await until(executor, id, (current, { snapshot }) => {
      return current === state || (current === 'WORKING.polling' && snapshot.context.serverStatus === said);
    });
    return record.state;
  };
}

/** B6, B8, B11: what the server says, and for how long it is asked. */
export const status: readonly Story[] = [
  {
    guard: 'saysOutcome',
    replacedBy: false,
    about: 'a task that completes',
    tell: saying('completed', 'ACCEPTED'),
    asIs: 'ACCEPTED',
    replaced: 'WORKING.polling',
  },
  {
    guard: 'saysCancelled',
    replacedBy: false,
    about: 'a task that somebody else cancelled',
    tell: saying('cancelled', 'CANCELLED_ACCEPTED'),
    asIs: 'CANCELLED_ACCEPTED',
    replaced: 'WORKING.polling',
  },
  {
    guard: 'saysInputRequired',
    replacedBy: false,
    about: 'a task that asks (B7)',
    tell: saying('input_required', 'INPUT_REQUIRED.awaiting'),
    asIs: 'INPUT_REQUIRED.awaiting',
    replaced: 'WORKING.polling',
  },
  {
    guard: 'saysTerminal',
    replacedBy: true,
    about: 'a status from before the completion that arrives after it (F2)',
    tell: async (scene) => {
      const { executor, id, taskId } = await withoutItsResult(scene, true);
      return told(executor, id, aStatus(taskId, 'working'));
    },
    asIs: 'refused in FETCHING_RESULT.retrying',
    replaced: 'taken in PARKED.disputed',
  },
  {
    guard: 'contradictsTerminal',
    replacedBy: false,
    about: 'completed, then failed',
    tell: async (scene) => {
      const { executor, id, taskId } = await withoutItsResult(scene, true);
      return told(executor, id, aStatus(taskId, 'failed'));
    },
    asIs: 'taken in PARKED.disputed',
    replaced: 'refused in FETCHING_RESULT.retrying',
  },
  {
    guard: 'withinWaitBudget',
    replacedBy: true,
    about: 'a task that outlasts the wait budget',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id, opened } = await started(executor, bench.call(HOLD, { policy: { waitBudgetMs: 300 } }));
      const later = opened.snapshot.context.waitDeadline + 300;
      const { record } = await until(executor, id, (state, { snapshot }) => {
        return state.startsWith('PARKED') || snapshot.context.updatedAt > later;
      });
      return record.state;
    },
    asIs: 'PARKED.watching',
    replaced: 'WORKING.polling',
  },
  {
    guard: 'withinStepBudget',
    replacedBy: true,
    about: 'a result that cannot be had inside its budget (F6)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id, taskId } = await started(executor, bench.call(HOLD, { policy: { fetchBudgetMs: 200 } }));
      const fault = { method: 'tasks/result', taskId, kind: 'http', status: 503, times: 1_000 } as const;
      await bench.server.control({ op: 'fault', ...fault });
      await bench.server.control({ op: 'complete', taskId });
      const { record } = await until(executor, id, (state, { snapshot: { context } }) => {
        const late = context.terminal !== null && context.updatedAt > context.terminal.observedAt + 700;
        return state.startsWith('PARKED') || late;
      });
      return record.state;
    },
    asIs: 'PARKED.watching',
    replaced: 'FETCHING_RESULT.retrying',
  },
];
