/**
 * The closed system: record, ledger, two executors, network, server, human and time. `expand` gives every next state of one
 * state. Whatever the record or an executor decides here is decided by production code (see `records.ts`).
 */
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import type { Effect } from '../../../machines/tool-operation/machine.ts';
import type { OperationMachine } from '../../../machines/tool-operation/snapshot.ts';
import { DEADLINES, type Deadline, NOW, PAST, ROUND } from './abstraction.ts';
import type { Effects, Method, News, Performance, Situation } from './performance.ts';
import { type KnownRecord, type RecordId, Records, type Written } from './records.ts';
import { answerName, type Contract, processed, type Request, type ServerState, SILENCE, Task } from './server.ts';
import { FAILURE, numberOf, REPLY, RESULTS } from './values.ts';
import { At, Channel, Drive, driveAt, Flag, Orphan, Question, Stage, type World } from './world.ts';

/** How many faults of each kind may happen on one way through the system. */
export interface Bounds {
  readonly crashes: number;
  readonly losses: number;
  readonly duplicates: number;
  readonly times: number;
  readonly humans: number;
  readonly lies: number;
}

/** `progress`: happens by itself sooner or later. `fault`: may happen, within the bounds. `time`: a deadline passes. */
export type StepKind = 'progress' | 'fault' | 'time' | 'human';
export interface Step {
  readonly kind: StepKind;
  readonly label: string;
  readonly next: World;
  /** What must never happen happened in this very step. */
  readonly violation: string | null;
}

const METHODS: readonly Method[] = ['submit', 'status', 'result', 'cancel', 'lookup', 'deliver', 'update'];
/** What a drive keeps in its memory between two steps. */
export const HOLDING: ReadonlySet<Effect | null> = new Set<Effect>([
  'listen',
  'holdInput',
  'sendInput',
  'deliverInput',
]);
const NAMES = ['A', 'B'] as const;
const stamp = { at: NOW, random: 0 };
const lateOf = (executor: number): number => (executor === 1 ? Flag.ofSecond : 0);

export class System {
  readonly records: Records;

  constructor(
    readonly contract: Contract,
    readonly bounds: Bounds,
    machine?: OperationMachine,
    effects?: Effects,
  ) {
    this.records = new Records(machine, effects);
  }

  start(bounds: Bounds = this.bounds): World {
    const world: World = new Array(At.size).fill(0);
    world[At.record] = this.records.first(this.contract);
    world[At.known] = 1;
    return this.withBounds(world, bounds);
  }

  /** From here on so much may still happen. */
  withBounds(from: World, bounds: Bounds): World {
    const world = from.slice();
    world[At.crashes] = bounds.crashes;
    world[At.losses] = bounds.losses;
    world[At.duplicates] = bounds.duplicates;
    world[At.times] = bounds.times;
    world[At.humans] = bounds.humans;
    world[At.lies] = this.contract.lies ? bounds.lies : 0;
    return world;
  }

  record(world: World): KnownRecord {
    return this.records.get(world[At.record] as RecordId);
  }

  expand(world: World): Step[] {
    return new Expansion(this, world).all();
  }
}

/** All steps out of one state. */
class Expansion {
  readonly #steps: Step[] = [];
  readonly #record: KnownRecord;

  constructor(
    private readonly system: System,
    private readonly world: World,
  ) {
    this.#record = system.record(world);
  }

  all(): Step[] {
    for (const executor of [0, 1]) this.#executor(executor);
    this.#lateAnswer();
    this.#orphans();
    this.#server();
    if (!this.#record.done) {
      this.#human();
      this.#time();
    }
    return this.#steps;
  }

