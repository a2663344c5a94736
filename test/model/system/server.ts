/**
 * What servers promise, and how late and how wrong they may be. One task (and whatever a second submission would make of it);
 * every request is answered by what the contract allows, all possibilities at once.
 */
import type {
  AnswerOutcome,
  CancelOutcome,
  LookupOutcome,
  Payload,
  ResultOutcome,
  StatusOutcome,
  SubmitOutcome,
  TaskView,
} from '../../../machines/operation-protocol.ts';
import type { Capabilities, ServerStatus } from '../../../machines/tool-operation/context.ts';
import { NOW } from './abstraction.ts';
import type { Method } from './performance.ts';
import { BORN, FAILURE, keyed, RESULTS } from './values.ts';

export interface Contract {
  readonly name: string;
  readonly about: string;
  readonly lookup: Capabilities['lookup'];
  readonly deduplicates: boolean;
  readonly cancel: 'terminal' | 'cooperative' | 'none';
  /** How many questions the task asks at the most. */
  readonly questions: number;
  /** A question whose channel broke before an answer is asked again on the next one. */
  readonly asksAgain: boolean;
  /** Questions come on a channel of one connection (2025-11-25), or with the status, by key (2026-07-28). */
  readonly input: 'channel' | 'status';
  /** The call itself is answered with a question first, and is sent again with the answer (2026-07-28). */
  readonly asksFirst: boolean;
  /** Ignores the wish for a task: does the work and answers with the result. */
  readonly atOnce: boolean;
  /** Forgets a task some time after its expiry, with or without a receipt to show. */
  readonly forgets: 'never' | 'withReceipt' | 'wholly';
  readonly lies: boolean;
  /** The execution epoch is raised once on the way. */
  readonly raisesEpoch: boolean;
}

export const HONEST: Contract = {
  name: 'plain',
  about: 'no look-up, terminal cancel: MCP 2025-11-25 as it is',
  lookup: 'none',
  deduplicates: false,
  cancel: 'terminal',
  questions: 0,
  asksAgain: false,
  input: 'channel',
  asksFirst: false,
  atOnce: false,
  forgets: 'never',
  lies: false,
  raisesEpoch: false,
};

export const capabilitiesOf = (contract: Contract): Capabilities => ({
  cancelSupported: contract.cancel !== 'none',
  cancelEvidence: contract.cancel === 'cooperative' ? 'cooperative' : 'terminal',
  lookup: contract.lookup,
  deduplicates: contract.deduplicates,
  input: contract.questions > 0 || contract.asksFirst ? contract.input : 'none',
  inputRedelivery: contract.input === 'status',
  effectFree: false,
});

export const STATUS = ['none', 'working', 'input_required', 'completed', 'failed', 'cancelled'] as const;
export const Task = { none: 0, working: 1, input: 2, completed: 3, failed: 4, cancelled: 5 } as const;

export interface ServerState {
  /** An index of `STATUS`. */
  task: number;
  /** Work done beyond the first time: there must never be any. */
  second: number;
  known: number;
  closedThrough: number;
  cancelAsked: number;
  reborn: number;
  /** How many questions were asked, whether the last of them is open, and how often it was answered. */
  asked: number;
  open: boolean;
  answers: number;
}

/** Answers are named, so that a state of the world can hold one. */
export type AnswerCode = number;
const codes: string[] = ['silence'];
const outcomes: unknown[] = [undefined];
const codeOf = new Map<string, AnswerCode>();

function code(name: string, outcome: unknown): AnswerCode {
  const known = codeOf.get(name);
  if (known !== undefined) return known;
  codes.push(name);
  outcomes.push(outcome);
  codeOf.set(name, codes.length - 1);
  return codes.length - 1;
}
export const SILENCE = 0;
export const answerName = (answer: AnswerCode) => codes[answer] ?? '?';

/** The outcome of a request by its code; silence is what the adapter makes of an answer that never came. */
export function outcomeOf(answer: AnswerCode, method: Method): unknown {
  if (answer !== SILENCE) return outcomes[answer];
  return method === 'submit' ? { kind: 'connectionLost', reason: 'silence' } : { kind: 'unknown', reason: 'silence' };
}

const view = (status: ServerStatus, contract: Contract, taskId = 't1', taskCreatedAt = BORN): TaskView => ({
  taskId,
  taskCreatedAt,
  status,
  statusMessage: null,
  pollIntervalMs: null,
  ttlMs: contract.forgets === 'never' ? null : NOW,
  remainingTtlMs: contract.forgets === 'never' ? null : NOW,
});

