/**
 * The chart decides, and not some code beside it: for each guard here, the same story is told to the real executor and
 * the same real server twice, once with the chart as it is and once with that one guard replaced, and ends differently.
 */
import { describe, expect, it } from 'vitest';
import { claimsOf } from '../../machines/actor/facts.ts';
import {
  type Executor,
  type ExecutorOptions,
  type guards,
  type OperationFact,
  toolOperation,
} from '../../machines/index.ts';
import { asked, type Bench, started, switchedOffAfter, useBench } from '../support/bench.ts';
import { accepted, eventually, until, workCall } from '../support/rig.ts';

const HOLD = { outcome: 'hold' } as const;

interface Story {
  readonly guard: keyof typeof guards;
  readonly replacedBy: boolean;
  readonly about: string;
  /** Which server: default the plain one. */
  readonly on?: 'plain' | 'lookup' | 'noCancel';
  readonly options?: () => Partial<ExecutorOptions>;
  /** How it ended, in one word. */
  readonly tell: (executor: Executor, bench: Bench) => Promise<string>;
  readonly asIs: string;
  readonly replaced: string;
}

const stories: readonly Story[] = [
  {
    guard: 'cancelIsSupported',
    replacedBy: true,
    about: 'a cancel at a server that has none',
    on: 'noCancel',
    tell: async (executor, bench) => {
      const { id } = await started(executor, bench.call(HOLD));
      return (await executor.cancel(id)).kind;
    },
    asIs: 'refused',
    replaced: 'taken',
  },
  {
    guard: 'withinWaitBudget',
    replacedBy: true,
    about: 'a task that outlasts the wait budget',
    tell: async (executor, bench) => {
      const { id, opened } = await started(executor, bench.call(HOLD, { policy: { waitBudgetMs: 300 } }));
      const later = opened.snapshot.context.waitDeadline + 300;
      const { record } = await until(executor, id, (state, { snapshot }) => {
        return state.startsWith('PARKED') || snapshot.context.updatedAt > later;
      });
      return record.state;
    },
    asIs: 'PARKED.watching',
    replaced: 'WORKING.polling',
  },
  {
    guard: 'withinStepBudget',
    replacedBy: true,
    about: 'a result that cannot be had inside its budget',
    tell: async (executor, bench) => {
      const { id, taskId } = await started(executor, bench.call(HOLD, { policy: { fetchBudgetMs: 200 } }));
      const fault = { method: 'tasks/result', taskId, kind: 'http', status: 503, times: 1_000 } as const;
      await bench.server.control({ op: 'fault', ...fault });
      await bench.server.control({ op: 'complete', taskId });
      const { record } = await until(executor, id, (state, { snapshot: { context } }) => {
        const late = context.terminal !== null && context.updatedAt > context.terminal.observedAt + 700;
        return state.startsWith('PARKED') || late;
      });
      return record.state;
    },
    asIs: 'PARKED.watching',
    replaced: 'FETCHING_RESULT.retrying',
  },
  {
    guard: 'creationIsAllowed',
    replacedBy: true,
    about: 'a queued call while creation is switched off',
    options: () => ({ creationAllowed: switchedOffAfter(1) }),
    tell: async (executor, bench) => {
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
    guard: 'everySendIsClosed',
    replacedBy: false,
    about: 'a cancel before anything was sent',
    options: () => ({ creationAllowed: switchedOffAfter(1) }),
    tell: async (executor, bench) => {
      const id = await accepted(executor, bench.call({}));
      await executor.cancel(id);
      const over = await until(executor, id, (state) => state === 'NOT_SUBMITTED' || state.startsWith('PARKED'));
      return over.record.state;
    },
    asIs: 'NOT_SUBMITTED',
    replaced: 'PARKED.searching',
  },
  {
    guard: 'nextAttemptIsSafe',
    replacedBy: false,
    about: 'a call that never arrived, as a closing look-up proves',
    on: 'lookup',
    tell: async (executor, bench) => {
      await bench.server.control({ op: 'fault', kind: 'resetBefore', method: 'tools/call' });
      const id = await accepted(executor, bench.call({}));
      const { record } = await until(executor, id, (state) => state === 'ACCEPTED' || state.startsWith('PARKED'));
      return record.state;
    },
    asIs: 'ACCEPTED',
    replaced: 'PARKED.searching',
  },
  {
    guard: 'matchesTaskCreatedAt',
    replacedBy: true,
    about: 'a task id that now names another task',
    tell: async (executor, bench) => {
      const { id, taskId } = await started(executor, bench.call(HOLD));
      await bench.server.control({ op: 'reuse', taskId, createdAt: '2001-01-01T00:00:00.000Z' });
      await bench.server.control({ op: 'complete', taskId });
      const { record } = await until(executor, id, (state) => state === 'ACCEPTED' || state.startsWith('PARKED'));
      return record.state;
    },
    asIs: 'PARKED.disputed',
    replaced: 'ACCEPTED',
  },
  {
    guard: 'taskIsOurs',
    replacedBy: true,
    about: 'the task of another operation, given to a second one',
    tell: async (executor, bench) => {
      const endpoint = bench.address();
      const first = await started(executor, workCall(endpoint, HOLD));
      const createdAt = first.opened.snapshot.context.taskCreatedAt;
      const task = { taskId: first.taskId, status: 'working', createdAt, lastUpdatedAt: createdAt, ttl: null };
      await bench.server.control({ op: 'fault', method: 'tools/call', kind: 'answer', result: { task } });
      const second = await accepted(executor, workCall(endpoint, HOLD));
      await bench.server.control({ op: 'complete', taskId: first.taskId });
      const { record } = await until(executor, second, (state) => state === 'ACCEPTED' || state.startsWith('PARKED'));
      return record.state;
    },
    asIs: 'PARKED.disputed',
    replaced: 'ACCEPTED',
  },
  ...(['matchesSchemaDigest', 'beforeInputDeadline'] as const).map(
    (guard): Story => ({
      guard,
      replacedBy: false,
      about: 'a good answer to an open question',
      tell: async (executor, bench) => {
        const { opened, id } = await started(executor, bench.call({ ask: 1 }), 'INPUT_REQUIRED.awaiting');
        const { input, inputRound } = opened.snapshot.context;
        const given = await executor.answer({
          operationId: id,
          round: inputRound,
          schemaDigest: input?.schemaDigest ?? '',
          reply: { action: 'accept', content: { word: 'yes' } },
        });
        return given.kind === 'refused' ? given.guards.join() : given.kind;
      },
      asIs: 'taken',
      replaced: guard,
    }),
  ),
  {
    guard: 'cancelIsTerminalEvidence',
    replacedBy: false,
    about: 'a cancel that the server confirms',
    tell: async (executor, bench) => {
      const { id } = await started(executor, bench.call(HOLD));
      await executor.cancel(id);
      const { receipt } = await executor.wait(id);
      return `${receipt.outcome} by ${receipt.evidence?.kind}`;
    },
    asIs: 'cancelled by cancel.confirmed',
    replaced: 'cancelled by poll.status',
  },
  {
    guard: 'matchesResultDigest',
    replacedBy: false,
    about: 'a result that was fetched and verified',
    tell: acceptedOrAskedAgain('tasks/result'),
    asIs: 'accepted',
    replaced: 'not accepted',
  },
  {
    guard: 'acceptsResultDigest',
    replacedBy: false,
    about: 'the acceptance of a verified result',
    tell: acceptedOrAskedAgain(null),
    asIs: 'accepted',
    replaced: 'not accepted',
  },
  {
    guard: 'resultIsInHand',
    replacedBy: false,
    about: 'the acceptance of an outcome',
    tell: acceptedOrAskedAgain(null),
    asIs: 'accepted',
    replaced: 'not accepted',
  },
  {
    guard: 'matchesPollCursor',
    replacedBy: true,
    about: 'a status that arrives after a later one was applied (F2)',
    tell: lateStatus('working', (context) => ({ ...context, pollCursor: 0 })),
    asIs: 'refused in WORKING.polling',
    replaced: 'taken in WORKING.polling',
  },
  {
    guard: 'matchesExecutionEpoch',
    replacedBy: true,
    about: 'a completion told by an executor of an older epoch (F8)',
    tell: lateStatus('completed', (context) => ({ ...context, executionEpoch: 0 })),
    asIs: 'taken in WORKING.polling',
    replaced: 'taken in TERMINAL_OBSERVED.outcome',
  },
  {
    guard: 'matchesCancelGeneration',
    replacedBy: true,
    about: 'a passing status from another cancel generation',
    tell: lateStatus('working', (context) => ({ ...context, cancelGeneration: 7 })),
    asIs: 'refused in WORKING.polling',
    replaced: 'taken in WORKING.polling',
  },
  {
    guard: 'matchesTaskId',
    replacedBy: true,
    about: 'a completion of another task',
    tell: lateStatus('completed', (context) => ({ ...context, taskId: 'another' })),
    asIs: 'refused in WORKING.polling',
    replaced: 'taken in TERMINAL_OBSERVED.outcome',
  },
];

describe('the chart decides', () => {
  const benches = {
    plain: useBench('embedded'),
    lookup: useBench('embedded', { lookup: true }),
    noCancel: useBench('embedded', { cancel: false }),
  };

  it.each(stories)('$guard: $about', async ({ guard, replacedBy, on = 'plain', options, tell, asIs, replaced }) => {
    const bench = benches[on]();
    const machine = toolOperation.provide({ guards: { [guard]: () => replacedBy } });
    expect(await tell(await bench.executor(options?.()), bench)).toBe(asIs);
    expect(await tell(await bench.executor({ ...options?.(), machine }), bench)).toBe(replaced);
  });
});

/** Accepted, or refused by the chart at least twice on the way there. */
function acceptedOrAskedAgain(method: string | null): Story['tell'] {
  return async (executor, bench) => {
    const { id, taskId } = await started(executor, bench.call(HOLD));
    await bench.server.control({ op: 'complete', taskId });
    return eventually(async () => {
      if (await executor.outcome(id)) return 'accepted';
      const refusals = [...executor.env.store.refusals.values()].reduce((sum, count) => sum + count, 0);
      const enough = method === null ? refusals > 1 : (await asked(bench.server, method, taskId)) > 1;
      return enough && (await executor.outcome(id)) === null && 'not accepted';
    });
  };
}

type Claims = ReturnType<typeof claimsOf>;
/** Tells the running executor's store one more status, under claims that do not fit. */
function lateStatus(status: 'working' | 'completed', bend: (claims: Claims) => Claims): Story['tell'] {
  return async (executor, bench) => {
    const { id, taskId, opened } = await started(
      executor,
      bench.call(HOLD, { policy: { minPollIntervalMs: 5_000, pollIntervalMs: 5_000, maxPollIntervalMs: 5_000 } }),
    );
    const { context } = opened.snapshot;
    const fact: OperationFact = {
      type: 'poll.status',
      at: executor.env.time.now(),
      random: 0,
      claims: bend(claimsOf(context, context.executionEpoch)),
      task: {
        taskId,
        createdAt: context.taskCreatedAt,
        status,
        statusMessage: null,
        pollIntervalMs: null,
        expiry: null,
        foreign: false,
      },
      result: null,
    };
    const applied = await executor.env.store.apply(id, fact);
    return applied.kind === 'missing' ? applied.kind : `${applied.kind} in ${applied.opened.record.state}`;
  };
}
