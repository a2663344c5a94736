import type { ToolCall } from '../../../../machines/index.ts';
import { started } from '../../../support/bench.ts';
import { eventually, until } from '../../../support/rig.ts';
import { OTHER_RESULT, told } from '../events.ts';
import type { Scene, Story } from '../harness.ts';
import { firstOf, HOLD, type Situation } from '../situations.ts';

/** A task whose status cannot be had while `meanwhile` happens at the server; then it answers again. */
async function outOfSight(
  scene: Scene,
  more: Partial<ToolCall>,
  meanwhile: (situation: Situation) => Promise<void>,
): Promise<Situation> {
  const { server } = scene.bench;
  const executor = await scene.executor();
  const begun = { executor, ...(await started(executor, scene.bench.call(HOLD, more))) };
  const { taskId } = begun;
  await server.control({ op: 'fault', method: 'tasks/get', taskId, kind: 'http', status: 503, times: 1_000 });
  await meanwhile(begun);
  await server.control({ op: 'clearFaults' });
  return begun;
}

/** Completed and forgotten, but for the receipt: what becomes of it. */
async function onlyReceipt(scene: Scene, before: (situation: Situation) => Promise<void> = async () => undefined) {
  const { server } = scene.bench;
  const { id } = await outOfSight(scene, {}, async (situation) => {
    const { taskId } = situation;
    await before(situation);
    await server.control({ op: 'complete', taskId });
    await server.control({ op: 'forget', taskId, receipt: true });
  });
  return firstOf(scene, id, ['PARKED.waiting', 'TERMINAL_OBSERVED.outcome']);
}

async function parkedFor({ executor, id }: Situation): Promise<string> {
  const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
  return snapshot.context.parked?.reason ?? 'no reason';
}

/** B13: an id that the server does not know. */
export const missing: readonly Story[] = [
  {
    guard: 'wasParkedAsUnknown',
    replacedBy: false,
    about: 'an unknown id that the server knows again',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id, taskId } = await started(executor, bench.call(HOLD));
      await bench.server.control({ op: 'fault', method: 'tasks/get', taskId, kind: 'rpc', code: -32602 });
      const { record } = await until(executor, id, (state, { snapshot: { context } }) => {
        const back = state === 'WORKING.polling' && context.audit.length > 0;
        return back || (context.parked !== null && context.updatedAt > context.parked.at);
      });
      return record.state;
    },
    asIs: 'WORKING.polling',
    replaced: 'PARKED.watching',
  },
  {
    guard: 'wasUnderNewSession',
    replacedBy: false,
    about: 'an unknown id under another session than the one that made it',
    tell: async (scene) => {
      const { server } = scene.bench;
      const gone = await outOfSight(scene, {}, async ({ taskId }) => {
        await server.control({ op: 'dropSessions' });
        await server.control({ op: 'forget', taskId });
      });
      return parkedFor(gone);
    },
    asIs: 'session-lost',
    replaced: 'unknown-id',
  },
  {
    guard: 'wasMissedAfterExpiry',
    replacedBy: false,
    about: 'an unknown id after its expiry (F10)',
    tell: async (scene) => {
      const { server, ledger } = scene.bench;
      const gone = await outOfSight(scene, { ttlMs: 250 }, async ({ executor, id, taskId }) => {
        await server.control({ op: 'forget', taskId });
        await eventually(async () => {
          const context = (await executor.load(id))?.snapshot.context;
          // A poll that failed is the last word on the expiry: no answer to an earlier one renews it any more.
          return context && context.failures > 0 && (await ledger.now()) > (context.expiry?.latest ?? Infinity);
        });
      });
      return parkedFor(gone);
    },
    asIs: 'expired',
    replaced: 'unknown-id',
  },
  ...(['bringsResult', 'resultIsInHand'] as const).map(
    (guard): Story => ({
      guard,
      replacedBy: true,
      about: 'a receipt is all that is left, and the result is nowhere',
      on: 'lookup',
      tell: (scene) => onlyReceipt(scene),
      asIs: 'PARKED.waiting',
      replaced: 'TERMINAL_OBSERVED.outcome',
    }),
  ),
  {
    guard: 'candidateFits',
    replacedBy: false,
    about: 'a receipt is all that is left, but the result came before it',
    on: 'lookup',
    tell: (scene) =>
      onlyReceipt(scene, async ({ executor, id }) => {
        await told(executor, id, { type: 'input.channelClosed', reason: 'the result came', result: OTHER_RESULT });
      }),
    asIs: 'TERMINAL_OBSERVED.outcome',
    replaced: 'PARKED.waiting',
  },
];
