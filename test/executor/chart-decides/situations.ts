/** Where stories begin. */
import type { Executor, Policy, ToolCall } from '../../../machines/index.ts';
import { type Started, started } from '../../support/bench.ts';
import { accepted, eventually, until } from '../../support/rig.ts';
import { pathOf } from '../../support/stage.ts';
import type { Scene } from './harness.ts';

export const HOLD = { outcome: 'hold' } as const;
/** The executor asks for nothing by itself while a story is told. */
const IDLE: Partial<Policy> = { minPollIntervalMs: 5_000, pollIntervalMs: 5_000, maxPollIntervalMs: 5_000 };
const NEVER_AGAIN = { parkedIntervalMs: 60_000 };

export interface Situation extends Started {
  readonly executor: Executor;
}

/** A task at work, on an executor that is not going to look at it soon. */
export async function atWork({ bench, executor: start }: Scene): Promise<Situation> {
  const executor = await start();
  return { executor, ...(await started(executor, bench.call(HOLD, { policy: IDLE }))) };
}

/** A record whose executor has left: the one that is there serves no such server, and only tells what it is told to. */
export async function abandoned(scene: Scene, call: ToolCall, state?: string): Promise<Situation> {
  const [left, executor] = [await scene.executor(), await scene.executor()];
  const begun = await started(left, call, state);
  await left.stop();
  return { executor, ...begun };
}

/** A question with nobody there who holds it. */
export const abandonedQuestion = (scene: Scene) =>
  abandoned(scene, scene.bench.call({ ask: 1 }), 'INPUT_REQUIRED.awaiting');

/** Waited as long as the caller allowed, for a task that goes on. */
export async function waitedTooLong(scene: Scene): Promise<Situation> {
  const executor = await scene.executor();
  const policy = { waitBudgetMs: 100, ...NEVER_AGAIN };
  return { executor, ...(await started(executor, scene.bench.call(HOLD, { policy }), 'PARKED.watching')) };
}

/** Completed, but its result cannot be had: `within` the budget, or after it. */
export async function withoutItsResult(scene: Scene, within: boolean): Promise<Situation> {
  const executor = await scene.executor();
  const policy = { ...NEVER_AGAIN, fetchBudgetMs: within ? 20_000 : 100 };
  const begun = await started(executor, scene.bench.call(HOLD, { policy }));
  const { server } = scene.bench;
  const { taskId } = begun;
  await server.control({ op: 'fault', method: 'tasks/result', taskId, kind: 'http', status: 503, times: 1_000 });
  await server.control({ op: 'complete', taskId });
  const state = within ? 'FETCHING_RESULT.retrying' : 'PARKED.watching';
  return { ...begun, executor, opened: await until(executor, begun.id, (current) => current === state) };
}

/** A result in hand whose acceptance waits for an output guard, for as long as the story takes. */
export async function beforeAcceptance(
  scene: Scene,
  story: (situation: Situation) => Promise<string>,
): Promise<string> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const executor = await scene.executor({ outputGuards: [() => released.then(() => ({ release: true }))] });
  try {
    const begun = await started(executor, scene.bench.call(HOLD));
    await scene.bench.server.control({ op: 'complete', taskId: begun.taskId });
    const opened = await until(executor, begun.id, (state) => state === 'FETCHING_RESULT.verified');
    return await story({ ...begun, executor, opened });
  } finally {
    release();
  }
}

/** The server made the task, its reply was lost (F1), and there is no look-up by key. */
export async function lostReply(scene: Scene): Promise<Omit<Situation, 'opened'>> {
  const { server } = scene.bench;
  const executor = await scene.executor();
  await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
  const id = await accepted(executor, scene.bench.call(HOLD));
  await until(executor, id, (state) => state === 'PARKED.waiting');
  const taskId = (await server.log()).created.at(-1) ?? '';
  return { executor, id, taskId };
}

/** The first of these states that the record comes to, whether or not it stays there. */
export function firstOf({ bench }: Scene, id: string, states: readonly string[]): Promise<string> {
  return eventually(async () => (await pathOf(bench.ledger, id)).find((state) => states.includes(state)));
}

/** Over, or parked: where it came to rest. */
export async function rest(executor: Executor, id: string): Promise<string> {
  const over = ['ACCEPTED', 'CANCELLED_ACCEPTED', 'NOT_SUBMITTED'];
  const { record } = await until(executor, id, (state) => over.includes(state) || state.startsWith('PARKED'));
  return record.state;
}
