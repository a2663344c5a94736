import { accepted, until as reaches, workCall } from '../../support/rig.ts';
import { ALWAYS, HOLD, type Scenario } from './scenario.ts';

const NOT_FOUND = { error: { code: -32602, message: 'Task not found' } };

/** F9: a task id is reused for something else. F10: 404 before expiry, 404 after expiry. */
export const identity: readonly Scenario[] = [
  {
    row: 'F9',
    name: 'the id comes back as a younger task: disputed, never accepted',
    script: HOLD,
    steps: async ({ until, server }) => {
      await until('WORKING.polling');
      await server({ op: 'reuse', taskId: 'last', createdAt: '2001-01-01T00:00:00.000Z' });
      await until('PARKED.disputed');
      await server({ op: 'complete', taskId: 'last' });
    },
    path: ['WORKING.polling', 'PARKED.disputed'],
    never: ['ACCEPTED', 'FETCHING_RESULT'],
    ends: { parked: 'contradiction' },
  },
  {
    row: 'F9',
    name: 'another call is answered with the id of this one: the other is disputed, this one goes on',
    script: HOLD,
    steps: async ({ until, taskId, executor, call, rules, server }) => {
      await until('WORKING.polling');
      const now = new Date().toISOString();
      const known = await taskId();
      const task = { taskId: known, status: 'working', createdAt: now, lastUpdatedAt: now, ttl: null };
      await rules({
        method: 'tools/call',
        direction: 'request',
        action: { kind: 'replace', with: { result: { task } } },
      });
      const other = await accepted(executor, workCall(call.endpoint, HOLD));
      await reaches(executor, other, (state) => state === 'PARKED.disputed');
      await server({ op: 'complete', taskId: known });
    },
    path: ['WORKING.polling', 'TERMINAL_OBSERVED', 'ACCEPTED'],
    never: ['PARKED'],
    ends: { receipt: { outcome: 'completed' } },
  },
  {
    row: 'F10',
    name: 'unknown before its expiry: parked, never failed; known again, it goes on',
    script: HOLD,
    call: { ttlMs: 600_000 },
    steps: async ({ until, rules, server }) => {
      await until('WORKING.polling');
      await rules({
        method: 'tasks/get',
        direction: 'response',
        times: ALWAYS,
        action: { kind: 'replace', with: NOT_FOUND },
      });
      await until('PARKED.watching');
      await rules();
      await until('WORKING.polling');
      await server({ op: 'complete', taskId: 'last' });
    },
    path: ['WORKING.polling', 'CLASSIFYING_NOT_FOUND', 'PARKED.watching', 'WORKING.polling', 'ACCEPTED'],
    ends: { receipt: { outcome: 'completed' } },
  },
  {
    row: 'F10',
    name: 'forgotten before its expiry: parked as unknown, never failed',
    script: HOLD,
    call: { ttlMs: 600_000 },
    steps: async ({ until, server }) => {
      await until('WORKING.polling');
      await server({ op: 'forget', taskId: 'last' });
    },
    path: ['WORKING.polling', 'CLASSIFYING_NOT_FOUND', 'PARKED.watching'],
    never: ['ACCEPTED', 'NOT_FOUND_SAFE', 'FETCHING_RESULT'],
    ends: { parked: 'unknown-id' },
  },
  {
    row: 'F10',
    name: 'gone after its expiry: parked as expired, never failed',
    script: HOLD,
    // What is not heard for a while is asked after the time to live is over.
    call: { ttlMs: 600_000, policy: { minPollIntervalMs: 150, maxPollIntervalMs: 150 } },
    // Whoever gave up on that one would ask again, perhaps when nobody can say yet whether the time is over.
    executor: { requestTimeoutMs: 15_000 },
    steps: async ({ until, rules, server, executor, id }) => {
      await until('WORKING.polling');
      await server({ op: 'expire', taskId: 'last', inMs: 3_000 });
      // The record has to know: what was asked before says nothing of it.
      await reaches(
        executor,
        id,
        (_, { snapshot }) => (snapshot.context.expiry?.latest ?? Infinity) < Date.now() + 60_000,
      );
      await rules({ method: 'tasks/get', direction: 'request', action: { kind: 'delay', ms: 3_300 } });
    },
    path: ['WORKING.polling', 'CLASSIFYING_NOT_FOUND', 'PARKED.watching'],
    never: ['ACCEPTED', 'NOT_FOUND_SAFE', 'FETCHING_RESULT'],
    ends: { parked: 'expired' },
  },
];
