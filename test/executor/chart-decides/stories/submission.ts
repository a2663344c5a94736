import { switchedOffAfter } from '../../../support/bench.ts';
import { accepted, until } from '../../../support/rig.ts';
import { aTask, told } from '../events.ts';
import type { Scene, Story } from '../harness.ts';
import { firstOf, lostReply, rest } from '../situations.ts';

const LOOKUP = 'dev.toolop/lookup';
/** Nothing was created, says the server, and that an earlier attempt still may be. */
const NOT_CLOSED = { neverCreated: true, closedThroughAttempt: 0 };

/** A call that never arrives, at a server whose look-up does not close the key. */
async function leftOpen({ bench, executor: start }: Scene, times = 1) {
  const executor = await start();
  await bench.server.control({ op: 'fault', method: 'tools/call', kind: 'resetBefore' });
  await bench.server.control({ op: 'fault', method: LOOKUP, kind: 'answer', result: NOT_CLOSED, times });
  return { executor, call: bench.call({}) };
}

/** B4, B13: what is sent, and what is never sent again. */
export const submission: readonly Story[] = [
  {
    guard: 'creationIsAllowed',
    replacedBy: true,
    about: 'a queued call while creation is switched off (R3)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start({ creationAllowed: switchedOffAfter(1) });
      const id = await accepted(executor, bench.call({}));
      const { record } = await until(executor, id, (state, { snapshot }) => {
        return state !== 'SUBMITTING.queued' || snapshot.context.failures > 2;
      });
      return record.state === 'SUBMITTING.queued' ? 'not sent' : 'sent';
    },
    asIs: 'not sent',
    replaced: 'sent',
  },
  {
    guard: 'matchesAttempt',
    replacedBy: true,
    about: 'a start of the call that was prepared for another attempt',
    tell: async ({ bench, executor: start }) => {
      const executor = await start({ creationAllowed: switchedOffAfter(1) });
      const id = await accepted(executor, bench.call({}));
      const event = { type: 'submit.begin', creationAllowed: true, sender: 'somebody' } as const;
      return told(executor, id, event, { claims: { attempt: 7 } });
    },
    asIs: 'refused in SUBMITTING.queued',
    replaced: 'taken in SUBMITTING.sending',
  },
  {
    guard: 'isMadeAttempt',
    replacedBy: true,
    about: 'a reply to an attempt that was never made',
    tell: async (scene) => {
      const { executor, id, taskId } = await lostReply(scene);
      const event = { type: 'submit.acknowledged', task: aTask(taskId, 'working') } as const;
      return told(executor, id, event, { claims: { attempt: 7 } });
    },
    asIs: 'refused in PARKED.waiting',
    replaced: 'taken in WORKING.polling',
  },
  {
    guard: 'nextAttemptIsSafe',
    replacedBy: true,
    about: 'never created so far, but an earlier attempt may still arrive (G2)',
    on: 'lookup',
    tell: async (scene) => {
      const { executor, call } = await leftOpen(scene);
      return firstOf(scene, await accepted(executor, call), ['PARKED.searching', 'NOT_FOUND_SAFE']);
    },
    asIs: 'PARKED.searching',
    replaced: 'NOT_FOUND_SAFE',
  },
  {
    guard: 'everySendIsClosed',
    replacedBy: true,
    about: 'cancelled and never created so far, but an earlier attempt may still arrive',
    on: 'lookup',
    tell: async (scene) => {
      const { executor, call } = await leftOpen(scene, 1_000);
      const id = await accepted(executor, call);
      await until(executor, id, (state) => state === 'PARKED.searching');
      await executor.cancel(id);
      const { record } = await until(executor, id, (state, { snapshot: { context } }) => {
        const askedSince = (context.parked?.at ?? 0) > (context.cancel?.requestedAt ?? Number.POSITIVE_INFINITY);
        return state === 'NOT_SUBMITTED' || askedSince;
      });
      return record.state;
    },
    asIs: 'PARKED.searching',
    replaced: 'NOT_SUBMITTED',
  },
  {
    guard: 'earlierSendsAreClosed',
    replacedBy: true,
    about: 'the second attempt is rejected while the first may still arrive',
    on: 'deduplicating',
    tell: async (scene) => {
      const { executor, call } = await leftOpen(scene);
      await scene.bench.server.control({ op: 'fault', method: 'tools/call', kind: 'http', status: 401 });
      return firstOf(scene, await accepted(executor, call), ['PARKED.searching', 'NOT_SUBMITTED']);
    },
    asIs: 'PARKED.searching',
    replaced: 'NOT_SUBMITTED',
  },
  {
    guard: 'adapterIsEnded',
    replacedBy: true,
    about: 'a call under an adapter that is not switched off (R4)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      return rest(executor, await accepted(executor, bench.call({})));
    },
    asIs: 'ACCEPTED',
    replaced: 'NOT_SUBMITTED',
  },
  {
    guard: 'keyIsValid',
    replacedBy: true,
    about: 'never created, as a server says that may have forgotten the key by now (B13)',
    on: 'forgetful',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      await bench.server.control({ op: 'fault', method: 'tools/call', kind: 'resetBefore' });
      await bench.server.control({ op: 'fault', method: LOOKUP, kind: 'delay', ms: 400 });
      return rest(executor, await accepted(executor, bench.call({})));
    },
    asIs: 'PARKED.waiting',
    replaced: 'ACCEPTED',
  },
  {
    guard: 'somethingWasSent',
    replacedBy: true,
    about: 'a call that waits on the queue for longer than the key is good for',
    on: 'forgetful',
    tell: async ({ bench, executor: start }) => {
      const accepting = switchedOffAfter(1);
      // Counted from when the call waits: on a busy machine it comes here late.
      let until = 0;
      const longEnough = () => {
        until ||= Date.now() + 600;
        return Date.now() > until;
      };
      const executor = await start({ creationAllowed: () => accepting() || longEnough() });
      return rest(executor, await accepted(executor, bench.call({})));
    },
    asIs: 'ACCEPTED',
    replaced: 'PARKED.waiting',
  },
];
