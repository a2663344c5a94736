/** What somebody wants of an operation, from any process: each is one committed step, refused with a reason. */
import { judgeReply } from '../approval-gate/judge.ts';
import { canonicalJson, sha256 } from '../digest.ts';
import type { InputReply, Payload } from '../operation-protocol.ts';
import { owedEffect, stateName } from '../tool-operation/snapshot.ts';
import { type Environment, stampOf } from './environment.ts';
import { storable } from './facts.ts';
import { openRound } from './question.ts';
import type { Opened } from './store.ts';

export type Desk = Pick<Environment, 'ledger' | 'store' | 'time' | 'clock'>;

/** What a record holds of an id and of a text, characters: more would make a record that nobody can open again. */
const MAX_ID = 512;
const MAX_TEXT = 4_000;
const nameOf = (by: string): string => by.slice(0, MAX_ID) || 'unknown';

/**
 * What became of a command. `taken`: it is committed. `refused`: nothing changed; `guards` names the conditions that said
 * no. `missing`: there is no record, or none any more.
 */
export type CommandAnswer =
  | { readonly kind: 'taken'; readonly opened: Opened }
  /** Nothing to do: it is so already. */
  | { readonly kind: 'already'; readonly opened: Opened; readonly reason: string }
  | { readonly kind: 'refused'; readonly opened: Opened; readonly reason: string; readonly guards: readonly string[] }
  | { readonly kind: 'missing' };

/** Asks for a cancel (B9): a request, raised by compare-and-set before anything is sent. */
export async function cancel(
  desk: Desk,
  operationId: string,
  by: string,
  reason: string | null = null,
): Promise<CommandAnswer> {
  await desk.time.sync();
  const applied = await desk.store.apply(operationId, {
    ...stampOf(desk),
    type: 'cancel.request',
    by: nameOf(by),
    reason: reason === null ? null : reason.slice(0, MAX_TEXT),
  });
  if (applied.kind !== 'refused') return applied;
  const { opened, refusal } = applied;
  const { context } = opened.snapshot;
  if (opened.snapshot.status === 'done') {
    return {
      kind: 'refused',
      opened,
      guards: [],
      reason: `too late: the operation is over (${stateName(opened.snapshot)})`,
    };
  }
  if (context.cancel !== null)
    return { kind: 'already', opened, reason: 'a cancel is under way; it was not raised again' };
  if (refusal.guards.includes('cancelIsSupported')) {
    return {
      kind: 'refused',
      opened,
      guards: refusal.guards,
      reason: 'the server declared no cancel for tasks: the call can only be waited for',
    };
  }
  return { kind: 'refused', opened, guards: refusal.guards, reason: `too late: ${refusal.text}` };
}

/** A round is open, or was answered and is not over: a second answer is refused with the reason. */
const takesAnswers = ({ snapshot }: Opened): boolean =>
  stateName(snapshot) === 'INPUT_REQUIRED' || owedEffect(snapshot) === 'holdInput';

/** Answers one input round (B7). Refused for another round, another schema, after the deadline, twice, or not fitting the schema. */
export async function answer(
  desk: Desk,
  given: {
    readonly operationId: string;
    readonly round: number;
    readonly schemaDigest: string;
    readonly reply: InputReply;
  },
): Promise<CommandAnswer> {
  await desk.time.sync();
  const opened = await desk.store.load(given.operationId);
  if (!opened) return { kind: 'missing' };
  const { context } = opened.snapshot;
  if (context.input === null || !takesAnswers(opened)) {
    return {
      kind: 'refused',
      opened,
      guards: [],
      reason: `no question is open: the operation is in ${stateName(opened.snapshot)}`,
    };
  }
  const at = desk.time.now();
  const judgement = judgeReply(await openRound(desk.ledger, opened), { type: 'reply', at, ...given });
  if (judgement.kind === 'refused') {
    const why = judgement.problems.length > 0 ? `: ${judgement.problems.join('; ')}` : '';
    return {
      kind: 'refused',
      opened,
      guards: [judgement.guard],
      reason: `the answer was refused by ${judgement.guard}${why}`,
    };
  }
  const text = canonicalJson(given.reply);
  const replyDigest = sha256(text);
  const applied = await desk.store.apply(
    given.operationId,
    { ...stampOf(desk), type: 'input.reply', round: given.round, schemaDigest: given.schemaDigest, replyDigest },
    { payloads: [{ digest: replyDigest, text }] },
  );
  if (applied.kind !== 'refused') return applied;
  const reason = applied.refusal.guards.length > 0 ? applied.refusal.text : 'the round was answered already';
  return { kind: 'refused', opened: applied.opened, guards: applied.refusal.guards, reason };
}

/**
 * A verdict on a parked operation (B13): this task is its own; it ended so (`completed` and `failed` with what it returned,
 * unless that is in the ledger); nothing was ever created; nobody will know. A note becomes evidence.
 */
export type Reconciliation =
  | { readonly verb: 'attach'; readonly taskId: string }
  | {
      readonly verb: 'accept';
      readonly status: 'completed' | 'failed' | 'cancelled';
      readonly payload: Payload | null;
      readonly note: string;
    }
  | { readonly verb: 'never-created'; readonly note: string }
  | { readonly verb: 'give-up'; readonly note: string };

/** A human's verdict on a parked operation, with the evidence in writing. */
export async function reconcile(
  desk: Desk,
  operationId: string,
  asker: string,
  what: Reconciliation,
): Promise<CommandAnswer> {
  await desk.time.sync();
  const opened = await desk.store.load(operationId);
  if (!opened) return { kind: 'missing' };
  const stamp = stampOf(desk);
  const by = nameOf(asker);
  if (what.verb === 'attach' && (what.taskId === '' || what.taskId.length > MAX_ID))
    return { kind: 'refused', opened, guards: [], reason: `a task id has 1 to ${MAX_ID} characters` };
  const stored = what.verb === 'accept' && what.payload ? storable(what.payload, desk.ledger.maxPayloadBytes) : null;
  if (stored !== null && 'problem' in stored) return { kind: 'refused', opened, guards: [], reason: stored.problem };
  const event =
    what.verb === 'attach'
      ? ({
          ...stamp,
          type: 'reconcile.attach',
          by,
          taskId: what.taskId,
          foreign:
            (await desk.ledger.ownTask(opened.snapshot.context.endpoint.id, what.taskId, operationId)) !== operationId,
        } as const)
      : what.verb === 'accept'
        ? ({
            ...stamp,
            type: 'reconcile.accept',
            by,
            status: what.status,
            note: what.note,
            result: stored?.ref ?? null,
          } as const)
        : ({
            ...stamp,
            type: what.verb === 'give-up' ? 'reconcile.giveUp' : 'reconcile.neverCreated',
            by,
            note: what.note,
          } as const);
  const applied = await desk.store.apply(operationId, event, { payloads: stored ? [stored.write] : [] });
  if (applied.kind !== 'refused') return applied;
  return { kind: 'refused', opened: applied.opened, guards: applied.refusal.guards, reason: applied.refusal.text };
}

/** What can be done about an operation by hand, right now. */
export function allowedVerbs(opened: Opened): readonly string[] {
  const { snapshot } = opened;
  return (
    ['reconcile.attach', 'reconcile.accept', 'reconcile.neverCreated', 'reconcile.giveUp', 'cancel.request'] as const
  ).filter((type) => snapshot._nodes.some((node) => node.transitions.has(type)));
}
