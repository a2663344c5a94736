import { started } from '../../../support/bench.ts';
import { accepted, eventually, until, workCall } from '../../../support/rig.ts';
import { aStatus, aTask, type Bent, OTHER_RESULT, told } from '../events.ts';
import type { Story } from '../harness.ts';
import { atWork, HOLD, lostReply, rest } from '../situations.ts';

/** One more status, told to a task at work, under claims that do not fit. */
function lateStatus(status: 'working' | 'completed', claims: Bent['claims'] = {}): Story['tell'] {
  return async (scene) => {
    const { executor, id, taskId } = await atWork(scene);
    return told(executor, id, aStatus(taskId, status), { claims });
  };
}
const otherwise = { asIs: 'refused in WORKING.polling', replaced: 'taken in WORKING.polling', replacedBy: true };
const observed = { ...otherwise, replaced: 'taken in TERMINAL_OBSERVED.outcome' };

/** Whose word is it, and about which task? */
export const identity: readonly Story[] = [
  {
    guard: 'matchesPollCursor',
    about: 'a status that arrives after a later one was applied (F2)',
    tell: lateStatus('working', { pollCursor: 0 }),
    ...otherwise,
  },
  {
    guard: 'matchesCancelGeneration',
    about: 'a passing status from another cancel generation',
    tell: lateStatus('working', { cancelGeneration: 7 }),
    ...otherwise,
  },
  {
    guard: 'matchesExecutionEpoch',
    about: 'a completion told by an executor of an older epoch (F8)',
    tell: lateStatus('completed', { executionEpoch: 0 }),
    ...observed,
    asIs: 'taken in WORKING.polling',
  },
  {
    guard: 'matchesTaskId',
    about: 'a completion of another task',
    tell: lateStatus('completed', { taskId: 'another' }),
    ...observed,
  },
  {
    guard: 'matchesEndpoint',
    about: 'a completion told by another server',
    tell: lateStatus('completed', { endpointId: 'another' }),
    ...observed,
  },
  {
    guard: 'matchesToolVersion',
    about: 'a completion of another version of the tool',
    tell: lateStatus('completed', { toolVersion: 'f'.repeat(64) }),
    ...observed,
  },
  {
    guard: 'matchesRequestDigest',
    about: 'a completion of another request',
    tell: lateStatus('completed', { requestDigest: 'f'.repeat(64) }),
    ...observed,
  },
  {
    guard: 'isFromOlderEpoch',
    replacedBy: false,
    about: 'an id that an executor of an older epoch still brings (F8), where there is none',
    tell: async (scene) => {
      const { executor, id, taskId } = await lostReply(scene);
      const event = { type: 'submit.acknowledged', task: aTask(taskId, 'working') } as const;
      const met = await told(executor, id, event, { claims: { executionEpoch: 0 } });
      if (met.startsWith('refused')) return met;
      await scene.bench.server.control({ op: 'complete', taskId });
      const { record } = await until(executor, id, (state) => state === 'ACCEPTED');
      return record.state;
    },
    asIs: 'ACCEPTED',
    replaced: 'refused in PARKED.waiting',
  },
  {
    guard: 'adoptsNewerEpoch',
    replacedBy: false,
    about: 'an executor of a newer epoch takes a task over (R3)',
    tell: async ({ bench, executor }) => {
      const call = bench.call(HOLD);
      const old = await executor();
      const { id, taskId } = await started(old, call);
      await old.stop();
      const newer = await executor({ executionEpoch: 2, endpoints: [call.endpoint] });
      await bench.server.control({ op: 'complete', taskId });
      return eventually(async () => {
        if (await newer.outcome(id)) return 'accepted';
        return (newer.env.store.refusals.get('matchesExecutionEpoch') ?? 0) > 1 && 'not heard';
      });
    },
    asIs: 'accepted',
    replaced: 'not heard',
  },
  {
    guard: 'matchesTaskCreatedAt',
    replacedBy: true,
    about: 'a task id that now names another task (F9)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id, taskId } = await started(executor, bench.call(HOLD));
      await bench.server.control({ op: 'reuse', taskId, createdAt: '2001-01-01T00:00:00.000Z' });
      await bench.server.control({ op: 'complete', taskId });
      return rest(executor, id);
    },
    asIs: 'PARKED.disputed',
    replaced: 'ACCEPTED',
  },
  {
    guard: 'taskIsOurs',
    replacedBy: true,
    about: 'the task of another operation, given to a second one (F9)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const endpoint = bench.address();
      const first = await started(executor, workCall(endpoint, HOLD));
      const createdAt = first.opened.snapshot.context.taskCreatedAt;
      const task = { taskId: first.taskId, status: 'working', createdAt, lastUpdatedAt: createdAt, ttl: null };
      await bench.server.control({ op: 'fault', method: 'tools/call', kind: 'answer', result: { task } });
      const second = await accepted(executor, workCall(endpoint, HOLD));
      await bench.server.control({ op: 'complete', taskId: first.taskId });
      return rest(executor, second);
    },
    asIs: 'PARKED.disputed',
    replaced: 'ACCEPTED',
  },
  {
    guard: 'namesKnownTask',
    replacedBy: true,
    about: 'a second task under our key, named by a late reply (G2)',
    tell: async (scene) => {
      const { executor, id } = await atWork(scene);
      return told(executor, id, { type: 'submit.acknowledged', task: aTask('another', 'working') });
    },
    asIs: 'taken in PARKED.disputed',
    replaced: 'refused in WORKING.polling',
  },
  {
    guard: 'taskIdIsKnown',
    replacedBy: false,
    about: 'an outcome under our key, of a call that was given a task (G2)',
    tell: async (scene) => {
      const { executor, id } = await atWork(scene);
      return told(executor, id, { type: 'submit.outcome', result: OTHER_RESULT });
    },
    asIs: 'taken in PARKED.disputed',
    replaced: 'refused in WORKING.polling',
  },
];
