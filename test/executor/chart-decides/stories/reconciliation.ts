import type { Reconciliation } from '../../../../machines/actor/commands.ts';
import type { Story } from '../harness.ts';
import { waitedTooLong } from '../situations.ts';

/** What a human declares of a task that was parked because it took too long. */
const declaring =
  (what: Reconciliation): Story['tell'] =>
  async (scene) => {
    const { executor, id } = await waitedTooLong(scene);
    return (await executor.reconcile(id, 'me', what)).kind;
  };

/** What a human may say, and what not even a human may. */
export const reconciliation: readonly Story[] = [
  {
    guard: 'attachesKnownTask',
    replacedBy: true,
    about: 'another task attached to a record that knows its own',
    tell: declaring({ verb: 'attach', taskId: 'another' }),
    asIs: 'refused',
    replaced: 'taken',
  },
  {
    guard: 'handDeclaresCancelled',
    replacedBy: false,
    about: 'declared cancelled by hand',
    tell: declaring({ verb: 'accept', status: 'cancelled', payload: null, note: 'seen' }),
    asIs: 'taken',
    replaced: 'refused',
  },
  {
    guard: 'handBringsResult',
    replacedBy: true,
    about: 'declared completed by hand, without a result (B11)',
    tell: declaring({ verb: 'accept', status: 'completed', payload: null, note: 'seen' }),
    asIs: 'refused',
    replaced: 'taken',
  },
];
