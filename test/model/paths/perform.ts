/**
 * Performs a walk: each step of the closed model becomes an act on real parts. What the executor does of it, the chart
 * decides; a record that does not go the way of the model ends the walk.
 */
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import type { Deadline } from '../system/abstraction.ts';
import type { Method } from '../system/performance.ts';
import type { System } from '../system/system.ts';
import { At, Channel, Drive, driveAt, Question, Stage, type World } from '../system/world.ts';
import { Company, type Role } from './company.ts';
import { compare } from './comparison.ts';
import { deadlineIn } from './deadlines.ts';
import { Divergence, wait } from './divergence.ts';
import { type GatedExecutor, type Request, silence } from './gates.ts';
import { command } from './human.ts';
import { settle } from './lies.ts';
import type { WalkStep } from './planning.ts';
import { Steering } from './steering.ts';
import type { Applied } from './steps.ts';
import { Story } from './story.ts';
import { type Theatre, taskOf } from './theatre.ts';
import type { TransitionName } from './transitions.ts';

interface Asking {
  readonly request: Request;
  readonly by: GatedExecutor;
  outcome: unknown;
  /** It left before its channel broke, and is on its way. */
  onItsWay?: Promise<unknown>;
}

const HOLDS_QUESTION: ReadonlySet<string> = new Set(['holdInput', 'sendInput', 'deliverInput']);
/** How far two looks at the ledger clock may lie apart on a busy machine, ms. */
const MARGIN_MS = 1_000;
const WIRE: Readonly<Record<Method, string>> = {
  submit: 'tools/call',
  status: 'tasks/get',
  result: 'tasks/result',
  cancel: 'tasks/cancel',
  lookup: 'dev.toolop/lookup',
  deliver: 'elicitation/create',
  update: 'tasks/update',
};

export class Performer {
  readonly story: Story;
  readonly #company: Company;
  readonly #steering: Steering;
  readonly #asking: (Asking | null)[] = [null, null];
  #orphans: Asking[] = [];
  #late: Asking | null = null;

  private constructor(
    private readonly theatre: Theatre,
    private readonly system: System,
    private readonly desk: GatedExecutor,
    private readonly operationId: string,
    snapshot: OperationSnapshot,
  ) {
    this.story = new Story(snapshot);
    this.#company = new Company(theatre, operationId, this.story);
    const waits = (executor: GatedExecutor) => this.#asking.some((asking) => asking?.by === executor);
    this.#steering = new Steering(theatre, operationId, this.story, this.#company, waits);
  }

  static async begin(theatre: Theatre, system: System): Promise<Performer> {
    const desk = theatre.executor(1, () => true);
    const answer = await desk.executor.submit(theatre.call);
    if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
    const opened = await desk.executor.load(answer.operationId);
    if (!opened) throw new Error('no record');
    return new Performer(theatre, system, desk, answer.operationId, opened.snapshot);
  }

