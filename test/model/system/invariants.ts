/** What must hold in every state of the closed system, and what must be able to follow it. Each says the brief row it guards. */
import { PAST } from './abstraction.ts';
import { Task } from './server.ts';
import { callIsUnderWay, HOLDING, type System } from './system.ts';
import { DIGESTS } from './values.ts';
import { At, Channel, Drive, driveAt, Flag, Question, Stage, type World } from './world.ts';

/** The first invariant that this state breaks, in words. */
export function broken(system: System, world: World): string | null {
  const { receipt, done, snapshot, parked } = system.record(world);
  const { context } = snapshot;
  const { contract } = system;
  const task = world[At.task] as number;
  const receipts = world[At.receipts] as number;
  if (receipts > 1) return 'F7: more than one receipt';
  if (done !== (receipts === 1)) return 'B12: a final state and its receipt are not one step';
  if ((world[At.answers] as number) > 1) return 'B7: a round is answered twice on the wire';
  if (receipt !== null) {
    const { outcome, resultDigest } = receipt;
    if ((outcome === 'completed' || outcome === 'failed') && resultDigest === null)
      return `B11: ${outcome} without its result`;
    if (context.terminal?.status === 'cancelled' && receipt.released)
      return 'B10: a won cancel is released as a success';
    if (contract.lies) return null;
    if (outcome === 'completed' && (task !== Task.completed || resultDigest !== DIGESTS.made))
      return 'G1: accepted as completed, which it is not';
    if (outcome === 'failed' && (task !== Task.failed || resultDigest !== DIGESTS.failure))
      return 'G1: accepted as failed, which it is not';
    if (outcome === 'cancelled' && task !== Task.cancelled) return 'G1: accepted as cancelled, which it is not';
    if (outcome === 'not_submitted' && (task !== Task.none || callIsUnderWay(system, world)))
      return 'B13: accepted as never created, but it was, or can still be';
  }
  if (contract.lies) return null;
  if ((world[At.second] as number) > 0) return 'G2: a second operation';
  if (parked === 'contradiction') return 'an honest server is called a liar';
  return null;
}

/** Over, or with a human: nothing more has to happen by itself. */
export function isSettled(system: System, world: World): boolean {
  const { done, path } = system.record(world);
  return done || path.startsWith('PARKED');
}

export const isTerminal = (system: System, world: World): boolean => system.record(world).done;

/**
 * The server can answer everything that is needed, so the operation has to end terminal once the faults stop. Left out, each
 * because nobody could do better: a liar, a forgotten task, a question that was lost with its channel, a verdict of a human,
 * a submission whose reply is lost at a server without look-up, and a key whose retention is over.
 */
export function mustEnd(system: System, world: World): boolean {
  const { contract } = system;
  const { path, snapshot, parked } = system.record(world);
  const { context } = snapshot;
  if (contract.lies || world[At.known] === 0) return false;
  if (parked === 'contradiction') return false;
  const question = world[At.question] as number;
  if (world[At.task] === Task.input && question === Question.lost) return false;
  // The caller's budget was over before the question could be asked.
  if (world[At.task] === Task.input && context.waitDeadline === PAST) return false;
  // Nobody answered in time, or an answer may be on the wire: what the server waits for may never come.
  if (world[At.task] === Task.input && !answerCanReach(system, world, question)) return false;
  if (world[At.task] === Task.input && (context.input?.deadline === PAST || parked !== null)) return false;
  if (context.taskId !== null) return true;
  if (context.keyValidUntil === PAST) return false;
  if (world[At.task] === Task.none && path.startsWith('SUBMITTING.queued')) return true;
  if (contract.lookup === 'repeat') return context.cancel === null && path !== 'PARKED.waiting';
  return contract.lookup === 'closing' && !contract.atOnce && path !== 'PARKED.waiting';
}

function answerCanReach(system: System, world: World, question: number): boolean {
  if (system.contract.input === 'status') return true;
  if (question === Question.waiting) return true;
  // Whoever holds the channel must be the one that the record has waiting for it.
  if (question === Question.none || !HOLDING.has(system.record(world).effect)) return false;
  const executor = question - Question.first;
  const channel = world[driveAt(executor, Drive.channel)];
  // Delivered to a process that lost its lease: it may not ask anybody any more.
  if (((world[driveAt(executor, Drive.flags)] as number) & Flag.zombie) !== 0) return false;
  return (
    world[driveAt(executor, Drive.stage)] !== Stage.none && (channel === Channel.open || channel === Channel.question)
  );
}
