import { expect } from 'vitest';
import type { ApprovalPort } from '../../../machines/index.ts';
import { ALWAYS, IMPATIENT, type Scenario } from './scenario.ts';

/** A human who always has the same answer. */
const yes: ApprovalPort = { ask: async () => ({ action: 'accept', content: { word: 'yes' } }) };
const COMPLETED = { receipt: { outcome: 'completed' } } as const;
const ASKED = ['WORKING.polling', 'INPUT_REQUIRED.awaiting', 'INPUT_REQUIRED.sending', 'ACCEPTED'];

/** F3: an input_required round is replayed. Everywhere: the server gets one answer per question. */
export const input: readonly Scenario[] = [
  {
    row: 'F3',
    name: 'the question comes twice: one round, one answer',
    rules: [{ method: 'elicitation/create', direction: 'request', action: { kind: 'duplicate' } }],
    script: { ask: 1, ms: 200 },
    executor: { approval: yes },
    path: ASKED,
    seen: { answers: 1 },
    ends: COMPLETED,
  },
  {
    row: 'F3',
    name: 'the answer comes twice: it answers one question',
    rules: [{ method: 'elicitation/create', direction: 'response', action: { kind: 'duplicate' } }],
    script: { ask: 2, ms: 50 },
    executor: { approval: yes },
    path: ASKED,
    seen: { answers: 2 },
    ends: COMPLETED,
  },
  {
    row: 'F3',
    name: 'input_required is said again after the answer: no answered round is opened again',
    script: { ask: 1, outcome: 'hold' },
    executor: { approval: yes },
    steps: async ({ until, executor, id, met, server }) => {
      await met('passed', 'elicitation/create', 'response');
      await until('WORKING.polling');
      await server({ op: 'statuses', taskId: 'last', statuses: Array.from({ length: 20 }, () => 'input_required') });
      await until('WORKING.listening');
      expect((await executor.load(id))?.snapshot.context).toHaveProperty('inputRound', 1);
      await server({ op: 'complete', taskId: 'last' });
    },
    path: [...ASKED.slice(0, 3), 'WORKING.polling', 'WORKING.listening', 'ACCEPTED'],
    seen: { answers: 1 },
    ends: COMPLETED,
  },
  {
    row: 'F3',
    name: 'the answer to a poll that says input_required is late and comes when the round was answered',
    script: { ask: 1, ms: 100 },
    executor: { ...IMPATIENT, approval: yes },
    rules: [{ method: 'tasks/get', direction: 'response', nth: 1, action: { kind: 'reorder' } }],
    path: ASKED,
    seen: { answers: 1 },
    ends: COMPLETED,
  },
  {
    row: 'F3',
    name: 'the answer is lost: whether it was taken is unknown, the round ends by its deadline, the task is read on',
    on: ['http'],
    script: { ask: 1, ms: 20 },
    executor: { ...IMPATIENT, approval: yes },
    call: { policy: { inputDeadlineMs: 800 } },
    rules: [{ method: 'elicitation/create', direction: 'response', times: ALWAYS, action: { kind: 'drop' } }],
    steps: async ({ until, met, server }) => {
      await until('INPUT_REQUIRED.sending');
      await met('lost', 'elicitation/create', 'response');
      await server({ op: 'complete', taskId: 'last' });
    },
    path: ['INPUT_REQUIRED.sending', 'ACCEPTED'],
    seen: { answers: 0 },
    ends: COMPLETED,
  },
];