export interface Processed {
  readonly server: ServerState;
  readonly answer: AnswerCode;
  readonly isLie: boolean;
}

/** What the server reads in a request. */
export interface Request {
  readonly method: Method;
  readonly attempt: number;
  /** The call brings the answer to what it was answered with before. */
  readonly answers: boolean;
  /** The question that an answer names. */
  readonly question: number;
}

/** `keyIsOver`: the published retention of the submission key is over, and the server may have forgotten it. */
export function processed(
  contract: Contract,
  server: ServerState,
  { method, attempt, answers, question }: Request,
  keyIsOver: boolean,
): Processed[] {
  const status = STATUS[server.task] as ServerStatus;
  const honest: Processed[] = [];
  const says = (answer: AnswerCode, changed: Partial<ServerState> = {}) =>
    honest.push({ server: { ...server, ...changed }, answer, isLie: false });
  const forgetting = contract.forgets === 'never' ? 'F' : 'E';
  const statusCode = (word: ServerStatus, born = server.reborn ? 'reborn' : BORN) =>
    code(`${forgetting} status ${word} ${born}${contract.input === 'status' ? ' with what it came to' : ''}`, {
      kind: 'status',
      task: view(word, contract, 't1', born),
      ...(contract.input === 'status' ? inlined(word) : {}),
    } satisfies StatusOutcome);
  const exists = server.task !== Task.none;
  const asking = (number: number) =>
    code(`${forgetting} asks ${number}`, {
      kind: 'status',
      task: view('input_required', contract),
      inputRequests: keyed(number),
    } satisfies StatusOutcome);

  switch (method) {
    case 'submit': {
      if (attempt <= server.closedThrough) {
        says(code('rejected', { kind: 'rejected', reason: 'closed' } satisfies SubmitOutcome));
        break;
      }
      const acknowledged = (word: ServerStatus) =>
        code(`${forgetting} acknowledged ${word}`, {
          kind: 'acknowledged',
          task: view(word, contract),
          sessionId: null,
        } satisfies SubmitOutcome);
      const atOnce = code('outcome', { kind: 'outcome', payload: RESULTS.made } satisfies SubmitOutcome);
      const first = keyed(1);
      // No request is on its way for longer than the server remembers its key.
      if (exists && contract.deduplicates && keyIsOver) says(SILENCE);
      else if (exists && contract.deduplicates && server.known) says(contract.atOnce ? atOnce : acknowledged(status));
      else if (contract.asksFirst && !answers)
        says(code('asks first', { kind: 'inputRequired', requests: first, requestState: 's' } satisfies SubmitOutcome));
      else if (contract.atOnce)
        says(atOnce, exists ? { second: Math.min(2, server.second + 1) } : { task: Task.completed });
      else says(acknowledged('working'), exists ? { second: Math.min(2, server.second + 1) } : { task: Task.working });
      break;
    }
    case 'status':
      if (!exists || !server.known || contract.atOnce)
        says(code('no such task', { kind: 'notFound', reason: 'no such task' } satisfies StatusOutcome));
      else if (contract.input === 'status' && server.open) says(asking(server.asked));
      else {
        says(statusCode(status));
        // Eventually consistent: an answer that was heard may not show yet.
        if (contract.input === 'status' && server.asked > 0 && server.task === Task.working) says(asking(server.asked));
      }
      break;
    case 'result':
      if (!exists || !server.known || contract.atOnce)
        says(code('no such result', { kind: 'notFound', reason: 'no such task' } satisfies ResultOutcome));
      else if (server.task === Task.completed)
        says(code('result made', { kind: 'result', payload: RESULTS.made } satisfies ResultOutcome));
      else if (server.task === Task.failed)
        says(code('result failure', { kind: 'result', payload: FAILURE } satisfies ResultOutcome));
      else says(code('no result', { kind: 'unknown', reason: 'not yet' } satisfies ResultOutcome));
      break;
    case 'cancel':
      if (contract.cancel === 'none')
        says(code('cancel unsupported', { kind: 'unsupported', reason: 'no' } satisfies CancelOutcome));
      else if (!server.known || (server.task !== Task.working && server.task !== Task.input))
        says(code('cancel refused', { kind: 'refused', reason: 'over' } satisfies CancelOutcome));
      else if (contract.cancel === 'terminal')
        says(
          code(`${forgetting} cancelled`, {
            kind: 'confirmed',
            task: view('cancelled', contract),
          } satisfies CancelOutcome),
          { task: Task.cancelled },
        );
      else says(code('cancel heard', { kind: 'acknowledged' } satisfies CancelOutcome), { cancelAsked: 1 });
      break;
    case 'lookup':
      if (contract.lookup === 'repeat') {
        const again = code(`${forgetting} found ${exists ? status : 'working'}`, {
          kind: 'found',
          task: view(exists ? status : 'working', contract),
        } satisfies LookupOutcome);
        // No request is on its way for longer than the server remembers its key.
        if (keyIsOver) says(SILENCE);
        else says(again, exists ? {} : { task: Task.working });
      } else if (exists && server.known && !contract.atOnce)
        says(
          code(`${forgetting} found ${status}`, {
            kind: 'found',
            task: view(status, contract),
          } satisfies LookupOutcome),
        );
      else if (exists && contract.forgets === 'withReceipt' && server.task >= Task.completed)
        says(code(`receipt ${status}`, receipt(status)));
      else if (exists && !keyIsOver)
        says(code('cannot know', { kind: 'unknown', reason: 'no longer known' } satisfies LookupOutcome));
      else
        says(
          code(`never created ${attempt}`, {
            kind: 'neverCreated',
            closedThroughAttempt: attempt,
          } satisfies LookupOutcome),
          { closedThrough: Math.max(server.closedThrough, attempt) },
        );
      break;
    case 'update': {
      const isAnswer = server.open && question === server.asked;
      const goesOn = server.task === Task.input ? { task: Task.working } : {};
      says(
        code('update heard', { kind: 'delivered' } satisfies AnswerOutcome),
        isAnswer ? { open: false, answers: server.answers + 1, ...goesOn } : {},
      );
      break;
    }
    case 'deliver':
      break;
  }
  return contract.lies ? [...honest, ...lies(contract, server, method, statusCode)] : honest;
}

