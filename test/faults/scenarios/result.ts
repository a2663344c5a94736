import { ALWAYS, HOLD, IMPATIENT, type Play, type Scenario } from './scenario.ts';

const COMPLETED = { receipt: { outcome: 'completed', status: 'completed', released: true } } as const;
const OBSERVED = ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'];

/** Completed, but its result cannot be had: it waits; with the result in hand it goes on. */
async function haveItAfterAll({ until, rules, server }: Play): Promise<void> {
  await until('WORKING.polling');
  await server({ op: 'complete', taskId: 'last' });
  await until('PARKED.watching');
  await rules();
  await until('ACCEPTED');
}

/** F6: after `completed`, the result is lost. F7: ... or truncated. */
export const result: readonly Scenario[] = [
  {
    row: 'F6',
    name: 'the result is lost once: fetched again',
    rules: [{ method: 'tasks/result', direction: 'response', action: { kind: 'drop' } }],
    script: { ms: 20 },
    executor: IMPATIENT,
    call: { policy: { fetchBudgetMs: 10_000 } },
    path: OBSERVED,
    never: ['PARKED'],
    seen: { 'tasks/result': 2 },
    ends: COMPLETED,
  },
  {
    row: 'F6',
    name: 'the result is lost again and again: parked, accepted only when it is in hand',
    rules: [{ method: 'tasks/result', direction: 'response', times: ALWAYS, action: { kind: 'drop' } }],
    script: HOLD,
    executor: IMPATIENT,
    call: { policy: { fetchBudgetMs: 300, parkedIntervalMs: 150 } },
    steps: haveItAfterAll,
    path: ['TERMINAL_OBSERVED', 'FETCHING_RESULT', 'PARKED.watching', 'FETCHING_RESULT', 'ACCEPTED'],
    ends: COMPLETED,
  },
  {
    row: 'F6',
    name: 'the request for the result is lost: fetched again',
    rules: [{ method: 'tasks/result', direction: 'request', action: { kind: 'drop' } }],
    script: { ms: 20 },
    executor: IMPATIENT,
    call: { policy: { fetchBudgetMs: 10_000 } },
    path: OBSERVED,
    seen: { 'tasks/result': 1 },
    ends: COMPLETED,
  },
  {
    row: 'F7',
    name: 'the result is cut in its middle: fetched again',
    on: ['http'],
    rules: [{ method: 'tasks/result', direction: 'response', times: 2, action: { kind: 'truncate' } }],
    script: { ms: 20 },
    path: OBSERVED,
    never: ['PARKED'],
    seen: { 'tasks/result': 3 },
    ends: COMPLETED,
  },
  {
    row: 'F7',
    name: 'the result is cut and the server dies with its pipe: completed never advances',
    on: ['stdio'],
    rules: [{ method: 'tasks/result', direction: 'response', action: { kind: 'truncate' } }],
    script: { ms: 20 },
    path: ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'PARKED.waiting'],
    never: ['ACCEPTED'],
    seen: {},
    ends: { parked: 'server-gone' },
  },
  {
    row: 'F7',
    name: 'the result lacks what its schema demands: fetched again',
    rules: [
      {
        method: 'tasks/result',
        direction: 'response',
        action: { kind: 'replace', with: { result: { content: [{ type: 'text', text: 'do' }] } } },
      },
    ],
    script: { ms: 20 },
    call: { tool: 'typed' },
    path: OBSERVED,
    seen: { 'tasks/result': 2 },
    ends: COMPLETED,
  },
  {
    row: 'F7',
    name: 'the result is an error that was not there: completed never becomes failed',
    rules: [
      {
        method: 'tasks/result',
        direction: 'response',
        action: { kind: 'replace', with: { error: { code: -32603, message: 'broken' } } },
      },
    ],
    script: { ms: 20 },
    path: OBSERVED,
    seen: { 'tasks/result': 2 },
    ends: COMPLETED,
  },
];