  #at(column: number): number {
    return this.world[column] as number;
  }

  #push(kind: StepKind, label: string, next: World, violation: string | null = null): void {
    this.#steps.push({ kind, label, next, violation });
  }

  /** A copy that has one fault less to give; `null` when none is left. */
  #spend(budget: number): World | null {
    if (this.#at(budget) === 0) return null;
    const next = this.world.slice();
    next[budget] = this.#at(budget) - 1;
    return next;
  }

  // --- executors -------------------------------------------------------------------------------------------------

  #epochOf(executor: number): number {
    return executor === 1 && this.#at(At.epochRaised) === 1 ? 2 : 1;
  }

  #executor(executor: number): void {
    const stage = this.#at(driveAt(executor, Drive.stage));
    const name = NAMES[executor] as string;
    if (stage === Stage.none) {
      if (this.#at(At.lease) === 0 && this.#record.effect !== null) this.#claim(executor);
      return;
    }
    const crashed = this.#spend(At.crashes);
    if (crashed) {
      this.#kill(crashed, executor);
      this.#push('fault', `${name} is killed`, crashed);
    }
    if (this.#at(At.lease) === executor + 1) {
      const stopped = this.#spend(At.crashes);
      if (stopped) {
        stopped[At.lease] = 0;
        stopped[driveAt(executor, Drive.flags)] = this.#at(driveAt(executor, Drive.flags)) | Flag.zombie;
        this.#push('fault', `${name} is stopped, and its lease ends`, stopped);
      }
    }
    if (stage === Stage.idle) this.#goOn(executor);
    else {
      this.#abandon(executor);
      if (stage === Stage.asking) this.#request(executor);
      else this.#hear(executor);
    }
    this.#channel(executor);
  }

  #claim(executor: number): void {
    const { context } = this.#record.snapshot;
    const epoch = this.#epochOf(executor);
    if (context.executionEpoch > epoch || this.#waitsForHuman()) return;
    const claimed = this.world.slice();
    claimed[At.lease] = executor + 1;
    claimed[driveAt(executor, Drive.stage)] = Stage.idle;
    if (context.executionEpoch < epoch) {
      // One step of its own: others may come between it and the effect.
      this.#commit(claimed, executor, [{ ...stamp, type: 'epoch.adopt', executionEpoch: epoch }]);
      this.#push('progress', `${NAMES[executor]} adopts epoch ${epoch}`, claimed);
      return;
    }
    this.#perform(claimed, executor);
  }

  /** Nobody holds a channel: the record is due when the deadline of its question is over. */
  #waitsForHuman(): boolean {
    const { effect, snapshot } = this.#record;
    return effect === 'holdInput' && !this.#onChannel() && snapshot.context.input?.deadline !== PAST;
  }

  #onChannel(): boolean {
    return this.system.contract.input === 'channel';
  }

  #goOn(executor: number): void {
    const flags = this.#at(driveAt(executor, Drive.flags));
    const mayWriteLate = this.#record.effect === 'submit' && (flags & Flag.sender) !== 0;
    if ((flags & Flag.zombie) !== 0 && !mayWriteLate) {
      const next = this.world.slice();
      this.#end(next, executor);
      this.#push('progress', `${NAMES[executor]} lets go`, next);
      return;
    }
    if (this.#record.effect !== null) this.#perform(this.world.slice(), executor);
  }

  #situation(world: World, executor: number, more: Partial<Situation> = {}): Situation {
    const flags = world[driveAt(executor, Drive.flags)] as number;
    const channel = world[driveAt(executor, Drive.channel)] as number;
    const news: News =
      channel === Channel.question
        ? 'question'
        : channel === Channel.broken
          ? 'broken'
          : channel === Channel.result
            ? 'result'
            : 'none';
    return {
      executionEpoch: this.#epochOf(executor),
      leaseIsHeld: (flags & Flag.zombie) === 0,
      isSender: (flags & Flag.sender) !== 0,
      channelIsOpen: channel === Channel.open,
      news,
      creationAllowed: true,
      sessionChanged: world[At.sessionChanged] === 1,
      reachable: true,
      ...more,
    };
  }

  #payload(world: World) {
    return world[At.task] === Task.failed ? FAILURE : RESULTS.made;
  }

  /** Begins what the record owes; what ends without an answer is committed at once. */
  #perform(world: World, executor: number): void {
    this.#begin(world.slice(), executor, {}, 'progress');
    if (world[At.losses] === 0) return;
    const away = world.slice();
    away[At.losses] = (world[At.losses] as number) - 1;
    this.#begin(away, executor, { reachable: false }, 'fault');
    const { effect } = this.#record;
    if (effect === 'beginSubmit' || effect === 'requeue') {
      const paused = world.slice();
      paused[At.losses] = (world[At.losses] as number) - 1;
      this.#begin(paused, executor, { creationAllowed: false }, 'fault');
    }
  }

  #begin(world: World, executor: number, more: Partial<Situation>, kind: StepKind): void {
    const effect = this.#record.effect as Effect;
    this.#keepChannelOnlyFor(world, executor, effect);
    const situation = this.#situation(world, executor, more);
    const performance = this.system.records.perform(this.#record.id, effect, situation, null, this.#payload(world));
    const name = NAMES[executor] as string;
    const told = `${name} owes ${effect}`;
    this.#afterLocal(world, executor, situation, performance);
    if (performance.events === null) {
      const method = performance.method as Method;
      world[driveAt(executor, Drive.stage)] = Stage.asking;
      world[driveAt(executor, Drive.record)] = this.#record.id;
      world[driveAt(executor, Drive.method)] = METHODS.indexOf(method);
      world[driveAt(executor, Drive.answer)] = SILENCE;
      world[driveAt(executor, Drive.flags)] =
        (world[driveAt(executor, Drive.flags)] as number) & ~(Flag.staleCursor | Flag.staleRound);
      this.#push(kind, `${told}: asks ${method}`, world, this.#unearned(method));
      return;
    }
    if (performance.events.length === 0) {
      // Nothing to do but to wait with the channel open.
      world[driveAt(executor, Drive.stage)] = Stage.idle;
      this.#push(kind, `${told}: waits`, world);
      return;
    }
    const violation = this.#commit(world, executor, performance.events, performance.becameSender);
    const words = performance.events.map(({ type }) => type).join(', ');
    this.#push(kind, `${told}${more.reachable === false ? ', nobody listens' : ''}: ${words}`, world, violation);
  }

  /** What the run did to the memory of the drive. */
  #afterLocal(world: World, executor: number, situation: Situation, performance: Performance): void {
    const flags = driveAt(executor, Drive.flags);
    if (performance.spentSender) world[flags] = (world[flags] as number) & ~Flag.sender;
    const channel = driveAt(executor, Drive.channel);
    const wasOpen = world[channel] === Channel.open || world[channel] === Channel.question;
    if (situation.news !== 'none' && performance.events?.length === 0) return;
    world[channel] = performance.channelIsOpen ? Channel.open : Channel.closed;
    if (wasOpen && !performance.channelIsOpen) this.#questionLost(world, executor);
  }

  /** The request is on its way: it arrives, arrives twice, is lost, or arrives when nobody waits for it any more. */
  #request(executor: number): void {
    const method = METHODS[this.#at(driveAt(executor, Drive.method))] as Method;
    if (method === 'deliver') {
      this.#write(executor);
      return;
    }
    const label = `${method} of ${NAMES[executor]}`;
    for (const { server, answer, isLie } of this.#processed(this.#requestOf(executor, method))) {
      const next = isLie ? this.#spend(At.lies) : this.world.slice();
      if (!next) continue;
      this.#serve(next, server);
      next[driveAt(executor, Drive.stage)] = Stage.answered;
      next[driveAt(executor, Drive.answer)] = answer;
      this.#push(
        isLie ? 'fault' : 'progress',
        `${label} arrives: ${answerName(answer)}${isLie ? ' (a lie)' : ''}`,
        next,
      );
    }
    const lost = this.#spend(At.losses);
    if (lost) {
      lost[driveAt(executor, Drive.stage)] = Stage.answered;
      lost[driveAt(executor, Drive.answer)] = SILENCE;
      this.#push('fault', `${label} is lost`, lost);
      const late = lost.slice();
      if (this.#strand(late, executor)) this.#push('fault', `${label} is late`, late);
    }
    const twice = this.#spend(At.duplicates);
    const repeatable = method !== 'submit' || this.system.contract.deduplicates;
    if (twice && repeatable && this.#strand(twice, executor)) this.#push('fault', `${label} is sent twice`, twice);
  }

  /** The sender no longer waits (or never did): the request goes on without it. */
  #strand(world: World, executor: number): boolean {
    const code = this.#orphanOf(executor);
    if (code === Orphan.none) return false;
    if (world[At.orphan] === 0) world[At.orphan] = code;
    else if (world[At.orphan2] === 0) {
      const [low, high] = [world[At.orphan] as number, code].sort((a, b) => a - b);
      world[At.orphan] = low as number;
      world[At.orphan2] = high as number;
    } else return false;
    return true;
  }

  #orphanOf(executor: number): number {
    const method = METHODS[this.#at(driveAt(executor, Drive.method))] as Method;
    const request = this.#requestOf(executor, method);
    switch (method) {
      case 'submit':
        return (request.answers ? Orphan.answered : Orphan.submit) + request.attempt;
      case 'lookup':
        return Orphan.lookup + request.attempt;
      case 'update':
        return Orphan.update + request.question;
      case 'cancel':
        return Orphan.cancel;
      case 'deliver':
        return Orphan.answer;
      default:
        return Orphan.none;
    }
  }

  #requestOf(executor: number, method: Method): Request {
    const issued = this.system.records.get(this.#at(driveAt(executor, Drive.record))).snapshot.context;
    const attempt = method === 'lookup' ? issued.sentThroughAttempt : issued.attempt;
    return { method, attempt, answers: issued.input?.replyDigest != null, question: numberOf(issued) };
  }

  #hear(executor: number): void {
    const method = METHODS[this.#at(driveAt(executor, Drive.method))] as Method;
    const answer = this.#at(driveAt(executor, Drive.answer));
    const name = NAMES[executor] as string;
    const label = `${name} hears ${answer === SILENCE ? 'nothing' : answerName(answer)} to ${method}`;
    const heard = this.world.slice();
    const { violation, told } = this.#takeIn(heard, executor, answer, method);
    this.#push('progress', told.length > 1 ? `${label}: ${told.join(', ')}` : label, heard, violation);
    if (answer === SILENCE) return;
    const deaf = this.#spend(At.losses);
    if (deaf) {
      deaf[driveAt(executor, Drive.answer)] = SILENCE;
      if (method === 'submit' && this.#at(At.late) === Stage.none) {
        const late = deaf.slice();
        late[At.late] = Stage.answered;
        late[At.lateRecord] = this.#at(driveAt(executor, Drive.record));
        late[At.lateAnswer] = answer;
        const stale = this.#at(driveAt(executor, Drive.flags)) & (Flag.staleCursor | Flag.staleRound);
        late[At.lateFlags] = stale | lateOf(executor);
        this.#push('fault', `the answer to ${method} of ${name} is late`, late);
      }
      this.#push('fault', `the answer to ${method} of ${name} is lost`, deaf);
    }
    const twice = this.#spend(At.duplicates);
    if (twice) {
      const before = twice.slice();
      const { violation } = this.#takeIn(twice, executor, answer, method);
      // The same answer once more, whatever the drive does by then: kept in the place of the late ones.
      if (this.#at(At.late) === Stage.none && method === 'submit') {
        twice[At.late] = Stage.answered;
        twice[At.lateRecord] = before[driveAt(executor, Drive.record)] as number;
        twice[At.lateAnswer] = answer;
        twice[At.lateFlags] = Flag.staleCursor | lateOf(executor);
        this.#push('fault', `${label}, and will again`, twice, violation);
      }
    }
  }

  /** The answer becomes a fact. */
  #takeIn(
    world: World,
    executor: number,
    answer: number,
    method: Method,
  ): { readonly violation: string | null; readonly told: readonly string[] } {
    const issued = world[driveAt(executor, Drive.record)] as RecordId;
    const events = this.#factsOf(world, executor, issued, { code: answer, method });
    world[driveAt(executor, Drive.stage)] = Stage.idle;
    world[driveAt(executor, Drive.method)] = 0;
    world[driveAt(executor, Drive.answer)] = SILENCE;
    return { violation: this.#commit(world, executor, events), told: events.map(({ type }) => type) };
  }

  #factsOf(
    world: World,
    executor: number,
    issued: RecordId,
    answer: { readonly code: number; readonly method: Method } | Written,
  ): readonly OperationEvent[] {
    const effect = this.system.records.get(issued).effect as Effect;
    // As it was when the request went out: it was the sender's, and the channel was as open as it is.
    const situation = this.#situation(world, executor, {
      isSender: true,
      leaseIsHeld: true,
      news: 'none',
      channelIsOpen: effect === 'deliverInput',
    });
    const { events } = this.system.records.perform(issued, effect, situation, answer, this.#payload(world));
    if (events === null) throw new Error(`${effect} does not end with its answer`);
    return events;
  }

  /** The answer of the human on the wire: written or not, arrived or not, and the writer may not know. */
  #write(executor: number): void {
    const name = NAMES[executor] as string;
    const issued = this.#at(driveAt(executor, Drive.record));
    const isAsked = this.#at(At.question) === Question.first + executor;
    const outcomes: readonly (readonly [Written, boolean, string])[] = [
      [true, true, 'is written and arrives'],
      [true, false, 'is written and lost'],
      ['throws', true, 'arrives, but nobody knows'],
      ['throws', false, 'breaks off'],
      [false, false, 'is not written'],
    ];
    for (const [written, arrives, label] of outcomes) {
      const good = written === true && arrives;
      const next = good ? this.world.slice() : this.#spend(At.losses);
      if (!next) continue;
      const events = this.#factsOf(next, executor, issued, written);
      next[driveAt(executor, Drive.stage)] = Stage.idle;
      next[driveAt(executor, Drive.method)] = 0;
      // Also when it was asked again meanwhile: it is the same question.
      if (arrives && this.#at(At.question) !== Question.none) this.#answered(next);
      // The server goes on waiting for what will not come.
      if (!arrives && isAsked) next[At.question] = Question.lost;
      if (written !== true) {
        next[driveAt(executor, Drive.channel)] = Channel.closed;
        if (isAsked && !arrives && this.system.contract.asksAgain) next[At.question] = Question.waiting;
      }
      const violation = this.#commit(next, executor, events);
      this.#push(good ? 'progress' : 'fault', `the answer of ${name} ${label}`, next, violation);
    }
  }

  #answered(world: World): void {
    world[At.answers] = (world[At.answers] as number) + 1;
    world[At.question] = Question.none;
    if (world[At.task] === Task.input) world[At.task] = Task.working;
  }

  /** A command made another effect due: the waiting for the old answer ends (never for a submission's). */
  #abandon(executor: number): void {
    const issued = this.system.records.get(this.#at(driveAt(executor, Drive.record)));
    if (issued.effect === this.#record.effect || issued.effect === 'submit' || issued.effect === null) return;
    const next = this.world.slice();
    if (this.#at(driveAt(executor, Drive.stage)) === Stage.asking) this.#strand(next, executor);
    next[driveAt(executor, Drive.stage)] = Stage.idle;
    next[driveAt(executor, Drive.method)] = 0;
    next[driveAt(executor, Drive.answer)] = SILENCE;
    this.#settle(next, executor);
    this.#push('progress', `${NAMES[executor]} stops waiting`, next);
  }

  /** The channel on which a question comes: by the server's word, by the end of the task, or broken. */
  #channel(executor: number): void {
    if (this.#at(driveAt(executor, Drive.channel)) !== Channel.open) return;
    const name = NAMES[executor] as string;
    const news = (channel: number, question?: number): World => {
      const next = this.world.slice();
      next[driveAt(executor, Drive.channel)] = channel;
      if (question !== undefined) next[At.question] = question;
      return next;
    };
    if (this.#at(At.question) === Question.waiting)
      this.#push('progress', `the question comes to ${name}`, news(Channel.question, Question.first + executor));
    const task = this.#at(At.task);
    if (task >= Task.completed && this.#at(At.known) === 1)
      this.#push(
        'progress',
        `the channel of ${name} ends with the task`,
        news(task === Task.cancelled ? Channel.broken : Channel.result),
      );
    const broken = this.#spend(At.losses);
    if (broken) {
      broken[driveAt(executor, Drive.channel)] = Channel.broken;
      this.#questionLost(broken, executor);
      this.#push('fault', `the channel of ${name} breaks`, broken);
    }
  }

  #questionLost(world: World, executor: number): void {
    if (world[At.question] !== Question.first + executor) return;
    world[At.question] = this.system.contract.asksAgain ? Question.waiting : Question.lost;
  }

  #end(world: World, executor: number): void {
    const channel = world[driveAt(executor, Drive.channel)] as number;
    if (channel !== Channel.closed) this.#questionLost(world, executor);
    for (let column = 0; column < Drive.size; column++) world[driveAt(executor, column)] = 0;
    if (world[At.lease] === executor + 1) world[At.lease] = 0;
  }

  #kill(world: World, executor: number): void {
    if (world[driveAt(executor, Drive.stage)] === Stage.asking) this.#strand(world, executor);
    if (((world[At.lateFlags] as number) & Flag.ofSecond) === lateOf(executor)) this.#forgetLate(world);
    this.#end(world, executor);
  }

  #forgetLate(world: World): void {
    for (const column of [At.late, At.lateRecord, At.lateAnswer, At.lateFlags]) world[column] = 0;
  }

  #keepChannelOnlyFor(world: World, executor: number, effect: Effect | null): void {
    const channel = driveAt(executor, Drive.channel);
    if (HOLDING.has(effect) || world[channel] === Channel.closed) return;
    world[channel] = Channel.closed;
    this.#questionLost(world, executor);
  }

  /** After a commit: a drive stays where its memory is needed, and lets go of the operation elsewhere. */
  #settle(world: World, executor: number): void {
    const { effect } = this.system.record(world);
    const flags = world[driveAt(executor, Drive.flags)] as number;
    this.#keepChannelOnlyFor(world, executor, effect);
    const isNeeded =
      (effect === 'submit' && (flags & Flag.sender) !== 0) ||
      ((flags & Flag.zombie) === 0 && HOLDING.has(effect) && this.#onChannel());
    if (isNeeded) world[driveAt(executor, Drive.stage)] = Stage.idle;
    else this.#end(world, executor);
  }

  // --- the record ------------------------------------------------------------------------------------------------

  /** Has events committed for an executor, and looks at what that did. */
  #commit(world: World, executor: number, events: readonly OperationEvent[], becameSender = false): string | null {
    const flags = world[driveAt(executor, Drive.flags)] as number;
    let violation: string | null = null;
    let taken = false;
    for (const event of events) {
      const outcome = this.#apply(world, event, flags);
      taken ||= outcome.taken;
      violation ??= outcome.violation;
    }
    const own = driveAt(executor, Drive.flags);
    if (becameSender && taken) {
      world[own] = (world[own] as number) | Flag.sender;
      const other = driveAt(1 - executor, Drive.flags);
      world[other] = (world[other] as number) & ~Flag.sender;
    }
    world[own] = (world[own] as number) & ~(Flag.staleCursor | Flag.staleRound);
    this.#settle(world, executor);
    return violation;
  }

  #apply(world: World, event: OperationEvent, flags: number): { taken: boolean; violation: string | null } {
    const before = this.system.record(world);
    const step = this.system.records.apply(
      before.id,
      event,
      (flags & Flag.staleCursor) !== 0,
      (flags & Flag.staleRound) !== 0,
    );
    if (!step.taken) return { taken: false, violation: thrownAway(before, event) };
    world[At.record] = step.to;
    const stale = (step.cursorMoved ? Flag.staleCursor : 0) | (step.roundMoved ? Flag.staleRound : 0);
    for (const column of [driveAt(0, Drive.flags), driveAt(1, Drive.flags), At.lateFlags]) {
      const owner = column === At.lateFlags ? At.late : column - Drive.flags + Drive.stage;
      if ((world[owner] as number) >= Stage.asking) world[column] = (world[column] as number) | stale;
    }
    const after = this.system.record(world);
    if (after.receipt !== null && !before.done) world[At.receipts] = (world[At.receipts] as number) + 1;
    if ((flags & Flag.staleCursor) !== 0 && isPassing(event) && after.parked !== 'contradiction')
      return { taken: true, violation: 'F2: a passing status is applied after a later one was' };
    const reopened =
      event.type === 'input.requested' &&
      after.path === 'INPUT_REQUIRED.awaiting' &&
      world[At.question] === Question.none &&
      !after.snapshot.context.input?.possiblyRepeat;
    return {
      taken: true,
      violation: reopened ? 'an answered question is open again, and nobody is told that it may be a repetition' : null,
    };
  }

  /** No effect without its commit: what leaves must be covered by the record. */
  #unearned(method: Method): string | null {
    const { context } = this.#record.snapshot;
    if (method === 'submit' && context.sentThroughAttempt < context.attempt)
      return 'the call is sent before the record says so';
    if (method === 'cancel' && context.cancel === null) return 'a cancel is sent that nobody recorded';
    if (method === 'lookup' && context.capabilities.lookup === 'repeat') {
      if (context.cancel !== null) return 'a call that nobody wants any more is repeated';
      if (context.keyValidUntil === PAST) return 'a call is repeated when its key may be forgotten';
      if (context.taskId !== null) return 'a call is repeated although its task is known';
    }
    if ((method === 'deliver' || method === 'update') && context.input?.delivery !== 'attempted')
      return 'an answer is written before the record says so';
    return null;
  }

  // --- the network and the server --------------------------------------------------------------------------------

  #serverState(): ServerState {
    return {
      task: this.#at(At.task),
      second: this.#at(At.second),
      known: this.#at(At.known),
      closedThrough: this.#at(At.closedThrough),
      cancelAsked: this.#at(At.cancelAsked),
      reborn: this.#at(At.reborn),
      asked: this.#at(At.asked),
      open: this.#at(At.question) !== Question.none,
      answers: this.#at(At.answers),
    };
  }

  #serve(world: World, server: ServerState): void {
    world[At.task] = server.task;
    world[At.second] = server.second;
    world[At.known] = server.known;
    world[At.closedThrough] = server.closedThrough;
    world[At.cancelAsked] = server.cancelAsked;
    world[At.reborn] = server.reborn;
    if (!server.open) world[At.question] = Question.none;
    world[At.answers] = server.answers;
  }

  #processed(request: Request) {
    const keyIsOver = this.#record.snapshot.context.keyValidUntil === PAST;
    return processed(this.system.contract, this.#serverState(), request, keyIsOver);
  }

  #lateAnswer(): void {
    if (this.#at(At.late) === Stage.none) return;
    const issued = this.#at(At.lateRecord);
    const next = this.world.slice();
    const flags = this.#at(At.lateFlags);
    const executor = (flags & Flag.ofSecond) === 0 ? 0 : 1;
    const events = this.#factsOf(next, executor, issued, { code: this.#at(At.lateAnswer), method: 'submit' });
    let violation: string | null = null;
    for (const event of events) violation ??= this.#apply(next, event, flags).violation;
    this.#forgetLate(next);
    this.#push('progress', `the late answer ${answerName(this.#at(At.lateAnswer))} is taken in`, next, violation);
    const lost = this.#spend(At.crashes);
    if (!lost) return;
    this.#forgetLate(lost);
    this.#push('fault', 'the late answer is lost with its process', lost);
  }

  /** Requests that nobody waits for still arrive, at any time, or never. */
  #orphans(): void {
    for (const column of [At.orphan, At.orphan2]) {
      const code = this.#at(column);
      if (code === Orphan.none) continue;
      const without = this.world.slice();
      without[column] = 0;
      if (column === At.orphan) {
        without[At.orphan] = this.#at(At.orphan2);
        without[At.orphan2] = 0;
      }
      this.#push('progress', 'a request without a sender is lost', without);
      if (code === Orphan.answer) {
        const next = without.slice();
        if (this.#at(At.question) !== Question.none) this.#answered(next);
        this.#push('progress', 'an answer without a sender arrives', next);
        continue;
      }
      const request = requestOf(code);
      for (const { server, answer, isLie } of this.#processed(request)) {
        if (isLie) continue;
        const next = without.slice();
        this.#serve(next, server);
        this.#push('progress', `${request.method} without a sender arrives: ${answerName(answer)}`, next);
      }
    }
  }

  #server(): void {
    const { contract } = this.system;
    const task = this.#at(At.task);
    const change = (label: string, columns: Readonly<Record<number, number>>, kind: StepKind = 'progress') => {
      const next = this.world.slice();
      for (const [column, value] of Object.entries(columns)) next[Number(column)] = value;
      this.#push(kind, label, next);
    };
    if (task === Task.working) {
      change('the task completes', { [At.task]: Task.completed });
      change('the task fails', { [At.task]: Task.failed });
      if (this.#at(At.asked) < contract.questions)
        change('the task asks', {
          [At.task]: Task.input,
          [At.asked]: this.#at(At.asked) + 1,
          [At.question]: Question.waiting,
          [At.answers]: 0,
        });
    }
    if (this.#at(At.cancelAsked) === 1 && (task === Task.working || task === Task.input))
      change('the task gives in to the cancel', { [At.task]: Task.cancelled, [At.question]: Question.none });
    if (contract.forgets !== 'never' && task >= Task.completed && this.#at(At.known) === 1) {
      const forgotten = this.#spend(At.times);
      if (forgotten) {
        forgotten[At.known] = 0;
        this.#push('time', 'the server forgets the task', forgotten);
      }
    }
    if (this.#at(At.sessionChanged) === 0 && contract.forgets !== 'never') {
      const changed = this.#spend(At.losses);
      if (changed) {
        changed[At.sessionChanged] = 1;
        this.#push('fault', 'the session is another', changed);
      }
    }
    if (contract.raisesEpoch && this.#at(At.epochRaised) === 0) {
      const raised = this.world.slice();
      // The old process of this executor ends, and the new one runs under the new epoch.
      this.#kill(raised, 1);
      raised[At.epochRaised] = 1;
      this.#push('human', 'the execution epoch is raised', raised);
    }
    if (contract.lies && this.#at(At.reborn) === 0 && task >= Task.working) {
      const reborn = this.#spend(At.lies);
      if (reborn) {
        reborn[At.reborn] = 1;
        this.#push('fault', 'the id names another task', reborn);
      }
    }
  }

  // --- human and time --------------------------------------------------------------------------------------------

  #human(): void {
    const { path, snapshot } = this.#record;
    const { context } = snapshot;
    if (this.#record.effect === 'holdInput' && context.input !== null) {
      const reply = { ...stamp, type: 'input.reply', round: ROUND, replyDigest: REPLY } as const;
      this.#command({ ...reply, schemaDigest: context.input.schemaDigest }, this.world.slice(), 'progress');
    }
    const spent = this.#spend(At.humans);
    if (!spent) return;
    this.#command({ ...stamp, type: 'cancel.request', by: 'human', reason: null }, spent.slice(), 'human');
    if (!path.startsWith('PARKED')) return;
    for (const event of this.#verdicts()) this.#command(event, spent.slice(), 'human');
  }

  /** What a human who knows the truth may say of a parked operation. */
  #verdicts(): OperationEvent[] {
    const by = { by: 'human', note: 'a note' };
    const task = this.#at(At.task);
    const verdicts: OperationEvent[] = [{ ...stamp, type: 'reconcile.giveUp', ...by }];
    if (task !== Task.none && !this.system.contract.atOnce)
      verdicts.push({ ...stamp, type: 'reconcile.attach', taskId: 't1', foreign: false, by: by.by });
    if (task === Task.cancelled)
      verdicts.push({ ...stamp, type: 'reconcile.accept', status: 'cancelled', result: null, ...by });
    if (task === Task.none && !callIsUnderWay(this.system, this.world))
      verdicts.push({ ...stamp, type: 'reconcile.neverCreated', ...by });
    return verdicts;
  }

  #command(event: OperationEvent, world: World, kind: StepKind): void {
    const outcome = this.#apply(world, event, 0);
    if (outcome.taken) this.#push(kind, `human: ${event.type}`, world, outcome.violation);
  }

  #time(): void {
    for (const deadline of Object.keys(DEADLINES) as Deadline[]) {
      const passed = this.system.records.passed(this.#record.id, deadline);
      if (passed === null) continue;
      const next = this.#spend(At.times);
      if (!next) return;
      next[At.record] = passed;
      this.#push('time', `the ${deadline} deadline passes`, next);
    }
  }
}