  /** Performs all steps; throws a `Divergence` at the first one that goes another way. */
  async all(steps: readonly WalkStep[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      const before = this.story.taken.length;
      try {
        await this.#perform(step, steps.slice(index + 1));
        if (this.#isAskedAgain(step)) await this.theatre.server.control({ op: 'askAgain', taskId: 'last' });
        this.#company.leave(step.next);
        await this.#compare(step, this.story.taken.slice(before));
      } catch (error) {
        if (!(error instanceof Divergence)) throw error;
        throw new Divergence(`step ${index}, "${step.label}": ${error.message}`);
      }
    }
  }

  /** Ends whoever still works, so that the record can be judged. */
  async end(): Promise<void> {
    for (const asking of this.#asking) asking?.request.settle(silence(asking.request.method));
    await this.#company.end();
    await this.desk.end();
  }

  // --- what the model says -----------------------------------------------------------------------------------------

  async #perform(step: WalkStep, ahead: readonly WalkStep[]): Promise<void> {
    const { label, applied, from } = step;
    let m: RegExpExecArray | null;
    const is = (pattern: RegExp) => {
      m = pattern.exec(label);
      return m !== null;
    };
    const word = (n: number) => m?.[n] ?? '';
    const role = (n = 1) => (word(n) === 'B' ? 1 : 0) as Role;

    if (is(/^([AB]) owes (\w+)(, nobody listens)?: (.*)$/))
      return this.#owes(role(), word(2), word(3) !== '', word(4), step);
    if (is(/^([AB]) adopts epoch/)) {
      const executor = await this.#take(role(), false);
      return this.#steering.written(executor, applied[0] as Applied, false);
    }
    if (is(/^(\w+) of ([AB]) arrives: (.*?)( \(a lie\))?$/))
      return this.#arrives(role(2), word(3), word(4) !== '', ahead);
    if (is(/^(\w+) of ([AB]) is lost$/)) {
      const asking = this.#askingOf(role(2));
      asking.outcome = await this.#onWire('request', asking.request);
      return;
    }
    if (is(/^(\w+) of ([AB]) is late$/)) {
      const asking = this.#askingOf(role(2));
      this.#orphans.push({ ...asking });
      asking.outcome = silence(asking.request.method);
      return;
    }
    if (is(/^([AB]) hears /)) {
      const asking = this.#askingOf(role());
      this.#asking[role()] = null;
      asking.request.settle(asking.outcome);
      for (const one of applied) await this.#steering.written(asking.by, one, false);
      return;
    }
    if (is(/^the answer to \w+ of ([AB]) is (late|lost)$/)) {
      const asking = this.#askingOf(role());
      if (word(2) === 'late') this.#late = { ...asking };
      asking.outcome = word(2) === 'late' ? silence(asking.request.method) : asking.outcome;
      return;
    }
    if (is(/^the late answer .* is taken in$/)) {
      const late = this.#late;
      if (!late || late.by.isDead) throw new Divergence('whoever waited for the late answer is gone');
      this.#late = null;
      late.request.late(late.outcome);
      return this.#steering.written(late.by, applied[0] as Applied, false);
    }
    if (is(/^the late answer is lost/)) {
      this.#late = null;
      return;
    }
    if (is(/^([AB]) is killed$/)) return this.#kill(role(), from);
    if (is(/^([AB]) is stopped/)) {
      this.#company.stop(role());
      return;
    }
    if (is(/^([AB]) lets go$/)) return this.#company.dismiss(role());
    if (is(/^([AB]) stops waiting$/)) return this.#stopsWaiting(role(), step);
    if (is(/^the question comes to ([AB])$/)) return this.#hears(this.#company.inRole(role()), 'question');
    if (is(/^the channel of ([AB]) ends with the task$/)) return this.#hears(this.#company.inRole(role()), 'end');
    if (is(/^the channel of ([AB]) breaks$/)) {
      await this.#leaves(role(), ahead);
      this.theatre.wire.breakOff('tasks/result');
      return this.#hears(this.#company.inRole(role()), 'end', true);
    }
    if (is(/^the answer of ([AB]) (.*)$/)) return this.#delivers(role(), word(2), applied[0] as Applied);
    if (label === 'a request without a sender is lost') {
      this.#orphans.shift();
      return;
    }
    if (is(/^(?:an? )?(\w+) without a sender arrives/)) {
      const wanted = word(1) === 'answer' ? 'deliver' : word(1);
      const orphan = this.#orphans.find(({ request }) => request.method === wanted);
      if (!orphan) throw new Divergence('no such request is on its way');
      this.#orphans = this.#orphans.filter((other) => other !== orphan);
      await orphan.request.send().catch(() => undefined);
      return;
    }
    if (label.startsWith('human: ')) return this.#human(applied[0] as Applied);
    if (is(/^the (\w+) deadline passes$/)) return await this.#passes(word(1) as Deadline);
    await this.#elsewhere(label, from);
  }

  /** Server, session and epoch. */
  async #elsewhere(label: string, from: World): Promise<void> {
    const { server } = this.theatre;
    const taskId = 'last';
    switch (label) {
      case 'the task completes':
        return server.control({ op: 'complete', taskId });
      case 'the task fails':
        return server.control({ op: 'fail', taskId });
      case 'the task asks':
        return server.ask((from[At.asked] as number) + 1);
      case 'the task gives in to the cancel':
        return server.control({ op: 'status', taskId, status: 'cancelled' });
      case 'the server forgets the task':
        return server.control({ op: 'forget', taskId, receipt: this.system.contract.forgets === 'withReceipt' });
      case 'the id names another task': {
        const { status } = await taskOf(this.theatre);
        await server.control({ op: 'reuse', taskId, createdAt: '2020-01-01T00:00:00.000Z' });
        return server.control({ op: 'status', taskId, status });
      }
      case 'the session is another':
        return this.#company.changeSession();
      case 'the execution epoch is raised':
        this.#company.raiseEpoch();
        if (this.#company.filling(1)) await this.#kill(1, from);
        return;
    }
    throw new Divergence('nobody knows how to perform this');
  }

  /** A question whose channel ended before its answer came. */
  #isAskedAgain({ from, next }: WalkStep): boolean {
    const { asksAgain } = this.system.contract;
    return asksAgain && (from[At.question] as number) >= Question.first && next[At.question] === Question.waiting;
  }

