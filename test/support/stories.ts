/**
 * How an operation gets into each atomic state of the chart through real parts, and how it ends when the executor that
 * brought it there is gone and another one takes over. One story per state: faults of any kind are tried in all of them.
 */
import type { Opened } from '../../machines/actor/store.ts';
import type { Endpoint, Executor, ExecutorOptions, Policy, ToolCall } from '../../machines/index.ts';
import type { ParkReason, ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { TerminalReceipt } from '../../machines/tool-operation/receipt.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { DEFAULT_OPTIONS } from '../kit/servers/mcp-2025-11-25/options.ts';
import {
  type Control,
  type Fault,
  type Script,
  type ScriptedOptions,
  type ScriptedServer,
  startScriptedServer,
} from '../kit/servers/mcp-2025-11-25.ts';
import type { Act } from './executor-process.ts';
import type { ExecutorProcess } from './processes.ts';
import { FAST, until, workCall } from './rig.ts';
import type { Stage } from './stage.ts';

/** A receipt, or parked for a human: `in` is the sub-state of PARKED. */
export type Ending =
  | { readonly receipt: TerminalReceipt['outcome'] }
  | { readonly parked: ParkReason; readonly in: 'watching' | 'searching' | 'waiting' | 'disputed' };

export interface Story {
  /** The atomic state, as `statePath` says it. */
  readonly state: string;
  /** What the server declares; all else is its default. */
  readonly server: Partial<ScriptedOptions>;
  /** On the server, before the call is made. */
  readonly prepare: readonly Control[];
  readonly script: Script;
  readonly policy: Partial<Policy>;
  /** Given to the first executor, and to whoever takes over. */
  readonly answerWith?: Record<string, string>;
  /** What the first executor does itself on the way. */
  readonly acts: readonly Act[];
  /** On the server, before somebody takes over: what was broken works again. */
  readonly heal: readonly Control[];
  /** On the server, after `heal`, where nobody cancels: its work is done. A cancelled story leaves it undone. */
  readonly finish: readonly Control[];
  readonly ends: Ending;
  /** What becomes of a cancel that is asked for in this state. */
  readonly cancel: {
    /** `already`: one is under way. `refused`: it is too late, or impossible. */
    readonly answer: 'taken' | 'already' | 'refused';
    readonly ends: Ending;
    readonly generation: 0 | 1;
  };
}

/** Budgets that no stall of the machine uses up; a story that is about one has its own. */
const PATIENT: Partial<Policy> = {
  ...FAST,
  waitBudgetMs: 60_000,
  lookupBudgetMs: 30_000,
  fetchBudgetMs: 30_000,
  cancelBudgetMs: 30_000,
};

const fault = (kind: Fault): Control => ({ op: 'fault', ...kind });
const HOLD: Script = { outcome: 'hold' };
const DONE: readonly Control[] = [{ op: 'complete', taskId: 'last' }];
const ANSWER = { word: 'yes' };
const LOST = fault({ kind: 'reset', method: 'tools/call' });
const UNKNOWN_ID = fault({ kind: 'rpc', code: -32602, method: 'tasks/get' });
const REJECTED = fault({ kind: 'http', status: 403, method: 'tools/call' });
const CANCEL: Act = { at: 'WORKING.polling', kind: 'cancel' };
const GIVE_UP: Act = { at: 'PARKED.waiting', kind: 'reconcile', what: { verb: 'give-up', note: 'nobody knows' } };
/** The channel of a question ends with its process, and this revision never asks it again: a human has to look. */
const QUESTION_LOST: Ending = { parked: 'input-deadline', in: 'watching' };

const taken = (ends: Ending) => ({ answer: 'taken', ends, generation: 1 }) as const;
const already = (ends: Ending) => ({ answer: 'already', ends, generation: 1 }) as const;
const refused = (ends: Ending, generation: 0 | 1 = 0) => ({ answer: 'refused', ends, generation }) as const;
const CANCELLED: Ending = { receipt: 'cancelled' };
const COMPLETED: Ending = { receipt: 'completed' };
const NOT_SUBMITTED: Ending = { receipt: 'not_submitted' };

type Told = Pick<Story, 'script' | 'ends' | 'cancel'> & Partial<Story>;
const story = (state: string, told: Told): Story => ({
  state,
  server: {},
  prepare: [],
  acts: [],
  heal: [],
  finish: [],
  ...told,
  policy: { ...PATIENT, ...told.policy },
});

const asking = { script: { ask: 1 }, policy: { inputDeadlineMs: 4_000 }, cancel: taken(CANCELLED) } as const;

export const STORIES: readonly Story[] = [
  story('SUBMITTING.queued', { script: {}, ends: COMPLETED, cancel: taken(NOT_SUBMITTED) }),
  story('SUBMITTING.sending', {
    script: {},
    ends: { parked: 'no-lookup', in: 'waiting' },
    cancel: taken({ parked: 'no-lookup', in: 'waiting' }),
  }),
  story('SUBMISSION_UNKNOWN', {
    server: { lookup: true },
    prepare: [LOST],
    script: HOLD,
    finish: DONE,
    ends: COMPLETED,
    cancel: taken(CANCELLED),
  }),
  story('NOT_FOUND_SAFE', {
    server: { lookup: true },
    prepare: [fault({ kind: 'resetBefore', method: 'tools/call' })],
    script: {},
    ends: COMPLETED,
    cancel: taken(NOT_SUBMITTED),
  }),

  story('WORKING.polling', { script: HOLD, finish: DONE, ends: COMPLETED, cancel: taken(CANCELLED) }),
  // Frozen before the channel is opened: the question is still the server's to ask.
  story('WORKING.listening', { ...asking, answerWith: ANSWER, ends: COMPLETED }),
  story('INPUT_REQUIRED.awaiting', { ...asking, ends: QUESTION_LOST }),
  story('INPUT_REQUIRED.replied', { ...asking, answerWith: ANSWER, ends: QUESTION_LOST }),
  story('INPUT_REQUIRED.sending', { ...asking, answerWith: ANSWER, ends: QUESTION_LOST }),
  story('INPUT_REQUIRED.expired', { ...asking, policy: { inputDeadlineMs: 300 }, ends: QUESTION_LOST }),

  story('CANCEL_REQUESTED.sending', { script: HOLD, acts: [CANCEL], ends: CANCELLED, cancel: already(CANCELLED) }),
  story('CANCEL_REQUESTED.confirming', {
    prepare: [fault({ kind: 'reset', method: 'tasks/cancel' })],
    script: HOLD,
    acts: [CANCEL],
    ends: CANCELLED,
    cancel: already(CANCELLED),
  }),
  story('CANCEL_REQUESTED.confirmed', { script: HOLD, acts: [CANCEL], ends: CANCELLED, cancel: already(CANCELLED) }),

  story('TERMINAL_OBSERVED.outcome', { script: {}, ends: COMPLETED, cancel: refused(COMPLETED) }),
  story('TERMINAL_OBSERVED.cancelled', {
    script: HOLD,
    acts: [{ at: 'WORKING.polling', kind: 'control', command: { op: 'status', taskId: 'last', status: 'cancelled' } }],
    ends: CANCELLED,
    cancel: refused(CANCELLED),
  }),
  story('FETCHING_RESULT.retrying', {
    prepare: [fault({ kind: 'http', status: 503, method: 'tasks/result' })],
    script: {},
    ends: COMPLETED,
    cancel: refused(COMPLETED),
  }),
  story('FETCHING_RESULT.verified', { script: {}, ends: COMPLETED, cancel: refused(COMPLETED) }),
  story('CLASSIFYING_NOT_FOUND', {
    server: { lookup: true },
    prepare: [UNKNOWN_ID],
    script: HOLD,
    finish: DONE,
    ends: COMPLETED,
    cancel: taken(CANCELLED),
  }),

  // The id is unknown for once; a server that knows it again takes the operation back.
  story('PARKED.watching', {
    prepare: [UNKNOWN_ID],
    script: HOLD,
    finish: DONE,
    ends: COMPLETED,
    cancel: taken(CANCELLED),
  }),
  story('PARKED.searching', {
    server: { lookup: true },
    prepare: [LOST, fault({ kind: 'http', status: 503, method: 'dev.toolop/lookup', times: 1_000 })],
    script: HOLD,
    policy: { lookupBudgetMs: 300 },
    heal: [{ op: 'clearFaults' }],
    finish: DONE,
    ends: COMPLETED,
    cancel: taken(CANCELLED),
  }),
  story('PARKED.waiting', {
    prepare: [LOST],
    script: HOLD,
    ends: { parked: 'no-lookup', in: 'waiting' },
    cancel: taken({ parked: 'no-lookup', in: 'waiting' }),
  }),
  story('PARKED.disputed', {
    script: HOLD,
    acts: [
      {
        at: 'WORKING.polling',
        kind: 'control',
        command: { op: 'reuse', taskId: 'last', createdAt: '2020-01-01T00:00:00.000Z' },
      },
    ],
    ends: { parked: 'contradiction', in: 'disputed' },
    cancel: refused({ parked: 'contradiction', in: 'disputed' }),
  }),

  story('CONCLUDING.notSubmitted', {
    prepare: [REJECTED],
    script: {},
    ends: NOT_SUBMITTED,
    cancel: refused(NOT_SUBMITTED),
  }),
  story('CONCLUDING.givenUp', {
    prepare: [LOST],
    script: HOLD,
    acts: [GIVE_UP],
    ends: { receipt: 'given_up' },
    cancel: refused({ receipt: 'given_up' }),
  }),

  story('ACCEPTED', { script: {}, ends: COMPLETED, cancel: refused(COMPLETED) }),
  story('CANCELLED_ACCEPTED', { script: HOLD, acts: [CANCEL], ends: CANCELLED, cancel: refused(CANCELLED, 1) }),
  story('NOT_SUBMITTED', { prepare: [REJECTED], script: {}, ends: NOT_SUBMITTED, cancel: refused(NOT_SUBMITTED) }),
  story('GIVEN_UP', {
    prepare: [LOST],
    script: HOLD,
    acts: [GIVE_UP],
    ends: { receipt: 'given_up' },
    cancel: refused({ receipt: 'given_up' }),
  }),
];

/** Makes a server, also one that another story had, the one of this story. It serves no other story meanwhile. */
export async function prepare(server: ScriptedServer, { server: options, prepare: controls }: Story): Promise<void> {
  await server.control({ op: 'set', options: { ...DEFAULT_OPTIONS, ...options } });
  await server.control({ op: 'reset' });
  for (const control of controls) await server.control(control);
}

let addresses = 0;
/** Lends servers to stories, one at a time each: starting one costs more than most stories. */
export class ServerPool {
  readonly #all: ScriptedServer[] = [];
  readonly #idle: ScriptedServer[] = [];

  /** `endpoint`: an address of the server that no other story has, so that nobody serves two. */
  async lend<T>(story: Story, play: (server: ScriptedServer, endpoint: Endpoint) => Promise<T>): Promise<T> {
    const server = this.#idle.pop() ?? (await this.#start());
    try {
      await prepare(server, story);
      return await play(server, { kind: 'http', url: `${server.url}/${addresses++}` });
    } finally {
      this.#idle.push(server);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((server) => server.stop()));
  }

  async #start(): Promise<ScriptedServer> {
    const server = await startScriptedServer();
    this.#all.push(server);
    return server;
  }
}

export interface Scene {
  readonly call: ToolCall;
  /** Stands in the state of the story and does nothing any more: to be killed, or to be left with its lease. */
  readonly first: ExecutorProcess;
}

/** Has an executor process bring a call to the state of the story and freeze there. */
export async function enter(
  { state, script, policy, answerWith, acts }: Story,
  endpoint: Endpoint,
  start: Stage['process'],
): Promise<Scene> {
  const call = workCall(endpoint, script, { policy });
  const first = start({ call, acts, freezeAt: state, ...(answerWith === undefined ? {} : { answerWith }) });
  await first.line((line) => 'frozen' in line, 40_000);
  return { call, first };
}

/** The human of whoever takes over. */
export const approvalOf = ({ answerWith }: Story): Pick<ExecutorOptions, 'approval'> =>
  answerWith === undefined ? {} : { approval: { ask: async () => ({ action: 'accept', content: answerWith }) } };

const OVER: Readonly<Record<TerminalReceipt['outcome'], string>> = {
  completed: 'ACCEPTED',
  failed: 'ACCEPTED',
  cancelled: 'CANCELLED_ACCEPTED',
  not_submitted: 'NOT_SUBMITTED',
  given_up: 'GIVEN_UP',
};
/** The state in which an operation that ends like this comes to rest. */
export const restOf = (ending: Ending): string => ('parked' in ending ? `PARKED.${ending.in}` : OVER[ending.receipt]);

export interface Rest {
  readonly ending: Ending;
  readonly context: ToolOperationContext;
  readonly receipt: TerminalReceipt | null;
}

/** Waits until the operation rests where `expected` says, or has another end; says how it really ended. */
export async function comeToRest(executor: Executor, operationId: string, expected: Ending): Promise<Rest> {
  const rest = restOf(expected);
  const fits = (state: string, { snapshot }: Opened) => state === rest || snapshot.status === 'done';
  const { snapshot } = await until(executor, operationId, fits, 40_000);
  const { context } = snapshot;
  const receipt = (await executor.outcome(operationId))?.receipt ?? null;
  if (receipt) return { ending: { receipt: receipt.outcome }, context, receipt };
  if (!context.parked || !('parked' in expected)) throw new Error(`${statePath(snapshot)} without a receipt`);
  return { ending: { ...expected, parked: context.parked.reason }, context, receipt };
}

/**
 * What is wrong with this end of a call that had the server to itself: the server saw it more than once, or says
 * something else of its task than the receipt does.
 */
export async function disagreements(server: ScriptedServer, { receipt }: Rest): Promise<readonly string[]> {
  const { counts, executions, created } = await server.log();
  const found: string[] = [];
  if ((counts['tools/call'] ?? 0) > 1 || executions > 1) found.push(`${counts['tools/call']} calls`);
  if ((counts['tasks/cancel'] ?? 0) > 1) found.push(`${counts['tasks/cancel']} cancels`);
  switch (receipt?.outcome) {
    case 'completed':
    case 'failed':
    case 'cancelled': {
      const status = (await tasksOf(server)).get(receipt.taskId ?? '');
      if (status !== receipt.outcome) found.push(`the receipt says ${receipt.outcome}, the server ${status}`);
      break;
    }
    case 'not_submitted':
      if (created.length > 0) found.push('not submitted, says the receipt, and the server made a task');
  }
  return found;
}

/** What the server itself says of its tasks, by id. */
async function tasksOf(server: ScriptedServer): Promise<ReadonlyMap<string, string>> {
  return new Map((await server.tasks()).map(({ taskId, status }) => [taskId, status]));
}
