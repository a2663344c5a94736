import { HOLD, IMPATIENT, type Scenario } from './scenario.ts';

const COMPLETED = { receipt: { outcome: 'completed', status: 'completed', cancelGeneration: 1 } } as const;
const CANCELLED = {
  receipt: {
    outcome: 'cancelled',
    status: 'cancelled',
    cancelGeneration: 1,
    resultDigest: null,
    released: false,
    effectReconciliationRequired: true,
  },
} as const;

/** F4: completion and cancel arrive at the same time. F5: the cancel's acknowledgement is lost. */
export const cancel: readonly Scenario[] = [
  {
    row: 'F4',
    name: 'the task completes while the cancel is on its way: refused, and completed it stays',
    script: HOLD,
    rules: [{ method: 'tasks/cancel', direction: 'request', action: { kind: 'delay', ms: 300 } }],
    steps: async ({ until, executor, id, met, server }) => {
      await until('WORKING.polling');
      await executor.cancel(id);
      await met('held', 'tasks/cancel', 'request');
      await server({ op: 'complete', taskId: 'last' });
    },
    path: ['WORKING.polling', 'CANCEL_REQUESTED.sending', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'],
    never: ['CANCELLED_ACCEPTED'],
    seen: { 'tasks/cancel': 1 },
    ends: COMPLETED,
  },
  {
    row: 'F4',
    name: 'the cancel wins, and a status from before it comes after it: cancelled it stays',
    script: HOLD,
    executor: IMPATIENT,
    steps: async ({ until, executor, id, rules, met }) => {
      await until('WORKING.polling');
      await rules({ method: 'tasks/get', direction: 'response', action: { kind: 'reorder', behind: 'tasks/cancel' } });
      await met('held', 'tasks/get', 'response');
      await executor.cancel(id);
    },
    path: ['WORKING.polling', 'CANCEL_REQUESTED.sending', 'CANCELLED_ACCEPTED'],
    never: ['ACCEPTED', 'FETCHING_RESULT'],
    ends: CANCELLED,
  },
  {
    row: 'F4',
    name: 'the cancel won, and then the server says completed: never a success',
    script: HOLD,
    steps: async ({ until, executor, id, server }) => {
      await until('WORKING.polling');
      await executor.cancel(id);
      await until('CANCELLED_ACCEPTED');
      await server({ op: 'status', taskId: 'last', status: 'completed' });
    },
    path: ['WORKING.polling', 'CANCEL_REQUESTED.sending', 'CANCELLED_ACCEPTED'],
    never: ['ACCEPTED', 'FETCHING_RESULT'],
    seen: { 'tasks/cancel': 1 },
    ends: CANCELLED,
  },
  {
    row: 'F5',
    name: 'the acknowledgement is lost: the status tells, and nothing is cancelled twice',
    script: HOLD,
    executor: IMPATIENT,
    rules: [{ method: 'tasks/cancel', direction: 'response', action: { kind: 'drop' } }],
    steps: async ({ until, executor, id }) => {
      await until('WORKING.polling');
      await executor.cancel(id);
    },
    path: ['WORKING.polling', 'CANCEL_REQUESTED.sending', 'CANCEL_REQUESTED.confirming', 'CANCELLED_ACCEPTED'],
    never: ['ACCEPTED'],
    seen: { 'tasks/cancel': 1 },
    ends: CANCELLED,
  },
  {
    row: 'F5',
    name: 'the cancel itself was lost: sent again in the same generation',
    script: HOLD,
    executor: IMPATIENT,
    rules: [{ method: 'tasks/cancel', direction: 'request', action: { kind: 'drop' } }],
    steps: async ({ until, executor, id }) => {
      await until('WORKING.polling');
      await executor.cancel(id);
    },
    path: ['CANCEL_REQUESTED.sending', 'CANCEL_REQUESTED.confirming', 'CANCELLED_ACCEPTED'],
    seen: { 'tasks/cancel': 1 },
    ends: CANCELLED,
  },
  {
    row: 'F5',
    name: 'the acknowledgement is lost, and the task had completed before the cancel came: completed',
    script: HOLD,
    executor: IMPATIENT,
    rules: [
      { method: 'tasks/cancel', direction: 'request', action: { kind: 'delay', ms: 200 } },
      { method: 'tasks/cancel', direction: 'response', action: { kind: 'drop' } },
    ],
    steps: async ({ until, executor, id, met, server }) => {
      await until('WORKING.polling');
      await executor.cancel(id);
      await met('held', 'tasks/cancel', 'request');
      await server({ op: 'complete', taskId: 'last' });
    },
    path: ['CANCEL_REQUESTED.sending', 'CANCEL_REQUESTED.confirming', 'TERMINAL_OBSERVED', 'ACCEPTED'],
    never: ['CANCELLED_ACCEPTED'],
    ends: COMPLETED,
  },
];