  // --- executors -----------------------------------------------------------------------------------------------------

  async #owes(role: Role, effect: string, nobody: boolean, what: string, step: WalkStep): Promise<void> {
    const pauses = step.kind === 'fault' && !nobody && (effect === 'beginSubmit' || effect === 'requeue');
    this.#company.creationAllowed = !pauses;
    try {
      const executor = await this.#take(role, pauses);
      if (what === 'waits') return;
      if (nobody && HOLDS_QUESTION.has(effect) && step.from[driveAt(role, Drive.channel)] === Channel.open)
        await this.#cutOff(executor);
      const asks = /^asks (\w+)$/.exec(what)?.[1] as Method | undefined;
      if (asks === undefined) {
        for (const one of step.applied) await this.#steering.written(executor, one, nobody);
        return;
      }
      const request = await this.#steering.until(
        executor,
        () => executor.requests.find((one) => one.method === asks && !one.aborted()),
        nobody,
      );
      executor.requests = executor.requests.filter((other) => other !== request);
      this.#asking[role] = { request, by: executor, outcome: undefined };
    } finally {
      this.#company.creationAllowed = true;
    }
  }

  /** A server that is away took the channel with it; what was begun on it is begun anew. */
  async #cutOff(executor: GatedExecutor): Promise<void> {
    this.theatre.wire.breakOff('tasks/result');
    await this.#hears(executor, 'end', true);
    for (const writing of executor.writings.splice(0)) writing.drop();
  }

  #take(role: Role, anew: boolean): Promise<GatedExecutor> {
    return this.#company.take(role, anew, this.#late?.by);
  }

  #askingOf(role: Role): Asking {
    const asking = this.#asking[role];
    if (!asking) throw new Divergence('nothing was asked');
    return asking;
  }

  async #kill(role: Role, from: World): Promise<void> {
    const asking = this.#asking[role];
    this.#asking[role] = null;
    const executor = await this.#company.kill(role);
    const isOnItsWay = asking && from[driveAt(role, Drive.stage)] === Stage.asking;
    if (isOnItsWay) this.#orphans.push(asking);
    else await executor.executor.env.connections.close();
  }

  async #stopsWaiting(role: Role, { from, next }: WalkStep): Promise<void> {
    const asking = this.#askingOf(role);
    this.#asking[role] = null;
    await wait(async () => {
      asking.by.nudge(this.operationId);
      return asking.request.aborted();
    }, 'it goes on waiting');
    const count = (world: World) => [At.orphan, At.orphan2].filter((column) => world[column] !== 0).length;
    if (count(next) > count(from)) this.#orphans.push({ ...asking });
    asking.request.settle(silence(asking.request.method));
  }

  async #hears(executor: GatedExecutor, kind: 'question' | 'end', isLost = false): Promise<void> {
    await wait(async () => executor.news.some((one) => one.kind === kind), `no ${kind} on the channel`);
    const news = executor.news.find((one) => one.kind === kind);
    executor.news = executor.news.filter((one) => one !== news);
    if (isLost) news?.lose();
    else news?.tell();
  }

  /** An answer that arrives although its channel broke is on its way when that happens. */
  async #leaves(role: Role, ahead: readonly WalkStep[]): Promise<void> {
    const asking = this.#asking[role];
    if (asking?.request.method !== 'deliver') return;
    const fate = ahead.find(({ label }) => label.startsWith(`the answer of ${'AB'[role]} `))?.label;
    if (!fate?.includes(' arrives')) return;
    const { wire } = this.theatre;
    await wire.rules([{ method: WIRE.deliver, direction: 'response', action: { kind: 'reorder', behind: 'nothing' } }]);
    asking.onItsWay = asking.request.send();
    asking.onItsWay.catch(() => undefined);
    const isHeld = async () =>
      (await wire.log()).lines.some(({ fate, method }) => fate === 'held' && method === WIRE.deliver);
    await wait(isHeld, 'the answer does not leave');
  }

  async #delivers(role: Role, what: string, applied: Applied): Promise<void> {
    const { request, by, onItsWay } = this.#askingOf(role);
    this.#asking[role] = null;
    if (onItsWay) {
      await this.theatre.wire.rules([]);
      const outcome = await onItsWay;
      if (what === 'is written and arrives') request.settle(outcome);
      else request.fail(new Error('broke off'));
    } else if (what === 'is written and arrives') request.settle(await request.send());
    else if (what === 'is written and lost') request.settle(true);
    else if (what === 'is not written') request.settle(false);
    else {
      const sent = what === 'breaks off' ? this.#onWire('response', request) : request.send();
      await sent.catch(() => undefined);
      request.fail(new Error('broke off'));
    }
    return this.#steering.written(by, applied, false);
  }

  // --- the wire ------------------------------------------------------------------------------------------------------

  async #arrives(role: Role, answer: string, isLie: boolean, ahead: readonly WalkStep[]): Promise<void> {
    const asking = this.#askingOf(role);
    const { method } = asking.request;
    const name = 'AB'[role];
    const fate = ahead.find(({ label }) =>
      new RegExp(`^(${name} (hears|stops|is killed)|the answer to \\w+ of ${name} )`).test(label),
    )?.label;
    const undo = await settle(this.theatre, { method, answer, isLie, operationId: this.operationId });
    asking.outcome = fate?.endsWith(' is lost')
      ? await this.#onWire('response', asking.request)
      : await asking.request.send();
    await undo();
  }

  #wireName(method: Method): string {
    return method === 'lookup' && this.system.contract.lookup === 'repeat' ? WIRE.submit : WIRE[method];
  }

  /** Loses the request, or its answer, on the wire: the real adapter sees what that looks like. */
  async #onWire(direction: 'request' | 'response', { method, send }: Request): Promise<unknown> {
    const { wire } = this.theatre;
    await wire.rules([{ method: this.#wireName(method), direction, action: { kind: 'drop' }, times: 1_000 }]);
    try {
      return await send();
    } finally {
      await wire.rules([]);
    }
  }

  // --- human and time --------------------------------------------------------------------------------------------------

  async #human({ event, transition }: Applied): Promise<void> {
    const { desk, operationId } = this;
    const { taskId } = await taskOf(this.theatre);
    const said = command(desk.executor, operationId, this.story.snapshot.context, event, taskId);
    const writing = await this.#steering.until(desk, () => desk.writings[0], false);
    const name = await this.#steering.go(desk, writing);
    const answer = await said;
    if (answer.kind !== 'taken' || name !== transition)
      throw new Divergence(`${event.type}: ${answer.kind}, by ${name}`);
    for (const one of this.#company.alive) one.nudge(operationId);
  }

  async #passes(deadline: Deadline): Promise<void> {
    const at = deadlineIn(this.story.snapshot.context, deadline);
    const { clock } = this.theatre;
    if (at === null) throw new Divergence(`the record has no ${deadline} deadline`);
    clock.jump(Math.max(0, at - clock.ledgerNow() + MARGIN_MS));
    if (deadline === 'key') await this.theatre.server.control({ op: 'forgetDone' });
  }

  // --- the comparison ------------------------------------------------------------------------------------------------

  async #compare({ applied, next }: WalkStep, taken: readonly TransitionName[]): Promise<void> {
    const wanted = applied.flatMap(({ transition }) => (transition === null ? [] : [transition]));
    if (taken.join() !== wanted.join()) throw new Divergence(`took ${taken.join()} in place of ${wanted.join()}`);
    const opened = await this.desk.executor.load(this.operationId);
    await compare(this.theatre, this.system, this.operationId, opened?.snapshot, next);
  }
}
