/** Every method of an adapter's session, called once, with what came of it checked and fed into the chart. */
import { DEFAULT_POLICY, firstContext } from '../../machines/actor/call.ts';
import { askedOnChannel } from '../../machines/actor/question.ts';
import {
  EndpointUnavailable,
  type InputRequest,
  type Payload,
  type ProtocolSession,
  type SubmitOutcome,
} from '../../machines/operation-protocol.ts';
import { newOperation, type OperationSnapshot } from '../../machines/tool-operation/snapshot.ts';
import { contextOf, START } from '../machines/scenario.ts';
import { assertOpensAgain, holds } from './checks.ts';
import { OUTCOMES } from './outcomes.ts';
import { feedChart, issuedIn, STAMP, told } from './situations.ts';
import type { Verdict } from './target.ts';

export const METHODS = ['negotiate', 'submit', 'status', 'result', 'cancel', 'lookup', 'input'] as const;
export type Method = (typeof METHODS)[number];

const ARGUMENTS = { month: 'May' };
const TASK_REF = { taskId: 'task-1', taskCreatedAt: null, tool: 'report' };
const SUBMISSION = {
  tool: 'report',
  submissionKey: 'c'.repeat(64),
  attempt: 1,
  requestDigest: 'a'.repeat(64),
  principal: 'local',
};

/** `over`: the server has said all that it will say. */
export async function callMethod(
  session: ProtocolSession,
  method: Method,
  before: OperationSnapshot,
  over: () => Promise<void>,
): Promise<Verdict> {
  const issued = issuedIn(before);
  switch (method) {
    case 'negotiate':
      return negotiate(session);
    case 'submit': {
      const late: SubmitOutcome[] = [];
      const outcome = await session.submit(
        { ...SUBMISSION, arguments: ARGUMENTS, ttlMs: null },
        { mayWrite: () => true, late: (one) => void late.push(one), timeoutMs: 5_000 },
      );
      await over();
      for (const one of [outcome, ...late]) {
        OUTCOMES.submit.parse(one);
        feedChart(before, told.submit(one, issued, STAMP, false));
      }
      holds(late.length <= 1, 'a submission was answered twice');
      return outcome.kind === 'acknowledged' || outcome.kind === 'outcome' ? 'accepted' : 'refused';
    }
    case 'status': {
      const outcome = await session.status(TASK_REF);
      OUTCOMES.status.parse(outcome);
      feedChart(before, told.status(outcome, issued, STAMP, false, false));
      return outcome.kind === 'status' ? 'accepted' : 'refused';
    }
    case 'result': {
      const status = before.context.pollCursor % 2 === 0 ? 'completed' : 'failed';
      const outcome = await session.result(TASK_REF, status);
      OUTCOMES.result.parse(outcome);
      feedChart(before, told.result(outcome, issued, STAMP, false));
      return outcome.kind === 'result' ? 'accepted' : 'refused';
    }
    case 'cancel': {
      const outcome = await session.cancel(TASK_REF);
      OUTCOMES.cancel.parse(outcome);
      feedChart(before, told.cancel(outcome, issued, STAMP));
      return outcome.kind === 'confirmed' || outcome.kind === 'acknowledged' ? 'accepted' : 'refused';
    }
    case 'lookup': {
      const outcome = await session.lookup(SUBMISSION);
      OUTCOMES.lookup.parse(outcome);
      feedChart(before, told.lookup(outcome, issued, STAMP, false));
      return outcome.kind === 'unknown' || outcome.kind === 'unavailable' ? 'refused' : 'accepted';
    }
    case 'input':
      return session.answerInput ? answerByKey(session, before) : listen(session, before, over);
  }
}

async function negotiate(session: ProtocolSession): Promise<Verdict> {
  try {
    const negotiated = await session.negotiate('report', ARGUMENTS);
    OUTCOMES.negotiate.parse(negotiated);
    if (negotiated.kind === 'refused') return 'refused';
    const context = firstContext({
      call: {
        callNodeId: 'node',
        endpoint: { kind: 'http', url: 'http://127.0.0.1/mcp' },
        tool: 'report',
        arguments: ARGUMENTS,
      },
      operationId: 'op-1',
      namespace: 'test',
      protocol: 'mcp-2025-11-25',
      processId: 'p',
      executionEpoch: 1,
      negotiated,
      policy: DEFAULT_POLICY,
      now: START,
    });
    assertOpensAgain(newOperation(context));
    return 'accepted';
  } catch (error) {
    if (error instanceof EndpointUnavailable) return 'refused';
    throw error;
  }
}

/** Where questions have keys, an answer is a request of its own. */
async function answerByKey(session: ProtocolSession, before: OperationSnapshot): Promise<Verdict> {
  const outcome = await session.answerInput?.(TASK_REF, { which: { action: 'accept', content: { which: 'a' } } });
  OUTCOMES.answer.parse(outcome);
  const { claims } = issuedIn(before);
  if (outcome?.kind !== 'delivered') return 'refused';
  feedChart(before, { event: { ...STAMP, type: 'input.delivered', claims } });
  return 'accepted';
}

/** Opens the channel of questions, takes what comes, answers the first question. */
async function listen(
  session: ProtocolSession,
  before: OperationSnapshot,
  over: () => Promise<void>,
): Promise<Verdict> {
  const questions: InputRequest[] = [];
  const ends: { reason: string; payload: Payload | null }[] = [];
  let answering: Promise<unknown> | null = null;
  const channel = session.openInput(TASK_REF, {
    request: (request) => {
      questions.push(request);
      // As the executor does, when it next looks.
      answering ??= new Promise((resolve) => setImmediate(resolve))
        .then(() => channel.deliver({ action: 'accept', content: { which: 'a' } }))
        .catch((error: Error) => holds(/whether the answer was taken/.test(error.message), error.message));
    },
    closed: (reason, payload) => ends.push({ reason, payload: payload ?? null }),
  });
  await new Promise((resolve) => setImmediate(resolve));
  await answering;
  await over();
  channel.close();
  const issued = issuedIn(before);
  for (const question of questions) {
    feedChart(before, told.requested(askedOnChannel(question), issued, STAMP));
  }
  for (const { reason, payload } of ends) feedChart(before, told.channelClosed(reason, payload, issued, STAMP));
  holds(ends.length <= 1, 'the channel ended twice');
  return questions.length > 0 || ends.some(({ payload }) => payload !== null) ? 'accepted' : 'refused';
}

export const RESUMED = {
  sessionId: 's-1',
  protocolVersion: '2025-11-25',
  tool: contextOf().tool,
};