/** A request whose sender is gone, as the server reads it. */
function requestOf(code: number): Request {
  const as = (method: Method, base: number) => ({ method, attempt: code - base, answers: false, question: 0 });
  if (code >= Orphan.update) return { ...as('update', Orphan.update), question: code - Orphan.update };
  if (code >= Orphan.answered) return { ...as('submit', Orphan.answered), answers: true };
  if (code >= Orphan.lookup) return as('lookup', Orphan.lookup);
  if (code >= Orphan.submit) return as('submit', Orphan.submit);
  return as('cancel', Orphan.cancel);
}

/** A request that makes an operation where there is none. */
const creates = (contract: Contract, method: Method | undefined): boolean =>
  method === 'submit' || (method === 'lookup' && contract.lookup === 'repeat');

/** A call that can still create an operation: on the wire, or with an executor that may still write it. */
export function callIsUnderWay(system: System, world: World): boolean {
  const open = (attempt: number) => attempt > (world[At.closedThrough] as number);
  for (const executor of [0, 1]) {
    const column = (name: number) => world[driveAt(executor, name)] as number;
    const isAsking = column(Drive.stage) === Stage.asking && creates(system.contract, METHODS[column(Drive.method)]);
    if (isAsking && open(system.records.get(column(Drive.record)).snapshot.context.attempt)) return true;
    const mayWrite = (column(Drive.flags) & Flag.sender) !== 0 && (column(Drive.flags) & Flag.zombie) === 0;
    if (mayWrite && open(system.record(world).snapshot.context.attempt)) return true;
  }
  return [At.orphan, At.orphan2].some((column) => {
    const code = world[column] as number;
    if (code < Orphan.submit) return false;
    const { method, attempt } = requestOf(code);
    return creates(system.contract, method) && open(attempt);
  });
}

const isPassing = (event: OperationEvent) =>
  event.type === 'poll.status' && (event.task.status === 'working' || event.task.status === 'input_required');

/** A refused fact that nobody can get again, and that the record does not hold yet. */
function thrownAway(record: KnownRecord, event: OperationEvent): string | null {
  if (record.done) return null;
  const { context } = record.snapshot;
  switch (event.type) {
    case 'submit.acknowledged':
      return context.taskId === null && !event.task.foreign ? `${event.type} is thrown away in ${record.path}` : null;
    case 'submit.outcome':
    case 'result.fetched':
      return context.result === null && context.terminal?.status !== 'cancelled'
        ? `${event.type} is thrown away in ${record.path}`
        : null;
    case 'cancel.confirmed':
      return context.terminal === null ? `${event.type} is thrown away in ${record.path}` : null;
    default:
      return null;
  }
}
