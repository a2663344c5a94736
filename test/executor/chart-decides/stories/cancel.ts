import { started } from '../../../support/bench.ts';
import { accepted, until } from '../../../support/rig.ts';
import type { Story } from '../harness.ts';
import { HOLD, rest, withoutItsResult } from '../situations.ts';

/** B9, B10: a cancel is a request. */
export const cancel: readonly Story[] = [
  {
    guard: 'cancelIsSupported',
    replacedBy: true,
    about: 'a cancel at a server that has none',
    on: 'noCancel',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id } = await started(executor, bench.call(HOLD));
      return (await executor.cancel(id)).kind;
    },
    asIs: 'refused',
    replaced: 'taken',
  },
  {
    guard: 'cancelIsWanted',
    replacedBy: false,
    about: 'a cancel while the call is on its way',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      await bench.server.control({ op: 'fault', method: 'tools/call', kind: 'hold' });
      const id = await accepted(executor, bench.call(HOLD));
      await until(executor, id, (state) => state === 'SUBMITTING.sending');
      await executor.cancel(id);
      await bench.server.control({ op: 'release' });
      const ends = ['CANCELLED_ACCEPTED', 'WORKING.polling'];
      return (await until(executor, id, (state) => ends.includes(state))).record.state;
    },
    asIs: 'CANCELLED_ACCEPTED',
    replaced: 'WORKING.polling',
  },
  {
    guard: 'cancelIsTerminalEvidence',
    replacedBy: false,
    about: 'a cancel that the server confirms',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id } = await started(executor, bench.call(HOLD));
      await executor.cancel(id);
      const { receipt } = await executor.wait(id);
      return `${receipt.outcome} by ${receipt.evidence?.kind}`;
    },
    asIs: 'cancelled by cancel.confirmed',
    replaced: 'cancelled by poll.status',
  },
  {
    guard: 'cancelIsUnheard',
    replacedBy: false,
    about: 'a cancel that never arrived (F5)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id, taskId } = await started(executor, bench.call(HOLD, { policy: { cancelBudgetMs: 500 } }));
      await bench.server.control({ op: 'fault', method: 'tasks/cancel', taskId, kind: 'resetBefore' });
      await executor.cancel(id);
      return rest(executor, id);
    },
    asIs: 'CANCELLED_ACCEPTED',
    replaced: 'PARKED.watching',
  },
  {
    guard: 'terminalIsObserved',
    replacedBy: false,
    about: 'a cancel of a call that completed, while its result is out of reach',
    tell: async (scene) => {
      const { executor, id } = await withoutItsResult(scene, false);
      return (await executor.cancel(id)).kind;
    },
    asIs: 'refused',
    replaced: 'taken',
  },
];
