/** Lets executors go on, gate by gate, until they do to the record what the model says. */
import { setTimeout as delay } from 'node:timers/promises';
import { claimsOf } from '../../../machines/actor/facts.ts';
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import type { Company, Role } from './company.ts';
import { Divergence, PATIENCE_MS } from './divergence.ts';
import { type GatedExecutor, type Request, silence, type Writing } from './gates.ts';
import type { Applied } from './steps.ts';
import type { Story } from './story.ts';
import type { Theatre } from './theatre.ts';
import type { TransitionName } from './transitions.ts';

/** For what the record would refuse. */
const REFUSED_MS = 500;

export class Steering {
  constructor(
    private readonly theatre: Theatre,
    private readonly operationId: string,
    private readonly story: Story,
    private readonly company: Company,
    /** Whether an executor waits for an answer. */
    private readonly waits: (executor: GatedExecutor) => boolean,
  ) {}

  /** The executor brings the event of the model, and the chart meets it as it does there. */
  async written(executor: GatedExecutor, applied: Applied, nobody: boolean): Promise<void> {
    const { type } = applied.event;
    for (let tries = 0; tries < 3; tries++) {
      const writing = await this.until(
        executor,
        // It writes what comes next already: the refused one was not even tried.
        () =>
          executor.writings.find(({ event }) => event.type === type) ??
          (applied.transition === null && executor.writings.length > 0 ? null : undefined),
        nobody,
        applied.transition === null ? REFUSED_MS : PATIENCE_MS,
      ).catch((error: unknown) => {
        // What would be refused need not even be tried.
        if (applied.transition === null) return null;
        throw error;
      });
      if (writing === null) return;
      const name = await this.go(executor, writing);
      if (name === applied.transition) return;
      if (name !== null) throw new Divergence(`${name} in place of ${applied.transition}`);
    }
    throw new Divergence(`${type} is refused, and not ${applied.transition}`);
  }

  async go(executor: GatedExecutor, writing: Writing): Promise<TransitionName | null> {
    executor.writings = executor.writings.filter((other) => other !== writing);
    const before = this.story.snapshot.context;
    const outcome = await writing.go();
    const name = this.story.note(writing.event, outcome);
    if (name !== null && claimsMoved(before, this.story.snapshot.context)) this.#outdateAllBut(executor);
    return name;
  }

  /** Drives that wait for no answer know what others made of the record. */
  #outdateAllBut(executor: GatedExecutor): void {
    for (const other of this.company.alive) {
      if (other === executor || this.waits(other)) continue;
      other.outdate();
      other.nudge(this.operationId);
    }
  }

  /** Lets an executor go on until it shows what is looked for; what it began before it knew better ends on the way. */
  async until<T>(
    executor: GatedExecutor,
    look: () => T | undefined,
    nobody: boolean,
    patienceMs = PATIENCE_MS,
  ): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (let round = 0; performance.now() < deadline; round++) {
      executor.settleOutdated();
      const found = look();
      if (found !== undefined) return found;
      if (executor.waitsAtDoor) executor.door(!nobody);
      const [writing] = executor.writings;
      if (writing) {
        const name = await this.go(executor, writing);
        if (name !== null) throw new Divergence(`${name} came in between`);
      }
      const [request] = executor.requests;
      if (request) await this.#unblock(executor, request, nobody);
      await delay(round < 20 ? 0 : 5);
      if (round % 100 === 99) await this.#claimAgain(executor);
    }
    const { requests, writings } = executor;
    const shows = [...requests.map(({ method }) => method), ...writings.map(({ event }) => event.type)];
    throw new Divergence(`the executor does not come to it; it shows ${shows.join(', ') || 'nothing'}`);
  }

  /** What was due a moment later was let go in that very moment: it is claimed as anything that is due. */
  async #claimAgain(executor: GatedExecutor): Promise<void> {
    const isInRole = [0, 1].some((role) => this.company.filling(role as Role) === executor);
    if (!isInRole || executor.isStopped || executor.waitsAtDoor || executor.requests.length > 0) return;
    const record = await this.theatre.ledger.load(this.operationId);
    if (record === null || record.lease !== null) return;
    executor.claim();
    executor.executor.serve(this.theatre.call.endpoint);
  }

  async #unblock(executor: GatedExecutor, request: Request, nobody: boolean): Promise<void> {
    if (request.aborted()) request.settle(silence(request.method));
    else if (nobody) request.fail(await executor.unavailable());
    else if (request.method === 'deliver') request.settle(false);
    else if (request.method === 'submit' && executor.isStopped) request.settle(await request.send());
    else {
      executor.nudge(this.operationId);
      return;
    }
    executor.requests = executor.requests.filter((other) => other !== request);
  }
}

/** Whether what was issued under the one context is out of date under the other. */
function claimsMoved(before: OperationSnapshot['context'], after: OperationSnapshot['context']): boolean {
  const epoch = after.executionEpoch;
  return JSON.stringify(claimsOf(before, epoch)) !== JSON.stringify(claimsOf(after, epoch));
}
