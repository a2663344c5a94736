/**
 * Each condition of the protocol: where it holds and where it does not, and that the chart decides by it. Forced true or
 * false in the chart, it must change what some scenario of the races comes to.
 */
import { describe, expect, it } from 'vitest';
import type { ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { OperationEvent } from '../../machines/tool-operation/events.ts';
import { type GuardName, guards } from '../../machines/tool-operation/guards.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { explainRefusal } from '../../machines/tool-operation/refusal.ts';
import type { OperationMachine } from '../../machines/tool-operation/snapshot.ts';
import { SCENARIOS } from './race-scenarios.ts';
import {
  able,
  BORN,
  type Builder,
  contextOf,
  digestOf,
  ERROR_RESULT,
  into,
  KEY,
  OTHER_RESULT,
  play,
  RESULT,
  type Scenario,
  START,
  type Step,
  say,
} from './scenario.ts';

type Changes = Partial<ToolOperationContext>;
type Example = readonly [Changes, Builder];
const known: Changes = { taskId: 'task-1', taskCreatedAt: BORN };
const evidence = { kind: 'poll.status', at: START, executionEpoch: 5 };
const observed = (status: 'completed' | 'cancelled'): Changes => ({
  terminal: { status, observedAt: START, evidence },
});
const wanted: Changes = { cancel: { requestedAt: START, requestedBy: 'alice', reason: null, heard: false } };
const heard: Changes = { cancel: { requestedAt: START, requestedBy: 'alice', reason: null, heard: true } };
const round = (changes: Partial<NonNullable<Changes['input']>> = {}): Changes => ({
  inputRound: 1,
  input: {
    schemaDigest: digestOf('e'),
    requestDigest: digestOf('f'),
    openedAt: START,
    deadline: START + 5_000,
    possiblyRepeat: false,
    keys: [],
    replyDigest: null,
    repliedAt: null,
    delivery: 'none',
    ...changes,
  },
});
const parkedFor = (reason: NonNullable<Changes['parked']>['reason']): Changes => ({
  parked: { reason, at: START, note: null },
});
const missing = (at: number, sessionChanged: boolean): Changes => ({ missing: { at, sessionChanged } });
const expiry = { earliest: START, latest: START + 100 };

/** One example for yes, one for no. The examples' time is START. */
const EXAMPLES: Record<GuardName, readonly [yes: Example, no: Example]> = {
  matchesExecutionEpoch: [
    [{}, say.pollFailed()],
    [{}, say.pollFailed({ executionEpoch: 4 })],
  ],
  isFromOlderEpoch: [
    [{}, say.pollFailed({ executionEpoch: 4 })],
    [{}, say.cancel()],
  ],
  adoptsNewerEpoch: [
    [{}, say.adopt(6)],
    [{}, say.adopt(5)],
  ],
  matchesAttempt: [
    [{}, say.senderLost()],
    [{}, say.senderLost({ attempt: 2 })],
  ],
  isMadeAttempt: [
    [{ attempt: 2 }, say.acknowledged({}, { attempt: 1 })],
    [{}, say.acknowledged({}, { attempt: 2 })],
  ],
  matchesCancelGeneration: [
    [{}, say.pollFailed()],
    [{}, say.pollFailed({ cancelGeneration: 1 })],
  ],
  matchesEndpoint: [
    [{}, say.gone()],
    [{}, say.gone({ endpointId: 'server-2' })],
  ],
  matchesTaskId: [
    [known, say.status('working')],
    [known, say.status('working', {}, { taskId: 'task-2' })],
  ],
  matchesTaskCreatedAt: [
    [known, say.status('working')],
    [known, say.status('working', {}, { createdAt: 'later' })],
  ],
  matchesPollCursor: [
    [{}, say.pollFailed()],
    [{ pollCursor: 3 }, say.pollFailed({ pollCursor: 2 })],
  ],
  matchesToolVersion: [
    [{}, say.pollFailed()],
    [{}, say.pollFailed({ toolVersion: digestOf('9') })],
  ],
  matchesRequestDigest: [
    [{}, say.pollFailed()],
    [{}, say.pollFailed({ requestDigest: digestOf('9') })],
  ],
  matchesInputRound: [
    [round(), say.reply(1)],
    [round(), say.delivered({ inputRound: 2 })],
  ],
  matchesSchemaDigest: [
    [round(), say.reply(1)],
    [round(), say.reply(1, '8')],
  ],
  beforeInputDeadline: [
    [round({ deadline: START }), say.reply(1)],
    [round({ deadline: START - 1 }), say.reply(1)],
  ],
  taskIdIsKnown: [
    [known, say.cancel()],
    [{}, say.cancel()],
  ],
  taskIsOurs: [
    [{}, say.found()],
    [{}, say.attach('task-1', true)],
  ],
  namesKnownTask: [
    [known, say.acknowledged()],
    [known, say.acknowledged({ taskId: 'task-2' })],
  ],
  attachesKnownTask: [
    [{}, say.attach('task-9')],
    [known, say.attach('task-9')],
  ],
  saysOutcome: [
    [{}, say.status('failed')],
    [{}, say.status('cancelled')],
  ],
  saysCancelled: [
    [{}, say.status('cancelled')],
    [{}, say.status('completed')],
  ],
  saysInputRequired: [
    [{}, say.status('input_required')],
    [{}, say.status('working')],
  ],
  saysTerminal: [
    [{}, say.status('cancelled')],
    [{}, say.status('input_required')],
  ],
  contradictsTerminal: [
    [observed('completed'), say.status('cancelled')],
    [observed('completed'), say.status('completed')],
  ],
  terminalIsObserved: [
    [observed('cancelled'), say.cancel()],
    [{}, say.cancel()],
  ],
  outcomeIsObserved: [
    [observed('completed'), say.fetched()],
    [observed('cancelled'), say.fetched()],
  ],
  resultIsInHand: [
    [{ result: RESULT }, say.gone()],
    [{}, say.gone()],
  ],
  candidateFits: [
    [{ candidate: RESULT }, say.receipt({ status: 'completed' }, null)],
    [{ candidate: ERROR_RESULT, ...observed('completed') }, say.resultNotFound()],
  ],
  fitsOutcome: [
    [observed('completed'), say.channelClosed({}, RESULT)],
    [observed('completed'), say.channelClosed({}, ERROR_RESULT)],
  ],
  bringsResult: [
    [{}, say.receipt({}, RESULT)],
    [{}, say.receipt({}, null)],
  ],
  bringsOtherResult: [
    [{ result: RESULT }, say.fetched(OTHER_RESULT)],
    [{ result: RESULT }, say.fetched()],
  ],
  matchesResultDigest: [
    [{ result: RESULT }, say.fetched()],
    [{ result: RESULT }, say.fetched(OTHER_RESULT)],
  ],
  handDeclaresCancelled: [
    [{}, say.acceptByHand('cancelled', null)],
    [{}, say.acceptByHand('failed', RESULT)],
  ],
  handBringsResult: [
    [{ result: RESULT }, say.acceptByHand('completed', null)],
    [{}, say.acceptByHand('completed', null)],
  ],
  creationIsAllowed: [
    [{}, say.begin()],
    [{}, say.requeue(false)],
  ],
  adapterIsEnded: [
    [{}, say.ended()],
    [{}, say.begin()],
  ],
  keyIsValid: [
    [{ keyValidUntil: null }, say.begin()],
    [{ keyValidUntil: START - 1 }, say.begin()],
  ],
  nextAttemptIsSafe: [
    [{ sentThroughAttempt: 1, ...able({ deduplicates: true }) }, say.neverCreated(0)],
    [{ sentThroughAttempt: 1 }, say.neverCreated(0)],
  ],
  everySendIsClosed: [
    [{ sentThroughAttempt: 1 }, say.neverCreated(1)],
    [{ sentThroughAttempt: 1 }, say.cancel()],
  ],
  earlierSendsAreClosed: [
    [{ attempt: 2, closedThroughAttempt: 1 }, say.rejected()],
    [{ attempt: 2 }, say.rejected()],
  ],
  somethingWasSent: [
    [{ sentThroughAttempt: 1 }, say.begin()],
    [{}, say.begin()],
  ],
  cancelIsWanted: [
    [wanted, say.found()],
    [{}, say.found()],
  ],
  cancelIsSupported: [
    [{}, say.cancel()],
    [able({ cancelSupported: false }), say.cancel()],
  ],
  cancelIsTerminalEvidence: [
    [{}, say.confirmed()],
    [able({ cancelEvidence: 'cooperative' }), say.confirmed()],
  ],
  cancelIsUnheard: [
    [wanted, say.status('working')],
    [heard, say.status('working')],
  ],
  withinWaitBudget: [
    [{ waitDeadline: START }, say.pollFailed()],
    [{ waitDeadline: START - 1 }, say.pollFailed()],
  ],
  withinStepBudget: [
    [{ stepDeadline: null }, say.pollFailed()],
    [{ stepDeadline: START - 1 }, say.pollFailed()],
  ],
  withinPromptDeadline: [
    [round({ deadline: START - 1, delivery: 'delivered' }), say.status('input_required')],
    [round({ deadline: START - 1 }), say.status('input_required')],
  ],
  asksOnlyNew: [
    [{ answeredKeys: [] }, say.question('e', 'f', undefined, [KEY])],
    [{ answeredKeys: [KEY] }, say.question('e', 'f', undefined, [KEY])],
  ],
  answerIsRecorded: [
    [round({ delivery: 'recorded' }), say.question()],
    [round({ delivery: 'attempted' }), say.question()],
  ],
  wasParkedAsUnknown: [
    [parkedFor('expired'), say.status('working')],
    [parkedFor('wait-budget'), say.status('working')],
  ],
  wasUnderNewSession: [
    [missing(START, true), say.noLookup()],
    [missing(START, false), say.noLookup()],
  ],
  wasMissedAfterExpiry: [
    [{ expiry, ...missing(START + 101, false) }, say.noLookup()],
    [{ expiry, ...missing(START + 100, false) }, say.noLookup()],
  ],
  acceptsCallNode: [
    [{}, say.accept()],
    [{}, say.accept({ callNode: 'other' })],
  ],
  acceptsRequestDigest: [
    [{}, say.accept()],
    [{}, say.accept({ requestDigest: digestOf('9') })],
  ],
  acceptsTaskId: [
    [known, say.accept()],
    [known, say.accept({ taskId: '' })],
  ],
  acceptsToolVersion: [
    [{}, say.accept()],
    [{}, say.accept({ toolVersion: digestOf('9') })],
  ],
  acceptsExecutionEpoch: [
    [{}, say.accept()],
    [{}, say.accept({ executionEpoch: '4' })],
  ],
  acceptsCancelGeneration: [
    [{}, say.accept()],
    [{}, say.accept({ cancelGeneration: '1' })],
  ],
  acceptsTerminalState: [
    [observed('completed'), say.accept()],
    [observed('completed'), say.accept({ terminalState: 'failed' })],
  ],
  acceptsResultDigest: [
    [{ result: RESULT }, say.accept()],
    [{ result: RESULT }, say.accept({ resultDigest: '' })],
  ],
};

const names = Object.keys(guards) as GuardName[];

describe('each guard, where it holds and where it does not', () => {
  it.each(names)('%s', (name) => {
    const answers = EXAMPLES[name].map(([changes, build]) => {
      const context = contextOf(changes);
      return guards[name](context, build({ context, now: START, remembered: new Map() }));
    });
    expect(answers).toEqual([true, false]);
  });
});

/** What the scenarios come to: each state on the way, and the record at the end. */
const outcome = (scenario: Scenario, machine?: OperationMachine): string => {
  try {
    const { trace, snapshot } = play(scenario, machine, false);
    return JSON.stringify([trace, snapshot.context, snapshot.output]);
  } catch (error) {
    return `threw: ${(error as Error).message}`;
  }
};
const usual = SCENARIOS.map((scenario) => outcome(scenario));

/** The guards that a scenario asks: forcing another one changes nothing in it. */
const asked = SCENARIOS.map((scenario) => {
  const seen = new Set<string>();
  const recording = Object.fromEntries(
    names.map((name) => [
      name,
      ({ context, event }: { context: ToolOperationContext; event: OperationEvent }) => {
        seen.add(name);
        return guards[name](context, event);
      },
    ]),
  );
  play(scenario, toolOperation.provide({ guards: recording } as never), false);
  return seen;
});

function noticed(name: GuardName, forced: boolean): string | null {
  const machine = toolOperation.provide({ guards: { [name]: () => forced } } as never);
  const scenario = SCENARIOS.find((each, index) => asked[index]?.has(name) && outcome(each, machine) !== usual[index]);
  return scenario?.title ?? null;
}

describe('the chart decides: a guard that is forced changes what a race comes to', () => {
  it('nothing forced: the same', () => {
    const machine = toolOperation.provide({ guards: {} });
    expect(SCENARIOS.map((scenario) => outcome(scenario, machine))).toEqual(usual);
  });
  it.each(names.flatMap((name) => [true, false].map((forced) => [name, forced] as const)))(
    '%s forced %s',
    (name, forced) => {
      expect(noticed(name, forced)).not.toBeNull();
    },
  );
});

describe('a refusal names the guards that said no', () => {
  const refusal = (steps: readonly Step[], build: Builder, given: Changes = {}) => {
    const { snapshot } = play({ title: '', given, steps });
    return explainRefusal(
      toolOperation,
      snapshot,
      build({ context: snapshot.context, now: START + 1_000, remembered: new Map() }),
    );
  };
  it('a fence', () => {
    expect(refusal(into.working, say.notFound(false, { pollCursor: 0 })).guards).toEqual(['matchesPollCursor']);
  });
  it('a negation, inside not()', () => {
    const { guards: no, text } = refusal(into.completed, say.cancel());
    expect(no).toEqual([]);
    expect(text).toBe('TERMINAL_OBSERVED.outcome: too late: the outcome was observed');
    expect(refusal(into.unavailable, say.cancel()).guards).toEqual(['not terminalIsObserved']);
    expect(refusal(into.asking, say.deadlinePassed()).guards).toEqual(['not beforeInputDeadline']);
  });
  it('an alternative, inside or(): all of it had to fail', () => {
    const disputed: Step[] = [...into.cancelledSeen, [say.status('completed'), 'PARKED.disputed']];
    expect(refusal(disputed, say.acceptByHand('completed', RESULT)).guards).toEqual([
      'handDeclaresCancelled',
      'not terminalIsObserved',
      'outcomeIsObserved',
    ]);
    expect(refusal(into.working, say.acknowledged()).guards).toEqual([
      'not namesKnownTask',
      'not taskIsOurs',
      'not matchesTaskCreatedAt',
    ]);
  });
  it('a cancel that the server does not have', () => {
    expect(refusal(into.working, say.cancel(), able({ cancelSupported: false })).guards).toEqual(['cancelIsSupported']);
  });
  it('what the state ignores, with its reason', () => {
    expect(refusal(into.cancelling, say.cancel()).text).toBe(
      'CANCEL_REQUESTED.sending: a repetition: one cancel is under way, in this generation',
    );
    expect(refusal(into.queued, say.status('completed'))).toMatchObject({
      guards: [],
      text: 'SUBMITTING.queued: there is no id: nothing can have been polled, fetched, asked or cancelled',
    });
  });
  it('an older epoch: what the inbox did not want', () => {
    expect(refusal(into.working, say.status('working', { executionEpoch: 4 })).guards).toContain('saysTerminal');
  });
  it('an operation that is over', () => {
    expect(refusal(into.accepted, say.cancel()).text).toBe('the operation is over (ACCEPTED)');
  });
});
