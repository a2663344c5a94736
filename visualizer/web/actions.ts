/** Commands of the page. Each is one step that the chart takes or refuses: nothing is decided here. */
import { z } from 'zod';
import { parseReply, schemaProblems } from '../../machines/approval-gate/reply-schema.ts';
import { jsonProblem } from '../../machines/digest.ts';
import type { CommandAnswer, Executor, OperationLedger, Payload, Reconciliation } from '../../machines/index.ts';
import { refusalWords } from '../cli/refused.ts';
import { openQuestion } from '../cli/views.ts';
import type { ActionAnswer } from '../view/schema.ts';

/** A result that is given by hand is the largest part. */
export const MAX_ACTION_BYTES = 2 * 1024 ** 2;

const operationId = z.string().regex(/^p\d+\.[0-9a-f]{64}$/);
const note = z.string().trim().min(1, 'say what the verdict rests on').max(4_000);
const Action = z.discriminatedUnion('verb', [
  z.strictObject({
    ...{ verb: z.literal('answer'), operationId, reply: z.unknown() },
    ...{ round: z.number().int().min(1), schemaDigest: z.string().regex(/^[0-9a-f]{64}$/) },
  }),
  z.strictObject({ verb: z.literal('cancel'), operationId, reason: z.string().max(4_000).nullable() }),
  z.strictObject({ verb: z.literal('attach'), operationId, taskId: z.string().trim().min(1).max(512) }),
  z.strictObject({
    ...{ verb: z.literal('accept'), operationId, note, payload: z.unknown() },
    status: z.enum(['completed', 'failed', 'cancelled']),
  }),
  z.strictObject({ verb: z.literal('never-created'), operationId, note }),
  z.strictObject({ verb: z.literal('give-up'), operationId, note }),
]);
type Action = z.output<typeof Action>;

const RpcError = z.looseObject({ code: z.number(), message: z.string() });

export interface Desk {
  readonly executor: Executor;
  readonly ledger: OperationLedger;
  /** Who asks, as it stands in the record. */
  readonly by: string;
}

/** @throws ZodError the command is not one */
export async function act(desk: Desk, body: unknown): Promise<ActionAnswer | null> {
  const action = Action.parse(body);
  const answer = await perform(desk, action);
  switch (answer.kind) {
    case 'missing':
      return null;
    case 'taken':
      return { kind: 'taken', words: WORDS[action.verb], guards: [] };
    case 'already':
      return { kind: 'already', words: answer.reason, guards: [] };
    case 'refused':
      return {
        kind: 'refused',
        words: refusalWords(answer, await problemsOf(desk, action, answer.guards)),
        guards: [...answer.guards],
      };
  }
}

const WORDS: Readonly<Record<Action['verb'], string>> = {
  answer: 'The answer is on record; the process that serves the operation sends it.',
  cancel: 'The cancel is on record; the process that serves the operation sends it.',
  attach: 'The task id is on record; the operation goes on with it.',
  accept: 'The outcome is on record; the process that serves the operation accepts it.',
  'never-created': 'It is on record that nothing was created.',
  'give-up': 'It is on record that the operation was given up.',
};

function perform({ executor, by }: Desk, action: Action): Promise<CommandAnswer> {
  switch (action.verb) {
    case 'answer': {
      const { round, schemaDigest } = action;
      return executor.answer({ operationId: action.operationId, round, schemaDigest, reply: parseReply(action.reply) });
    }
    case 'cancel':
      return executor.cancel(action.operationId, by, action.reason || null);
    default:
      return executor.reconcile(action.operationId, by, verdictOf(action));
  }
}

function verdictOf(action: Exclude<Action, { verb: 'answer' | 'cancel' }>): Reconciliation {
  if (action.verb === 'attach') return { verb: 'attach', taskId: action.taskId };
  if (action.verb !== 'accept') return { verb: action.verb, note: action.note };
  const { status, note } = action;
  return { verb: 'accept', status, payload: payloadOf(status, action.payload), note };
}

/** Without a payload the chart decides whether a result is on record already. */
function payloadOf(status: string, value: unknown): Payload | null {
  if (value === undefined || value === null) return null;
  const problem = jsonProblem(value);
  if (problem !== null) throw new z.ZodError([{ code: 'custom', path: ['payload'], message: problem, input: value }]);
  const error = status === 'failed' ? RpcError.safeParse(value) : null;
  if (error?.success) return { kind: 'error', value: value as Extract<Payload, { kind: 'error' }>['value'] };
  const isError = (value as { isError?: unknown }).isError === true;
  return { kind: 'result', value: value as Extract<Payload, { kind: 'result' }>['value'], isError };
}

async function problemsOf(
  { executor, ledger }: Desk,
  action: Action,
  guards: readonly string[],
): Promise<readonly string[]> {
  if (action.verb !== 'answer' || !guards.includes('replyFitsSchema')) return [];
  const opened = await executor.load(action.operationId);
  const question = opened && (await openQuestion(ledger, opened));
  return question ? schemaProblems(question.request.schema, parseReply(action.reply)) : [];
}