/** What the outcome is told with, where the status tells it. */
function inlined(status: ServerStatus): { readonly payload?: Payload } {
  if (status === 'completed') return { payload: RESULTS.made };
  return status === 'failed' ? { payload: FAILURE } : {};
}

function receipt(status: ServerStatus): LookupOutcome {
  return {
    kind: 'expiredWithReceipt',
    taskId: 't1',
    taskCreatedAt: BORN,
    status: status as 'completed' | 'failed' | 'cancelled',
    ...inlined(status),
  };
}

/** What a server may say that is not so. */
function lies(
  contract: Contract,
  server: ServerState,
  method: Method,
  statusCode: (word: ServerStatus, born?: string) => AnswerCode,
): Processed[] {
  const lie = (answer: AnswerCode): Processed => ({ server, answer, isLie: true });
  if (server.task === Task.none) return [];
  const truth = STATUS[server.task] as ServerStatus;
  switch (method) {
    case 'submit':
      return [
        lie(
          code('acknowledged foreign', {
            kind: 'acknowledged',
            task: view('working', contract, 'foreign'),
            sessionId: null,
          } satisfies SubmitOutcome),
        ),
      ];
    case 'status':
      return [
        ...(['working', 'input_required', 'completed', 'failed', 'cancelled'] as const)
          .filter((word) => word !== truth)
          .map((word) => lie(statusCode(word))),
        lie(statusCode(truth, 'reborn')),
        lie(code('no such task', { kind: 'notFound', reason: 'no such task' } satisfies StatusOutcome)),
      ];
    case 'result':
      return [
        lie(code('result lied', { kind: 'result', payload: RESULTS.lied } satisfies ResultOutcome)),
        lie(code('result invalid', { kind: 'invalid', reason: 'garbage' } satisfies ResultOutcome)),
        lie(code('no such result', { kind: 'notFound', reason: 'no such task' } satisfies ResultOutcome)),
      ];
    case 'cancel':
      if (contract.cancel === 'cooperative')
        return [lie(code('cancel heard', { kind: 'acknowledged' } satisfies CancelOutcome))];
      return [
        lie(code('F cancelled', { kind: 'confirmed', task: view('cancelled', contract) } satisfies CancelOutcome)),
        lie(code('cancel refused', { kind: 'refused', reason: 'over' } satisfies CancelOutcome)),
      ];
    default:
      return [];
  }
}
