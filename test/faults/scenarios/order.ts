import { ExecutorProcess } from '../../support/processes.ts';
import { eventually, FAST, NAMESPACE } from '../../support/rig.ts';
import { HOLD, IMPATIENT, type Play, type Scenario } from './scenario.ts';

const LEASE_MS = 500;

/**
 * A poller whose answer is on its way is stopped (SIGSTOP); another one takes over, polls and brings the operation to its
 * end; then the first one goes on and reads its answer.
 */
function overtakenBy(executionEpoch: number) {
  return async ({ rig, line, executor, call, id, until, met, rules, server }: Play): Promise<void> => {
    await until('WORKING.polling');
    await executor.stop();
    const orders = { ledger: rig.address, namespace: NAMESPACE, leaseMs: LEASE_MS, policy: FAST, executionEpoch: 1 };
    const url = call.endpoint.kind === 'http' ? call.endpoint.url : '';
    await rules({ method: 'tasks/get', direction: 'response', action: { kind: 'reorder' } });
    const old = new ExecutorProcess({ ...orders, url, requestTimeoutMs: 20_000 });
    try {
      await met('held', 'tasks/get', 'response');
      // Opened before the stop: a process that is stopped inside a transaction of a file holds its lock.
      const ledger = await rig.ledger();
      old.signal('SIGSTOP');
      await server({ op: 'complete', taskId: 'last' });
      const next = await rig.executor({ ledger, executionEpoch, endpoints: [call.endpoint], leaseMs: LEASE_MS });
      await next.wait(id);
      const { length } = (await line.wire.log()).lines;
      old.signal('SIGCONT');
      await old.line((said) => JSON.stringify(said).includes('drive.') || 'ready' in said);
      await eventually(async () => (await line.wire.log()).lines.length >= length);
    } finally {
      await old.stop();
    }
  };
}

/** F2: two pollers' answers arrive out of order. F8: a callback from an old execution epoch. */
export const order: readonly Scenario[] = [
  {
    row: 'F2',
    name: 'the answer of a poller that was stopped comes after the one of the poller that took over',
    on: ['http'],
    script: HOLD,
    steps: overtakenBy(1),
    path: ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'],
    never: ['PARKED'],
    seen: { 'tasks/result': 1 },
    ends: { receipt: { outcome: 'completed', executionEpoch: 1 } },
  },
  {
    row: 'F2',
    name: 'the answer to a poll is overtaken by the answer to the next one',
    script: HOLD,
    executor: IMPATIENT,
    steps: async ({ until, rules, met, server }) => {
      await until('WORKING.polling');
      await rules({ method: 'tasks/get', direction: 'response', action: { kind: 'reorder' } });
      await met('held', 'tasks/get', 'response');
      await server({ op: 'complete', taskId: 'last' });
    },
    path: ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'],
    never: ['PARKED', 'CLASSIFYING_NOT_FOUND'],
    ends: { receipt: { outcome: 'completed' } },
  },
  {
    row: 'F2',
    name: 'every answer to a poll comes twice',
    script: { ms: 400 },
    rules: [{ method: 'tasks/get', direction: 'response', times: 20, action: { kind: 'duplicate' } }],
    path: ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'],
    never: ['PARKED'],
    ends: { receipt: { outcome: 'completed' } },
  },
  {
    row: 'F8',
    name: 'an answer to the old epoch is read when the new one has brought the operation to its end',
    on: ['http'],
    script: HOLD,
    steps: overtakenBy(2),
    path: ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'],
    never: ['PARKED'],
    seen: { 'tasks/result': 1 },
    ends: { receipt: { outcome: 'completed', executionEpoch: 2 } },
  },
  {
    row: 'F8',
    name: 'the old epoch brings the id of a submission late; the new one verifies it and goes on',
    on: ['http'],
    script: HOLD,
    executor: { ...IMPATIENT, executionEpoch: 1 },
    rules: [{ method: 'tools/call', direction: 'response', action: { kind: 'reorder', behind: 'ping' } }],
    steps: async ({ rig, call, id, executor, until, rules, server }) => {
      await until('PARKED.waiting');
      const next = await rig.executor({ executionEpoch: 2, endpoints: [call.endpoint] });
      const adopt = { type: 'epoch.adopt', at: next.env.time.now(), random: 0, executionEpoch: 2 } as const;
      await next.env.store.apply(id, adopt);
      // What is held passes: the answer is the old executor's.
      await rules();
      await until('WORKING.polling');
      await server({ op: 'complete', taskId: 'last' });
      await next.wait(id);
      await executor.stop();
    },
    path: ['SUBMISSION_UNKNOWN', 'PARKED.waiting', 'WORKING', 'ACCEPTED'],
    ends: { receipt: { outcome: 'completed', executionEpoch: 2 } },
  },
];
